"""``file``: read and search files, and find them."""

# ruff: noqa: ARG001 - the signature is the interface

from __future__ import annotations

import os
import re
from collections.abc import Callable

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.functions.file.errors import expand_home, explain_errors
from saltern.modules.lib.files import owners
from saltern.modules.lib.files.diffs import difference
from saltern.modules.lib.files.patterns import compile_pattern
from saltern.modules.lib.files.replacement import flag_bits
from saltern.modules.lib.files.walk import below
from saltern.system import files


def _bytes(path: str) -> bytes:
    with explain_errors(path):
        data = files.read(expand_home(path))
        if data is not None:
            return data
    raise BadArgument(f"{path}: no such file")


def _text(path: str) -> str:
    return _bytes(path).decode("utf-8", "replace")


@function
def read(ctx: Context, path: str, binary: bool = False) -> str | bytes:
    """The content of a file; with ``binary``, as bytes.

    Example:
        ```console
        $ saltern call file.read /srv/app/list.txt
        local:
            one
            two
            three
        ```
    """
    if binary:
        return _bytes(path)
    with explain_errors(path):
        return _bytes(path).decode("utf-8")


@function
def seek_read(ctx: Context, path: str, size: int, offset: int) -> bytes:
    """A part of a file.

    Example:
        ```console
        $ saltern call file.seek_read /srv/app/list.txt 3 4
        local:
            two
        ```
    """
    with explain_errors(path), open(expand_home(path), "rb") as stream:
        stream.seek(int(offset))
        return stream.read(int(size))


@function
def contains(ctx: Context, path: str, text: str) -> bool:
    """True if a file contains a text; False if the file does not exist.

    Example:
        ```console
        $ saltern call file.contains /etc/app.conf 'port = 80'
        local:
            True
        ```
    """
    return os.path.isfile(expand_home(path)) and str(text).strip() in _text(path)


@function
def contains_regex(ctx: Context, path: str, regex: str, lchar: str = "") -> bool:
    """True if a line of a file matches a regular expression, after ``lchar`` is stripped from its start.

    Example:
        ```console
        $ saltern call file.contains_regex /etc/app.conf '^port = \\d+'
        local:
            True
        ```
    """
    if not os.path.isfile(expand_home(path)):
        return False
    with explain_errors(path):
        search = compile_pattern(regex).search
    return any(search(line.lstrip(lchar) if lchar else line) for line in _text(path).splitlines())


@function
def contains_glob(ctx: Context, path: str, glob_expr: str) -> bool:
    """True if a line of a file matches a glob.

    Example:
        ```console
        $ saltern call file.contains_glob /etc/app.conf 'port*'
        local:
            True
        ```
    """
    from fnmatch import fnmatch

    return os.path.isfile(expand_home(path)) and any(
        fnmatch(line, glob_expr) for line in _text(path).splitlines()
    )


@function
def search(
    ctx: Context,
    path: str,
    pattern: str,
    flags: object = 8,
    bufsize: object = 1,
    ignore_if_missing: bool = False,
    multiline: bool = False,
) -> bool:
    """True if a regular expression matches anywhere in a file.

    Example:
        ```console
        $ saltern call file.search /etc/app.conf '^port = \\d+'
        local:
            True
        ```
    """
    if ignore_if_missing and not os.path.exists(expand_home(path)):
        return False
    with explain_errors(path):
        bits = flag_bits(flags) | (re.MULTILINE | re.DOTALL if multiline else 0)
        return compile_pattern(pattern, bits).search(_text(path)) is not None


@function
def grep(ctx: Context, path: str, pattern: str, *opts: str) -> dict[str, object]:
    """Run ``grep`` on a file: ``{retcode, stdout, stderr, pid}``.

    Example:
        ```console
        $ saltern call file.grep /var/log/app/app.log error
        local:
        …
            stdout:
                error: no disk
        ```
    """
    ran = ctx.host.run(["grep", *opts, "--", pattern, expand_home(path)])
    return {
        "retcode": ran.code,
        "stdout": ran.out.rstrip("\n"),
        "stderr": ran.err.rstrip("\n"),
        "pid": ran.pid,
    }


@function
def get_diff(ctx: Context, file1: str, file2: str, show_changes: bool = True) -> str:
    """The difference between two files; empty if there is none.

    Example:
        ```console
        $ saltern call file.get_diff /srv/app/list.txt /srv/app/other.txt
        local:
            ---
            +++
            @@ -1,3 +1,3 @@
             one
            -two
            +2
             three
        ```
    """
    first, second = _bytes(file1), _bytes(file2)
    return "" if first == second else difference(first, second, show=show_changes)


# -- find --------------------------------------------------------------------------------------

Test = Callable[[Context, str, os.stat_result], bool]
TYPES: dict[str, str] = {
    "f": "file",
    "d": "directory",
    "l": "link",
    "p": "pipe",
    "s": "socket",
    "c": "character device",
    "b": "block device",
}
SIZE = re.compile(r"([+-]?)(\d+)([bkmgt]?)(?:-(\d+)([bkmgt]?))?")
AGE = re.compile(r"([+-]?)((?:\d+[wdhms])+)")
UNITS: dict[str, int] = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
SPANS: dict[str, int] = {"w": 604800, "d": 86400, "h": 3600, "m": 60, "s": 1}


