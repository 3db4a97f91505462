"""A job that runs on a few of its systems at a time: how many, and when it stops."""

from __future__ import annotations

from msgspec import Struct


class Batch(Struct, frozen=True, kw_only=True):
    """``size``: how many systems run at a time, a number or a percentage of them. ``wait``: seconds between
    the end on one system and the start of the next. ``failures``: with more than this, the rest never begins;
    empty for no limit. ``patience``: seconds to wait for the last systems that are away.
    """

    size: str
    wait: float = 0
    failures: str = ""
    patience: float = 86_400.0
