"""The code of our own modules in one file: a run imports more than a hundred, and to find them costs most.

For each module, Python looks through directories, and opens and checks a compiled file. Here it is one
``stat`` of the source and one read. What is kept is what Python has compiled itself, beside its own compiled
files; a module that is missing here, or whose source was touched since, is imported as ever. A module that
imports many others is kept together with them, as a group, in the order in which they were executed: each
finds what it imports. Why: docs/decisions/0023-code-cache.md.
"""

from __future__ import annotations

import marshal
import os
import sys
from _frozen_importlib import ModuleSpec  # importlib.machinery has them, too, and is one more module to find
from _frozen_importlib_external import MAGIC_NUMBER, SourceFileLoader
from _imp import _fix_co_filename  # type: ignore[attr-defined]
from _thread import _count as other_threads
from contextlib import suppress
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import CodeType

OURS = "saltern"
KIND = b"saltern code 2\n" + MAGIC_NUMBER  # how the file begins
HEAD = len(KIND) + 16  # with the lengths of the index, which follows, and of all
GARBLED = (ValueError, EOFError, TypeError)  # what marshal says of it
PYC_HEAD = 16  # bytes before the code in a file of Python's: magic, flags, time and size of the source
LEAST = 8  # modules of a group

Entry = tuple[
    int, int, bool, str
]  # where the code begins, its length; is it a package; ``identity`` of the source
Kept = tuple[bytes, bool, str]  # the code itself; the same two
Member = tuple[str, bool, str, "CodeType"]  # of a group: its name, the same two, its code