def _regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    with explain_errors(pattern):
        return compile_pattern(pattern, flags)


def _glob(pattern: str, flags: int = 0) -> re.Pattern[str]:
    from fnmatch import translate

    return re.compile(translate(pattern), flags)


def _name(match: re.Pattern[str]) -> Test:
    return lambda _ctx, path, _found: match.match(os.path.basename(path)) is not None


def _type(value: str) -> Test:
    kinds = {TYPES.get(letter) for letter in value}
    if None in kinds:
        raise BadArgument(f"type {value!r}: the letters are {', '.join(TYPES)}")
    return lambda _ctx, _path, found: files.kind_of(found) in kinds


def _owner(value: str) -> Test:
    wanted = {owners.user_id(name.strip()) for name in value.split(",")}
    return lambda _ctx, _path, found: found.st_uid in wanted


def _group(value: str) -> Test:
    wanted = {owners.group_id(name.strip()) for name in value.split(",")}
    return lambda _ctx, _path, found: found.st_gid in wanted


def _size(value: str) -> Test:
    """A test for sizes: ``+10m`` at least, ``-10m`` at most, ``10k-20k`` between, a bare size exactly."""
    match = SIZE.fullmatch(value.lower())
    if match is None:
        raise BadArgument(f"size {value!r}: write 10k, +10k, -10k or 10k-20k")
    sign, number, unit, upper, upper_unit = match.groups()
    low = int(number) * UNITS[unit]
    high = int(upper) * UNITS[upper_unit] if upper else low
    least, most = {"+": (low, 1 << 62), "-": (0, low)}.get(sign, (low, high))
    return lambda _ctx, _path, found: least <= found.st_size <= most


def _mtime(value: str) -> Test:
    """A test for times: ``-3d`` within three days, ``3d`` or ``+3d`` longer ago."""
    match = AGE.fullmatch(value.lower())
    if match is None:
        raise BadArgument(f"mtime {value!r}: write 3d, 1w2d or -12h")
    span = sum(int(part[:-1]) * SPANS[part[-1]] for part in re.findall(r"\d+[wdhms]", match[2]))
    older = match[1] != "-"
    return lambda ctx, _path, found: (ctx.clock.now() - found.st_mtime > span) is older


def _grep(value: str) -> Test:
    search = _regex(value, re.MULTILINE)
    return lambda _ctx, path, found: files.kind_of(found) == "file" and search.search(_text(path)) is not None


CRITERIA: dict[str, Callable[[str], Test]] = {
    "name": lambda value: _name(_glob(value)),
    "iname": lambda value: _name(_glob(value, re.IGNORECASE)),
    "regex": lambda value: _name(_regex(value)),
    "iregex": lambda value: _name(_regex(value, re.IGNORECASE)),
    "type": _type,
    "owner": _owner,
    "group": _group,
    "size": _size,
    "mtime": _mtime,
    "grep": _grep,
}


@function
def find(
    ctx: Context,
    /,
    path: str,
    maxdepth: int | None = None,
    mindepth: int = 0,
    follow: bool = False,
    delete: str | None = None,
    **criteria: str,
) -> list[str]:
    """The paths below ``path`` that meet all criteria, sorted.

    Args:
        maxdepth, mindepth: how far below ``path``.
        follow: go into directories that are links.
        delete: remove what was found, of these types (letters as for ``find``).
        criteria: ``name``, ``iname`` (globs), ``regex``, ``iregex`` (the beginning of the name), ``type``
            (letters as for ``find``), ``owner``, ``group``, ``size`` (``+10m``), ``mtime`` (``-3d`` for what
            changed within three days, ``3d`` for what did before), ``grep``.

    Example:
        ```console
        $ saltern call file.find /srv/app type=f name='*.txt'
        local:
            - /srv/app/list.txt
            - /srv/app/other.txt
        ```
    """
    known = {word: value for word, value in criteria.items() if not word.startswith("__")}
    if unknown := sorted(known.keys() - CRITERIA.keys()):
        raise BadArgument(f"find knows {', '.join(CRITERIA)}, not {', '.join(unknown)}")
    tests = [CRITERIA[word](str(value)) for word, value in known.items()]
    tests += [_type(delete)] if delete else []
    root = expand_home(path)
    start = files.look(root, follow=True)
    if start is None:
        return []
    found = [(root, start)]
    with explain_errors(path):
        if files.kind_of(start) == "directory":
            found += below(root, depth=maxdepth, follow=follow)
    floor = root.rstrip("/").count("/") + int(mindepth)
    places = [
        place
        for place, state in found
        if place.rstrip("/").count("/") >= floor and all(test(ctx, place, state) for test in tests)
    ]
    if delete:
        if root in places and files.kind_of(start) == "directory":
            raise BadArgument(f"delete would remove {root} itself; set mindepth=1")
        for place in reversed(places):
            with explain_errors(place):
                files.remove(place)
    return places
