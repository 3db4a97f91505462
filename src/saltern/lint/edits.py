"""Applies edits to files."""

from __future__ import annotations

from collections.abc import Iterable

from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.language.source import Mark
from saltern.lint.findings import Edit

_BOM = b"\xef\xbb\xbf"


def apply_edits(edits: Iterable[Edit]) -> int:
    """Write the edits to their files; return how many were made.

    If two overlap, the first is made; the next check finds the other.

    Raises ``OperationError`` for a file that cannot be written.
    """
    by_file: dict[str, list[Edit]] = {}
    for edit in edits:
        by_file.setdefault(edit.file, []).append(edit)
    return sum(_apply_to_file(file, some) for file, some in by_file.items())


def _apply_to_file(file: str, edits: list[Edit]) -> int:
    from saltern.system.files import read, write

    try:
        data = read(file) or b""
        text = data.removeprefix(_BOM).decode()
        pieces: list[str] = []
        at = made = 0
        for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
            if edit.start >= at and edit.end <= len(text):
                pieces += (text[at : edit.start], edit.text)
                at = edit.end
                made += 1
        new = "".join([*pieces, text[at:]]).encode()
        write(file, (_BOM if data.startswith(_BOM) else b"") + new)
        return made
    except (OSError, UnicodeDecodeError) as problem:
        why = getattr(problem, "strerror", None) or str(problem)
        what = f"this file cannot be fixed: {why}"
        raise OperationError(Diagnostic(code="check-unwritable", what=what, where=Mark(file))) from None
