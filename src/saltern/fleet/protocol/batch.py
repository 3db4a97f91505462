"""A job that runs on a few of its systems at a time: how many, and when it stops."""

from __future__ import annotations

from msgspec import Struct


class Batch(Struct, frozen=True, kw_only=True):
    """``size``: how many systems run at a time, a number or a percentage of them. ``wait``: seconds between
    the end on one system and the turn of the next. ``failures``: more of them than this hold the rest back
    for good; empty for no limit. ``patience``: seconds for which the last ones are waited for that are away.
    """

    size: str
    wait: float = 0
    failures: str = ""
    patience: float = 86_400.0
