"""Finds the files of a directory that may have a module name, by reading them as text.

The name of a module is that of its file, its ``__virtualname__``, or the value that its ``__virtual__``
returns. Loading several hundred files to find their names would take seconds; reading them takes a few
milliseconds, and for the directories of an installed Salt the result is cached.
"""

from __future__ import annotations

import os
import re

from saltern.system import atomic

Index = dict[str, list[str]]

_NAMED = re.compile(r"""^__virtualname__\s*=\s*["'](\w+)["']""", re.MULTILINE)
_ALIASES = re.compile(r"^__virtual_aliases__\s*=\s*[(\[]([^)\]]*)[)\]]", re.MULTILINE)
_VIRTUAL = re.compile(r"^def __virtual__\(.*?(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
_RETURNED = re.compile(r"""return\s+["'](\w+)["']""")
_QUOTED = re.compile(r"""["'](\w+)["']""")


def index(directory: str, cache: str = "") -> Index:
    """Name → files, those with this name first. ``cache`` is a directory for the result, if any."""
    if not cache:
        return _read(directory)
    kept = os.path.join(cache, f"salt-modules-{_mark(directory)}.json")
    found = _read_index(kept)
    if found is None:
        found = _read(directory)
        _keep(kept, found)
    return found


def _read(directory: str) -> Index:
    found: Index = {}
    virtual: Index = {}
    for name, path in sorted(files(directory)):
        found.setdefault(name, []).append(path)
        for other in _virtual_names(path):
            if other != name:
                virtual.setdefault(other, []).append(path)
    for name, paths in virtual.items():
        found.setdefault(name, []).extend(paths)
    return found


def files(directory: str) -> list[tuple[str, str]]:
    """The modules and packages of a directory, by the names of their files."""
    try:
        names = os.listdir(directory)
    except OSError:
        return []
    result = []
    for name in names:
        path = os.path.join(directory, name)
        if name.endswith(".py") and name != "__init__.py":
            result.append((name[:-3], path))
        elif os.path.isfile(inner := os.path.join(path, "__init__.py")):
            result.append((name, inner))
    return result


def _virtual_names(path: str) -> set[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return set()
    names = set(_NAMED.findall(text))
    for listed in _ALIASES.findall(text):
        names.update(_QUOTED.findall(listed))
    for body in _VIRTUAL.findall(text):
        names.update(_RETURNED.findall(body))
    return names


def _mark(directory: str) -> str:
    """A value that changes when a file is added or removed, as by an upgrade of Salt."""
    from hashlib import sha256

    seen = os.stat(directory)
    return sha256(f"{directory} {seen.st_mtime_ns} {seen.st_ino}".encode()).hexdigest()[:20]


def _read_index(path: str) -> Index | None:
    from msgspec import MsgspecError
    from msgspec.json import decode

    try:
        with open(path, "rb") as file:
            return decode(file.read(), type=Index)
    except (OSError, MsgspecError):
        return None


def _keep(path: str, found: Index) -> None:
    """Write the cache, if possible; otherwise the next run reads the files again."""
    from msgspec.json import encode

    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        atomic.write(path, encode(found), mode=0o644, durable=False)
    except OSError:
        pass
