"""The file that the code cache reads: an index, the code of each module, and that of groups of them."""

from __future__ import annotations

import marshal
import os
from _frozen_importlib_external import MAGIC_NUMBER
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from saltern.system.code_cache import GARBLED, HEAD, KIND, Identity, identity

if TYPE_CHECKING:
    from saltern.system.code_cache import CodeCache, Entry, Loader

PYC_HEAD = 16  # bytes before the code in a file of Python's: magic, flags, time and size of the source

Kept = tuple[bytes, bool, Identity]  # the code of a module; whether it is a package; its source


def save(cache: CodeCache) -> None:
    """Write the existing content and the new modules and groups, if there are any."""
    known = {name: (code, *one[2:]) for name, one in cache.index.items() if (code := cache.code(*one[:2]))}
    new = {one.name: kept for one in cache.missing if (kept := _entry_for(one))}
    modules = known | new
    groups = {name: code for name, one in cache.groups.items() if (code := cache.code(*one))}
    for name, names in cache.found.items():
        if all(one in modules for one in names):
            groups[name] = _group(names, modules)
    if new or groups.keys() != cache.groups.keys():
        write(cache.path, modules, groups)


def _entry_for(loader: Loader) -> Kept | None:
    """The entry for a module that did not come from the file."""
    is_package, now = loader.is_package(loader.name), identity(loader.path)
    code = compiled_code(loader.path)
    return (code, is_package, now) if code and identity(loader.path) == now else None


def _group(names: Sequence[str], modules: Mapping[str, Kept]) -> bytes:
    """Marshal all as one object, so that common parts, above all names, are stored once."""
    try:
        return marshal.dumps([(name, *modules[name][1:], marshal.loads(modules[name][0])) for name in names])
    except GARBLED:
        return b""


def compiled_code(source: str) -> bytes:
    """The code in Python's compiled file, if it was compiled from the current source."""
    from importlib.util import cache_from_source

    try:
        with open(cache_from_source(source), "rb") as file:
            data = file.read()
        found = os.stat(source)
    except OSError:
        return b""
    about = (int(found.st_mtime), found.st_size)
    head = MAGIC_NUMBER + bytes(4) + b"".join((one & 0xFFFFFFFF).to_bytes(4, "little") for one in about)
    return data[PYC_HEAD:] if data[:PYC_HEAD] == head else b""


def write(path: str, modules: Mapping[str, Kept], groups: Mapping[str, bytes]) -> None:
    """Write the file completely or not at all; until then, readers get the old one."""
    begin, codes = 0, []
    entries: dict[str, Entry] = {}
    places: dict[str, tuple[int, int]] = {}
    for name, (code, is_package, source) in modules.items():
        entries[name] = (begin, len(code), is_package, source)
        codes.append(code)
        begin += len(code)
    for name, code in groups.items():
        places[name] = (begin, len(code))
        codes.append(code)
        begin += len(code)
    index = marshal.dumps((entries, places))
    place = f"{path}.{os.getpid()}"
    try:
        _sweep(path)
        file = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        with os.fdopen(file, "wb") as out:
            sizes = len(index).to_bytes(8) + (HEAD + len(index) + begin).to_bytes(8)
            out.write(b"".join((KIND, sizes, index, *codes)))
            out.flush()
            os.fsync(out.fileno())
        os.replace(place, path)
    except OSError:  # no space, or no permission: the next run finds its modules as usual
        with suppress(OSError):
            os.remove(place)


def _sweep(path: str) -> None:
    """Remove files that killed processes have left. A living process elsewhere only fails to write, once."""
    folder, name = os.path.split(path)
    for one in os.listdir(folder):
        pid = one.removeprefix(f"{name}.")
        if pid != one and pid.isdecimal() and not os.path.exists(f"/proc/{pid}"):
            with suppress(OSError):
                os.remove(os.path.join(folder, one))
