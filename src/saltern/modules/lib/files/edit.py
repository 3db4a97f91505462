"""Edit a file: read it, change the text with a function, and write it back if it differs."""

from __future__ import annotations

import os
from collections.abc import Callable

from msgspec import Struct

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words, result_of
from saltern.modules.api.refused import Refused
from saltern.modules.lib.files.diffs import difference
from saltern.modules.lib.files.facts import absolute, facts
from saltern.modules.lib.files.write import back_up, parent_notes
from saltern.system import files
from saltern.system.files import KEPT, Attributes, Seen

USUAL = Words("No changes needed to be made", "The file would change", "Changes were made")


class Edit(Struct, frozen=True, kw_only=True):
    """How a file is edited."""

    path: str
    backup: str = ""
    show_changes: bool = True
    encoding: str = "utf-8"
    create: bool = False  # a missing file counts as empty
    ignore_missing: bool = False  # a missing file is accepted and stays missing
    makedirs: bool = False
    attributes: Attributes = KEPT
    words: Words = USUAL


def backup_suffix(backup: object) -> str:
    """The suffix: ``True`` means ``.bak``, ``False`` and None no backup, any other text is the suffix."""
    if isinstance(backup, bool) or backup is None:
        return ".bak" if backup else ""
    text = str(backup)
    return "" if text.lower() == "false" else ".bak" if text.lower() == "true" else text


def edit(ctx: Context, how: Edit, change: Callable[[str], str]) -> Result:
    """Apply ``change`` to the text of the file. Bytes that are not text are preserved."""
    path = absolute(how.path)
    seen = files.see(path)
    if seen is None and how.ignore_missing:
        return result_of(ctx, {}, how.words.already, facts(ctx, path, None))
    if seen is None and not how.create:
        raise Refused(f"{path}: file not found")
    if seen is not None and seen.data is None:
        raise Refused(f"{path} is not a file, but a {seen.kind}")
    old = seen.data if seen is not None and seen.data is not None else b""
    new = _change_text(old, how, change)
    if new == old and seen is not None:
        return result_of(ctx, {}, how.words.already, facts(ctx, path, seen.stat, old))
    notes = parent_notes(ctx, path, how.makedirs) if seen is None else []
    files.settle(path)
    if not ctx.test:
        seen = _write(ctx, path, how, seen, new)
    changes: dict[str, object] = {"diff": difference(old, new, show=how.show_changes) or "New file"}
    known = facts(ctx, path, seen.stat if seen else None, seen.data if seen else None)
    return result_of(
        ctx, changes, Words(would="\n".join([how.words.would, *notes]), done=how.words.done), known
    )


def _change_text(old: bytes, how: Edit, change: Callable[[str], str]) -> bytes:
    errors = "surrogateescape" if how.encoding == "utf-8" else "strict"
    try:
        return change(old.decode(how.encoding, errors)).encode(how.encoding, errors)
    except LookupError:
        raise Refused(f"no encoding is called {how.encoding!r}") from None


def _write(ctx: Context, path: str, how: Edit, seen: Seen | None, new: bytes) -> Seen:
    if seen is None and how.makedirs:
        files.make_directories(os.path.dirname(path))
    if seen is not None:
        back_up(ctx, path, seen, how.backup)
    files.write(path, new, how.attributes if seen is None else KEPT)
    return Seen(os.stat(path), new)


def end_line(text: str, end: str = "\n") -> str:
    """The text with a final newline; empty text stays empty."""
    return text if not text or text.endswith("\n") else f"{text}{end}"
