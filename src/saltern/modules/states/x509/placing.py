"""Put a key or a certificate in its place, with its owner and mode, and never show what it holds."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from msgspec import Struct

from saltern.language.result import Result
from saltern.modules.context import Context
from saltern.modules.states._programs import answer
from saltern.modules.states.file.answers import Refusal, absolute
from saltern.modules.states.file.owners import asked, attribute_changes
from saltern.modules.states.file.placing import back_up, make_parents, parent_notes
from saltern.system import files

FILE_WORDS = ("user", "group", "mode", "makedirs", "dir_mode", "backup")


class Spot(Struct, frozen=True, kw_only=True):
    """Where it goes. ``rest`` holds the keywords that are not about the file."""

    path: str
    user: str | None = None
    group: str | None = None
    mode: str | None = None
    makedirs: bool = False
    dir_mode: str | None = None
    backup: str = ""
    rest: dict[str, object]


def spot(name: str, kwargs: Mapping[str, object], mode: str | None = None) -> Spot:
    """The file words of a state; quoted or not, a mode is octal."""
    given = {key: value for key, value in kwargs.items() if value is not None}
    return Spot(
        path=absolute(name),
        user=_text(given.get("user")),
        group=_text(given.get("group")),
        mode=_mode(given.get("mode")) or mode,
        makedirs=bool(given.get("makedirs")),
        dir_mode=_mode(given.get("dir_mode")),
        backup=str(given.get("backup") or ""),
        rest={key: value for key, value in given.items() if key not in FILE_WORDS},
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _mode(value: object) -> str | None:
    if value is None:
        return None
    text = str(value).removeprefix("0o")
    if not text or not all(digit in "01234567" for digit in text) or len(text) > 5:
        raise Refusal(f"mode needs an octal number such as 0600, got {value!r}")
    return text.lstrip("0").zfill(4)


def placed(
    ctx: Context,
    where: Spot,
    differs: dict[str, object],
    make: Callable[[], bytes],
    facts: Callable[[bytes | None], dict[str, object]],
    *,
    what: str,
) -> Result:
    """Make it anew if it ``differs``, and set owner and mode. ``facts`` tells what is known of it then."""
    path = where.path
    seen = files.see(path)
    if seen is not None and seen.data is None:
        raise Refusal(f"{path} is not a file, but a {seen.kind}")
    notes: list[str] = []
    attributes = asked(ctx, where.user, where.group, where.mode, notes)
    changes: dict[str, object] = dict(differs)
    changes |= attribute_changes(
        seen.stat if seen else None, attributes, user=where.user, group=where.group, mode=where.mode
    )
    if changes:
        notes += parent_notes(ctx, path, where.makedirs)
        files.settle(path)
    if changes and not ctx.test:
        if differs:
            if where.makedirs:
                make_parents(path, attributes, dir_mode=where.dir_mode)
            if seen is not None:
                back_up(ctx, path, seen, where.backup)
            files.write(path, make(), attributes)
        else:
            files.set_attributes(path, attributes)
    found = files.read(path) if os.path.exists(path) else None
    words = (f"The {what} is in the correct state", f"The {what} would be changed", f"The {what} was changed")
    if "created" in differs:
        words = (words[0], f"The {what} would be created", f"The {what} has been created")
    return answer(
        ctx,
        changes,
        {"path": path, **facts(found)},
        right=words[0],
        would="\n".join([words[1], *notes]),
        done=words[2],
    )
