"""Text that can be written down."""

from __future__ import annotations


def is_unicode(text: str) -> bool:
    """False if the text has half characters, as ``surrogateescape`` makes of bytes that are no text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
