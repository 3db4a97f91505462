"""``file.tidied``: remove old or large files."""

from __future__ import annotations

import os
from collections.abc import Iterator

from msgspec import Struct

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words, result_of
from saltern.modules.api.declare import state
from saltern.modules.api.params import Ignored
from saltern.modules.api.refused import Refused
from saltern.modules.lib.files.facts import existing_directory, facts
from saltern.modules.lib.files.patterns import compile_pattern
from saltern.modules.lib.files.walk import below
from saltern.system import files

UNITS: dict[str, int] = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
DAY = 86400


class TidyOptions(Struct, frozen=True, kw_only=True):
    age: float
    size: int
    matches: tuple[str, ...]
    exclude: tuple[str, ...]
    full_path: bool
    clock: str
    both: bool
    only: str
    links: bool


@state(removes=True)
def tidied(
    ctx: Context,
    /,
    name: str,
    *,
    age: float = 0,
    matches: list[str] | None = None,
    rmdirs: bool = False,
    size: object = 0,
    exclude: list[str] | None = None,
    full_path_match: bool = False,
    followlinks: bool = False,
    time_comparison: str = "atime",
    age_size_logical_operator: str = "OR",
    age_size_only: str | None = None,
    rmlinks: bool = True,
    **_: Ignored,
) -> Result:
    """Remove old or large files from a directory and all below it.

    Args:
        name: the absolute path of the directory.
        age: remove files that are at least this many days old.
        size: remove files that are at least this large; ``10m`` means ten megabytes.
        age_size_logical_operator: ``OR`` if either is enough, ``AND`` if both must be true.
        age_size_only: ``age`` or ``size``: check only this one.
        matches, exclude: regular expressions for names to remove, and for names to keep.
        full_path_match: match them against the whole path.
        rmdirs: also remove directories: those whose name matches, if nothing in them is younger or spared
            by ``exclude``.
        rmlinks: also remove links.
        followlinks: go into directories that are links.
        time_comparison: ``atime``, ``mtime`` or ``ctime``.

    Example:
        ```yaml
        /var/log/app:
          file.tidied:
            - age: 30
            - matches:
              - '.*\\.log'
        ```
    """
    ctx.facts = {"path": name}
    path, found = existing_directory(name)
    if time_comparison not in ("atime", "mtime", "ctime"):
        raise Refused(f"no time is called {time_comparison!r}; use atime, mtime or ctime")
    rules = TidyOptions(
        age=age,
        size=_bytes(size),
        matches=tuple(matches or (".*",)),
        exclude=tuple(exclude or ()),
        full_path=full_path_match,
        clock=f"st_{time_comparison}",
        both=age_size_logical_operator.upper() == "AND",
        only=(age_size_only or "").lower(),
        links=rmlinks,
    )
    todo = list(_old(ctx, path, rules, rmdirs, followlinks))
    if not todo:
        return result_of(ctx, {}, f"{path} is tidy", facts(ctx, path, found))
    if not ctx.test:
        for victim in todo:
            files.remove(victim, tree=False)
    done = f"Tidied {path}: {len(todo)} paths removed"
    return result_of(
        ctx,
        {"removed": todo},
        Words(would=f"{len(todo)} paths would be removed from {path}", done=done),
        facts(ctx, path, found),
    )


def _bytes(size: object) -> int:
    text = str(size).strip().lower()
    unit = text.lstrip("0123456789")
    if unit not in UNITS or not text[: len(text) - len(unit)]:
        raise Refused(f"{size!r} is not a size; give a number and one of b, k, m, g, t")
    return int(text[: len(text) - len(unit)]) * UNITS[unit]


def _old(ctx: Context, root: str, rules: TidyOptions, rmdirs: bool, follow: bool) -> Iterator[str]:
    """The paths to remove, deepest first; a directory with its contents, if all of them may go."""
    wanted = [compile_pattern(pattern) for pattern in rules.matches]
    spared = [compile_pattern(pattern) for pattern in rules.exclude]
    now = ctx.clock.now()
    going: set[str] = set()
    kept: set[str] = set()  # directories in which something stays
    for path, _ in reversed(list(below(root, follow=follow))):
        found = files.look(path)  # of a link itself
        if found is None:
            continue  # removed meanwhile
        directory = files.kind_of(found) == "directory"
        text = path if rules.full_path else os.path.basename(path)
        stays = any(pattern.match(text) for pattern in spared) or not _may_go(found, rules, rmdirs, now)
        if stays or (directory and path in kept):
            kept.add(os.path.dirname(path))
        elif any(pattern.match(text) for pattern in wanted):
            inside = [one for one, _ in below(path)][::-1] if directory else []
            new = [one for one in (*inside, path) if one not in going]
            going.update(new)
            yield from new


def _may_go(found: os.stat_result, rules: TidyOptions, rmdirs: bool, now: float) -> bool:
    allowed = {"link": rules.links, "directory": rmdirs}
    return allowed.get(files.kind_of(found), True) and _matches(found, rules, now)


def _matches(found: os.stat_result, rules: TidyOptions, now: float) -> bool:
    plain = files.kind_of(found) != "directory" or rules.clock != "st_atime"
    time = float(getattr(found, rules.clock if plain else "st_mtime"))  # to look into it is an access
    old = now - time >= rules.age * DAY
    size = found.st_size if files.kind_of(found) == "file" else 0
    large = size >= rules.size
    if rules.only in ("age", "size"):
        return old if rules.only == "age" else large
    return (old and large) if rules.both else (old or large)
