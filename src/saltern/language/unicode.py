"""Checks whether a text can be encoded."""

from __future__ import annotations


def is_unicode(text: str) -> bool:
    """False if the text has lone surrogates, which ``surrogateescape`` makes of bytes that are not text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