class CodeCache:
    """Finds modules for ``import``, before anything else does."""

    def __init__(self, path: str, above: str, ending: str) -> None:
        self._path = path
        self._above = above  # the directory that our package is in
        self._ending = ending  # of the names of Python's compiled files
        self._file = self._begin = -1
        self._is = (0, 0)
        self._index: dict[str, Entry] = {}
        self._groups: dict[str, tuple[int, int]] = {}  # where the group of a module begins, its length
        self._executed: list[str] = []  # by the outermost import, in the order of their ends
        self._depth = 0  # imports that are under way, one within the other
        self._found: dict[str, list[str]] = {}  # groups that are not kept yet
        self._open()

    def _open(self) -> None:
        """Nothing is known where there is no such file, or not a whole one that this Python has written."""
        try:
            self._file = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            found = os.fstat(self._file)
            head = os.pread(self._file, HEAD, 0)
            index, whole = (int.from_bytes(head[at : at + 8]) for at in (HEAD - 16, HEAD - 8))
            if head.startswith(KIND) and whole == found.st_size:
                entries, self._groups = marshal.loads(os.pread(self._file, index, HEAD))
                self._index = {name: one for name, one in entries.items() if one[1]}
                self._begin, self._is = HEAD + index, (found.st_dev, found.st_ino)
        except (OSError, *GARBLED):
            pass

    def find_spec(
        self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        found = self._index.get(name)
        if found is None:
            return None
        is_package, source = found[2:]
        file = self._source(name, is_package)
        if identity(file) != source or not (code := self._code(*found[:2])):
            return None
        if name in self._groups and not self._depth and not other_threads():
            self._execute_group(name)
        return self._spec(name, file, is_package, code)

    def _spec(self, name: str, file: str, is_package: bool, code: bytes) -> ModuleSpec:
        folder, _, base = file.rpartition("/")
        spec = ModuleSpec(name, _Loader(name, file, code, self), origin=file)
        spec.has_location = True
        spec.cached = f"{folder}/__pycache__/{base.removesuffix('.py')}.{self._ending}"
        spec.submodule_search_locations = [folder] if is_package else None
        return spec

    def _code(self, begin: int, size: int) -> bytes:
        """Nothing, in a process that has closed our file: its number may be that of another one by now."""
        try:
            found = os.fstat(self._file)
            is_ours = (found.st_dev, found.st_ino) == self._is
            return os.pread(self._file, size, self._begin + begin) if is_ours else b""
        except OSError:
            return b""

    def _execute_group(self, name: str) -> None:
        """Import what the module will import. Where that cannot be done like this, it will do so itself."""
        try:
            members: list[Member] = marshal.loads(self._code(*self._groups[name]))
        except GARBLED:
            members = []
        if not members or any(identity(self._source(*one[:2])) != one[2] for one in members):
            del self._groups[name]
            return
        self._depth += 1
        for module, is_package, _, code in members:
            if module not in sys.modules and not self._execute(module, is_package, code):
                break
        self._depth -= 1

    def _execute(self, name: str, is_package: bool, code: CodeType) -> bool:
        """Import a module without asking for it: what it imports is there. False if that cannot be done."""
        above, _, last = name.rpartition(".")
        if above not in sys.modules:
            return False
        file = self._source(name, is_package)
        spec = self._spec(name, file, is_package, b"")
        _fix_co_filename(code, file)
        module = ModuleType(name)
        names = {"__file__": file, "__cached__": spec.cached, "__spec__": spec, "__loader__": spec.loader}
        vars(module).update(names, __package__=name if is_package else above)
        if is_package:
            vars(module)["__path__"] = spec.submodule_search_locations
        sys.modules[name] = module
        try:
            exec(code, module.__dict__)
        except Exception:  # the import that asks for it shows why
            del sys.modules[name]
            return False
        setattr(sys.modules[above], last, module)
        return True

    def execute(self, module: ModuleType, loader: Callable[[ModuleType], None]) -> None:
        """Have a module executed, and notice what it imports."""
        self._depth += 1
        try:
            loader(module)
        finally:
            self._depth -= 1
        self._executed.append(module.__name__)
        if not self._depth:
            executed, self._executed = self._executed[:-1], []
            if len(executed) >= LEAST and module.__name__ not in self._groups:
                self._found[module.__name__] = executed

    def _source(self, name: str, is_package: bool) -> str:
        return f"{self._above}/{name.replace('.', '/')}{'/__init__' if is_package else ''}.py"

    def save(self) -> None:
        """For the next run: with what this process has imported besides, if it may be written at all."""
        if sys.dont_write_bytecode:
            return
        ours = [(name, one) for name, one in sys.modules.items() if name.partition(".")[0] == OURS]
        added = {name: kept for name, module in ours if (kept := self._missing(name, module))}
        if added or self._found:
            index = self._index.items()
            known = {name: (code, *one[2:]) for name, one in index if (code := self._code(*one[:2]))}
            write(self._path, known | added, {} if added else self._all_groups())

    def _all_groups(self) -> dict[str, bytes]:
        """None, while modules are missing: what those import was not noticed."""
        old = {name: code for name, one in self._groups.items() if (code := self._code(*one))}
        return old | {name: self._group(names) for name, names in self._found.items()}

    def _group(self, names: Sequence[str]) -> bytes:
        members = []
        for name in names:
            begin, size, is_package, source = self._index[name]
            members.append((name, is_package, source, marshal.loads(self._code(begin, size))))
        return marshal.dumps(members)

    def _missing(self, name: str, module: ModuleType) -> Kept | None:
        """What is to be kept of a module that did not come from here."""
        spec = module.__spec__
        if spec is None or type(spec.loader) is not SourceFileLoader or spec.origin is None:
            return None
        is_package, now = spec.submodule_search_locations is not None, identity(spec.origin)
        if spec.origin != self._source(name, is_package) or self._index.get(name, ("",))[-1] == now:
            return None
        code = compiled(spec)
        return (code, is_package, now) if code and identity(spec.origin) == now else None


class _Loader(SourceFileLoader):
    """Python's own, but for where the code comes from."""

    def __init__(self, name: str, file: str, code: bytes, cache: CodeCache) -> None:
        super().__init__(name, file)
        self._code = code
        self._cache = cache

    def exec_module(self, module: ModuleType) -> None:
        self._cache.execute(module, super().exec_module)

    def get_code(self, fullname: str) -> CodeType | None:
        """A second question is answered with what Python keeps."""
        code, self._code = self._code, b""
        try:
            found: CodeType = marshal.loads(code)
        except GARBLED:
            return super().get_code(fullname)
        _fix_co_filename(found, self.path)  # it may have been compiled, or the package moved, elsewhere
        return found


def identity(file: str) -> str:
    """It is another one after any change of the file, or of what has its name; empty if there is none."""
    try:
        found = os.stat(file)
    except OSError:
        return ""
    return f"{found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"


def compiled(spec: ModuleSpec) -> bytes:
    """The code in Python's compiled file, if that says that it is of the source which is there now."""
    assert spec.cached and spec.origin
    try:
        with open(spec.cached, "rb") as file:
            data = file.read()
        found = os.stat(spec.origin)
    except OSError:
        return b""
    source = (int(found.st_mtime), found.st_size)
    head = MAGIC_NUMBER + bytes(4) + b"".join((one & 0xFFFFFFFF).to_bytes(4, "little") for one in source)
    return data[PYC_HEAD:] if data[:PYC_HEAD] == head else b""


def write(path: str, modules: Mapping[str, Kept], groups: Mapping[str, bytes]) -> None:
    """Whole or not at all: a reader meanwhile has the old one."""
    begin, entries, places, codes = 0, {}, {}, []
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
    except OSError:  # no room, or not ours to write: the next run finds its modules as ever
        with suppress(OSError):
            os.remove(place)


def _sweep(path: str) -> None:
    """Remove what killed processes were to put there. One that lives elsewhere only fails to write, once."""
    folder, name = os.path.split(path)
    for one in os.listdir(folder):
        pid = one.removeprefix(f"{name}.")
        if pid != one and pid.isdecimal() and not os.path.exists(f"/proc/{pid}"):
            with suppress(OSError):
                os.remove(os.path.join(folder, one))


def install() -> CodeCache | None:
    """From here on, our modules come from there. None: Python keeps no compiled files beside our sources."""
    spec = __spec__
    if type(spec.loader) is not SourceFileLoader or not spec.cached or sys.pycache_prefix is not None:
        return None
    above = __file__.removesuffix(f"/{__name__.replace('.', '/')}.py")
    ending = os.path.basename(spec.cached).partition(".")[2]
    cache = CodeCache(f"{above}/{OURS}/__pycache__/{OURS}.{ending.removesuffix('pyc')}code", above, ending)
    sys.meta_path.insert(0, cache)
    return cache
