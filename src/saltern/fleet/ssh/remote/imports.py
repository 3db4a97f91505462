"""Imports the modules of a bundle from a single file.

In a bundle this file is a module of its own, beside the package, whose ``__init__`` there calls ``install``.
It uses only the standard library.
"""

from __future__ import annotations

import marshal
import os
import sys
from _frozen_importlib import ModuleSpec
from _imp import _fix_co_filename  # type: ignore[attr-defined]
from mmap import ACCESS_READ, mmap
from types import CodeType, ModuleType

NAME = "saltern_bundle"
FILE = "saltern.modules"
KEPT = "compiled"  # a directory: the code of modules that came as sources
SIZE = 8  # bytes, of the length of the index that follows
GARBLED = (OSError, ValueError, EOFError, TypeError)

Entry = tuple[bool, bool, int, int]  # is it a package; is it code; where it begins, its length


class BundleModules:
    """Finds and loads modules before other importers. The file is memory-mapped, since a worker closes open
    files.
    """

    def __init__(self, place: str) -> None:
        self._place = place
        with open(f"{place}/{FILE}", "rb") as file:
            self._data = memoryview(mmap(file.fileno(), 0, access=ACCESS_READ))
        self._begin = SIZE + int.from_bytes(self._data[:SIZE])
        self._index: dict[str, Entry] = marshal.loads(self._data[SIZE : self._begin])

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        if name not in self._index:
            return None
        file, is_package = self.get_filename(name), self.is_package(name)
        spec = ModuleSpec(name, self, origin=file)  # type: ignore[arg-type]
        spec.has_location = True
        spec.submodule_search_locations = [os.path.dirname(file)] if is_package else None
        return spec

    def create_module(self, _spec: ModuleSpec) -> None:
        """The usual kind of module."""

    def exec_module(self, module: ModuleType) -> None:
        exec(self.get_code(module.__name__), module.__dict__)

    def get_code(self, name: str) -> CodeType:
        is_code = self._index[name][1]
        code = marshal.loads(self._part(name)) if is_code else self._compile(name)
        _fix_co_filename(code, self.get_filename(name))
        return code

    def get_source(self, name: str) -> str | None:
        """The text of a module that came as one."""
        return None if self._index[name][1] else str(self._part(name), "utf-8")

    def get_filename(self, name: str) -> str:
        """Where its source would be."""
        return f"{self._place}/{name.replace('.', '/')}{'/__init__' if self.is_package(name) else ''}.py"

    def is_package(self, name: str) -> bool:
        return self._index[name][0]

    def _part(self, name: str) -> memoryview:
        begin, size = self._index[name][2:]
        return self._data[self._begin + begin : self._begin + begin + size]

    def _compile(self, name: str) -> CodeType:
        """The code of a source, compiled once on this host."""
        path = f"{self._place}/{KEPT}/{name}"
        try:
            with open(path, "rb") as file:
                code = marshal.loads(file.read())
            if isinstance(code, CodeType):
                return code
        except GARBLED:
            pass
        made: CodeType = compile(bytes(self._part(name)), self.get_filename(name), "exec", dont_inherit=True)
        _keep(path, made)
        return made


def _keep(path: str, code: CodeType) -> None:
    """Write the code to a file beside, and rename it. If that fails, the next import compiles it again."""
    fresh = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(marshal.dumps(code))
        os.rename(fresh, path)
    except OSError:
        pass


def install(package: str) -> None:
    """Import modules from the file beside the package of this path from now on."""
    sys.meta_path.insert(0, BundleModules(os.path.dirname(os.path.dirname(package))))
