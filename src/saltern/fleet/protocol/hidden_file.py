"""``HiddenFile``: a file that systems do not get, because the controller renders it for them. Pure."""

from __future__ import annotations

from msgspec import Struct


class HiddenFile(Struct, frozen=True):
    """A content by its digest, and the words of its ``#!delayed_sls`` line."""

    digest: str
    words: str = ""
