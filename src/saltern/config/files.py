"""Find configuration files and read them, with the files that they include.

Imports YAML only when there is a file to read, and looks up lines only for a problem.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from saltern.language import numbers
from saltern.language.diagnostics import Diagnostic, OperationError, Severity
from saltern.language.source import Mark, Unquoted
from saltern.system.ownership import foreign

MACHINE = ("/etc/saltern/saltern.yaml", "/etc/salt/minion")  # for all users
HERE = "saltern.yaml"  # in the current directory
_NAMES = (HERE, "minion")  # in a directory given as configuration


class Read(Struct):
    """The keys that were read, where each came from, and the files in the order read."""

    values: dict[str, object]
    origins: dict[str, str]
    files: list[str]

    def mark(self, *path: str) -> Mark | None:
        """Where a key, or a key inside it, was written."""
        file = self.origins.get(path[0])
        return Mark(file, _line(file, path)) if file else None


def option_place(files: Sequence[str], path: Sequence[str | int], written: str = "") -> Unquoted | None:
    """Where an option, or a value in it, is written; for a problem with that value.

    ``written`` is the expected value. If the file has another, the value came from elsewhere, such as a flag.
    """
    for file in reversed(files):
        try:
            line, node = _innermost(file, path)
        except OperationError:
            continue
        if line and (not written or written in _words(node)):
            return Unquoted(file, line)
    return None


def _words(node: Any) -> list[str]:
    """A value, or the keys of a mapping, as written."""
    pairs = node.value if isinstance(getattr(node, "value", None), list) else []
    names = [str(pair[0].value) for pair in pairs if isinstance(pair, tuple)]
    return names or [str(getattr(node, "value", ""))]


def find(path: str | None, environ: Mapping[str, str]) -> tuple[str | None, list[Diagnostic]]:
    """The file to read: the one named, else the first of the default places that exists.

    A file in the current directory that another user could have written is not read; a warning says so.
    """
    named = path or environ.get("SALTERN_CONFIG")
    if named:
        return _configuration_path(os.path.expanduser(named)), []
    reason = distrust(HERE) if os.path.isfile(HERE) else "is not there"
    if not reason:
        return os.path.abspath(HERE), []
    return _usual(environ), [] if reason == "is not there" else [_ignored_warning(reason)]


def is_for_the_machine(path: str) -> bool:
    """True if the commands of all users read the file without a flag that names it."""
    return path in MACHINE


def distrust(path: str) -> str:
    """Why a file is not trusted, as the rest of a sentence; empty for files of the user and of root."""
    status = os.stat(path)
    if status.st_uid not in (os.geteuid(), 0):
        return f"belongs to the user with the number {status.st_uid}"
    return "can be written by other users" if status.st_mode & 0o022 else ""


def _ignored_warning(reason: str) -> Diagnostic:
    return Diagnostic(
        severity=Severity.WARNING,
        code="configuration-ignored",
        what=f"{HERE!r} in this directory {reason}, and is not read",
        where=Mark(os.path.abspath(HERE)),
        fix=f"if you trust it, use --config {HERE}, or make it yours alone: chown, and chmod go-w",
    )


def _usual(environ: Mapping[str, str]) -> str | None:
    home = environ.get("HOME", "")
    own = environ.get("XDG_CONFIG_HOME") or (os.path.join(home, ".config") if home else "")
    places = [MACHINE[0], os.path.join(own, "saltern/saltern.yaml") if own else "", MACHINE[1]]
    found = next((place for place in places if place and os.path.isfile(place)), None)
    return None if found is None else _own(found)


def _own(path: str, like: str = "") -> str:
    """Check a file that was not named: root reads it only if only root can write it, or like the including
    file.
    """
    if why := foreign(path, like=like):
        fix = f"make it root's alone: chown root {path} and chmod go-w"
        raise _problem(
            "configuration-foreign",
            f"the configuration {path} {why}, and root does not read it",
            fix=fix if like else f"{fix}; or name the file: --config {path}",
        )
    return path


def _configuration_path(path: str) -> str:
    inside = [os.path.join(path, name) for name in _NAMES] if os.path.isdir(path) else [path]
    found = next(filter(os.path.isfile, inside), None)
    if found is None:
        raise _problem(
            "no-configuration",
            f"there is no configuration file {path!r}",
            fix=f"a directory needs a file {' or '.join(_NAMES)}" if os.path.isdir(path) else "",
        )
    return found


def read(path: str) -> Read:
    """The file, then ``<file>.d/*.conf``, then its includes; the later value of a key wins.

    As in Salt, an included key replaces the whole key of the main file, while the included
    files are merged with each other.
    """
    main = mapping(path)
    result = Read(main, dict.fromkeys(main, path), [path])
    default = main.get("default_include") or f"{os.path.splitext(os.path.basename(path))[0]}.d/*.conf"
    for patterns in (default, main.get("include")):
        included = Read({}, {}, [])
        _include(patterns, path, included, (path,))
        result.values |= included.values
        result.origins |= included.origins
        result.files += included.files
    return result


def _include(patterns: object, by: str, into: Read, above: tuple[str, ...]) -> None:
    for file in _matches(patterns, by):
        if file in above:
            raise _problem("configuration-includes-itself", f"{file!r} includes itself", Mark(by))
        values = mapping(_own(file, like=above[0]))
        into.files.append(file)
        into.values = _merge(into.values, values)
        into.origins |= dict.fromkeys(values, file)
        _include(values.get("include"), file, into, (*above, file))


def _matches(patterns: object, by: str) -> list[str]:
    if not patterns:
        return []
    from glob import glob

    several = patterns if isinstance(patterns, list) else [patterns]
    base = os.path.dirname(by)
    return [
        file
        for pattern in several
        for file in sorted(glob(os.path.join(base, os.path.expanduser(str(pattern)))))
        if os.path.isfile(file)
    ]


def _merge(low: dict[str, object], high: dict[str, object]) -> dict[str, object]:
    merged = dict(low)
    for key, value in high.items():
        below = merged.get(key)
        if isinstance(below, dict) and isinstance(value, dict):
            merged[key] = _merge(below, value)
        elif isinstance(below, list) and isinstance(value, list):
            merged[key] = [*below, *(item for item in value if item not in below)]
        else:
            merged[key] = value
    return merged


def mapping(path: str) -> dict[str, object]:
    """The keys of one YAML file. Raises ``OperationError`` with the line of a mistake."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = _text(path)
    try:
        if not _is_bounded(yaml.parse(text, loader)):  # PyYAML itself would crash, or take minutes
            raise _problem("bad-configuration", _TOO_LARGE, Mark(path))
        data = yaml.load(text, loader)
    except yaml.YAMLError as problem:
        raise _not_yaml(path, problem) from None
    except (ValueError, TypeError, OverflowError, RecursionError) as problem:  # a bad date, an unhashable key
        if numbers.was_refused(problem):
            line, column, length = numbers.written_in(text)
            where = Mark(path, line, column)
            raise _problem("number-too-long", numbers.what(length), where, numbers.FIX) from None
        raise _problem("bad-configuration", f"not valid YAML: {problem}", Mark(path)) from None
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise _problem("bad-configuration", "the file must be a mapping of keys to values", Mark(path))
    if not _bounded(data):
        raise _problem("bad-configuration", _TOO_LARGE, Mark(path))
    if (long := numbers.path_to_long(data)) is not None:
        where = Mark(path, _line(path, tuple(map(str, long))))
        raise _problem("number-too-long", numbers.what(), where, numbers.FIX)
    return {str(key): value for key, value in data.items()}


_TOO_LARGE = "the file is nested too deep, or aliases make it too large"
DEPTH, NODES = 100, 1_000_000


def _is_bounded(events: Iterable[object]) -> bool:
    """True if depth and size (with aliases expanded) are within limits; from parser events, before data is
    built.
    """
    count = 0
    open_: list[tuple[str, int]] = []
    sizes: dict[str, int] = {}
    for event in events:
        kind = type(event).__name__
        anchor = str(getattr(event, "anchor", None) or "")
        if kind in ("MappingStartEvent", "SequenceStartEvent"):
            open_.append((anchor, count))
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            name, before = open_.pop()
            sizes[name] = count - before + 1
        elif kind == "AliasEvent":
            count += sizes.get(anchor, 1)
        count += 1
        if len(open_) > DEPTH or count > NODES:
            return False
    return True


def _bounded(data: object, *, depth: int = 100, nodes: int = 1_000_000) -> bool:
    """True if the data is small enough; aliases share their target, so a small file can stand for an
    endless tree.
    """
    stack = [(data, 0)]
    while stack:
        value, at = stack.pop()
        nodes -= 1
        if at > depth or nodes < 0:
            return False
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        stack += [(one, at + 1) for one in inner]
    return True


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8-sig") as file:
            return file.read()
    except OSError as problem:
        raise _problem("unreadable-configuration", f"cannot read {path!r}: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise _problem("unreadable-configuration", "the file is not UTF-8 text", Mark(path)) from None


def _not_yaml(path: str, problem: Exception) -> OperationError:
    mark = getattr(problem, "problem_mark", None) or getattr(problem, "context_mark", None)
    where = Mark(path, mark.line + 1, mark.column + 1) if mark else Mark(path)
    return _problem(
        "bad-configuration", f"not valid YAML: {getattr(problem, 'problem', None) or problem}", where
    )


def _line(path: str, keys: tuple[str, ...]) -> int:
    """The line of the innermost of ``keys`` that can be found; 0 if none."""
    return _innermost(path, keys)[0]


def _innermost(path: str, steps: Sequence[str | int]) -> tuple[int, Any]:
    """Follow keys and list indexes to the innermost value found; return its line and its node."""
    line, node = 0, _compose(_text(path))
    for step in steps:
        inner = node.value if isinstance(getattr(node, "value", None), list) else []
        if isinstance(step, int):
            found = [(one, one) for one in inner[step : step + 1] if not isinstance(one, tuple)]
        else:
            found = [pair for pair in inner if isinstance(pair, tuple) and str(pair[0].value) == step]
        if not found:
            break
        line, node = found[0][0].start_mark.line + 1, found[0][1]
    return line, node


@lru_cache(maxsize=2)  # many keys of one file may be looked up
def _compose(text: str) -> Any:
    import yaml

    return yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def _problem(code: str, what: str, where: Mark | None = None, fix: str = "") -> OperationError:
    return OperationError(Diagnostic(code=code, what=what, where=where, fix=fix))
