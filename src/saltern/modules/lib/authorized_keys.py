"""The lines of ``authorized_keys``."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from saltern.modules.lib import ssh_keys as ssh
from saltern.modules.lib.ssh_keys import Key


def _same(old: Key, new: Key) -> bool:
    """True if two lines have the same key and options; a comment counts only if it is wanted."""
    return (old.kind, old.options) == (new.kind, new.options) and new.comment in ("", old.comment)


def merge_keys(lines: Sequence[str], wanted: Sequence[Key]) -> tuple[list[str], dict[str, object]]:
    """The lines with these keys added or updated, and the change of each key."""
    result = list(lines)
    changes: dict[str, object] = {}
    for key in wanted:
        places = [
            (number, old)
            for number, line in enumerate(result)
            if (old := ssh.parse(line)) and old.blob == key.blob
        ]
        if not places:
            result.append(key.line())
            changes[key.blob] = "New"
        elif not all(_same(old, key) for _, old in places):
            for number, old in places:
                result[number] = replace(key, comment=key.comment or old.comment).line()
            changes[key.blob] = "Updated"
    return result, changes


def without(lines: Sequence[str], blobs: set[str]) -> tuple[list[str], dict[str, object]]:
    kept = [line for line in lines if not ((key := ssh.parse(line)) and key.blob in blobs)]
    there = {key.blob for line in lines if (key := ssh.parse(line))}
    return kept, dict.fromkeys(sorted(blobs & there), "Removed")
