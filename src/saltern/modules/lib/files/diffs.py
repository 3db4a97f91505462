"""The difference between two contents, for people."""

from __future__ import annotations

HIDDEN = "<show_changes=False>"
NEW_FILE = "New file"


def difference(old: bytes, new: bytes, *, show: bool = True) -> str:
    """A unified diff; or a note if one of them is not text, or if it must not be shown."""
    if not show:
        return HIDDEN
    kinds = [_is_text(content) for content in (old, new)]
    if not all(kinds):
        before, after = ("text" if kind else "binary" for kind in kinds)
        return f"{after} content instead of {before}" if before != after else "binary content differs"
    return unified_diff_of(_text(old), _text(new))


def _text(content: bytes) -> str:
    """The content as UTF-8, or else as Latin-1, which accepts all bytes."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("latin-1")


def unified_diff_of(old: str, new: str) -> str:
    from difflib import unified_diff

    return "".join(unified_diff(lines_of(old), lines_of(new)))


def lines_of(text: str) -> list[str]:
    """The lines with their ends. Only a newline ends a line: a form feed in the middle of one is content."""
    lines = text.split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def _is_text(content: bytes) -> bool:
    if b"\0" in content:
        return False
    try:
        content.decode()
    except UnicodeDecodeError:
        # Latin-1 and similar encodings are text, too: they have few control characters, unlike binary data.
        controls = sum(byte < 9 or 13 < byte < 32 for byte in content)
        return controls * 20 < len(content)
    return True
