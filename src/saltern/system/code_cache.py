"""The code of our own modules in one file: a run imports more than a hundred, and finding them costs most.

For each module, Python looks through directories, and opens and checks a compiled file. Here it is one
``stat`` of the source and one read. The file contains code that Python has compiled, and is beside Python's
own compiled files; a module that is missing in it, or whose source has changed, is imported as usual. Modules
that are imported together are stored together, as a group, in the order of their execution, so that each
finds what it imports. Why: docs/decisions/0023-code-cache.md.
"""

from __future__ import annotations

import marshal
import os
import sys
from _frozen_importlib import ModuleSpec  # importlib.machinery has them, too, but is one more module to find
from _frozen_importlib_external import MAGIC_NUMBER, PathFinder, SourceFileLoader
from _imp import _fix_co_filename  # type: ignore[attr-defined]
from _thread import _count as other_threads
from types import ModuleType

TYPE_CHECKING = False  # that of ``typing``, which is imported later
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import CodeType

OURS = "saltern"
KIND = b"saltern code 3\n" + MAGIC_NUMBER  # the beginning of the file
HEAD = len(KIND) + 16  # with the lengths of the index, which follows, and of the file
GARBLED = (ValueError, EOFError, TypeError)  # in the format of marshal
LEAST = 4  # modules of a group

Identity = tuple[int, int, int, int]  # of a source: inode, size, and the times of two kinds of changes
# Where the code begins, and its length; whether it is a package; its source.
Entry = tuple[int, int, bool, Identity]
Member = tuple[str, bool, Identity, "CodeType"]  # of a group: its name, the same two, its code
NOTHING: Identity = (0, 0, 0, 0)


class Module(ModuleType):
    """A module that raises at once for an attribute that it does not have.

    ``from … import …`` asks every module whether it is a package. Up to Python 3.11, a module that is none
    creates two messages about it, which are discarded.
    """

    if sys.version_info < (3, 12):
        __getattribute__ = object.__getattribute__


class CodeCache:
    """Finds modules for ``import``, before all other finders."""

    def __init__(self, path: str, above: str, ending: str) -> None:
        self.path = path
        self._above = above  # the directory that our package is in
        self._ending = ending  # of the names of Python's compiled files
        self._file = self._begin = -1
        self._is = (0, 0)
        self.index: dict[str, Entry] = {}
        self.groups: dict[str, tuple[int, int]] = {}  # where the group of a module begins, and its length
        self.missing: list[Loader] = []  # of modules that are not stored yet
        self.found: dict[str, list[str]] = {}  # groups that are not stored yet
        self._executed: list[str] = []  # by the outermost import, in the order of their ends
        self._depth = 0  # imports that are under way, one within the other
        self._open()

    def _open(self) -> None:
        """Open the file; ignore it if it is missing, incomplete or from another Python."""
        try:
            self._file = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
            found = os.fstat(self._file)
            head = os.pread(self._file, HEAD, 0)
            index, whole = (int.from_bytes(head[at : at + 8]) for at in (HEAD - 16, HEAD - 8))
            if head.startswith(KIND) and whole == found.st_size:
                self.index, self.groups = marshal.loads(os.pread(self._file, index, HEAD))
                self._begin, self._is = HEAD + index, (found.st_dev, found.st_ino)
        except (OSError, *GARBLED):
            pass

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        found = self.index.get(name)
        if found is None:
            return self._find_and_note(name, path) if name.startswith(OURS) else None
        is_package, source = found[2:]
        file = self.source(name, is_package)
        if identity(file) != source:
            return self._find_and_note(name, path)
        code = None
        if name in self.groups and not self._depth and not other_threads():
            code = self._execute_group(name)
        return self._spec(name, file, is_package, code or self.code(*found[:2]))

    def _find_and_note(self, name: str, path: Sequence[str] | None) -> ModuleSpec | None:
        """Find a module as Python does, and note it for the file if it is in our package."""
        spec = PathFinder.find_spec(name, path)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            is_package = spec.submodule_search_locations is not None
            if spec.origin == self.source(name, is_package):
                spec.loader = Loader(name, spec.origin, b"", self)
        return spec

    def _spec(self, name: str, file: str, is_package: bool, code: bytes | CodeType) -> ModuleSpec:
        folder, _, base = file.rpartition("/")
        spec = ModuleSpec(name, Loader(name, file, code, self), origin=file)
        spec.has_location = True
        spec.cached = f"{folder}/__pycache__/{base.removesuffix('.py')}.{self._ending}"
        spec.submodule_search_locations = [folder] if is_package else None
        return spec

    def code(self, begin: int, size: int) -> bytes:
        """The code at an offset; empty in a process that has closed the file, whose descriptor may be
        reused.
        """
        try:
            found = os.fstat(self._file)
            is_ours = (found.st_dev, found.st_ino) == self._is
            return os.pread(self._file, size, self._begin + begin) if is_ours else b""
        except OSError:
            return b""

    def _execute_group(self, name: str) -> CodeType | None:
        """Import what the module will import, and return its own code. None: it has to import them itself."""
        try:
            members: list[Member] = marshal.loads(self.code(*self.groups[name]))
        except GARBLED:
            members = []
        if not members or any(identity(self.source(*one[:2])) != one[2] for one in members):
            del self.groups[name]
            return None
        *others, (_, _, _, code) = members
        self._depth += 1
        for module, is_package, _, its_code in others:
            if module not in sys.modules and not self._execute(module, is_package, its_code):
                break
        self._depth -= 1
        return code

    def _execute(self, name: str, is_package: bool, code: CodeType) -> bool:
        """Execute a module whose imports are already loaded. False if that cannot be done."""
        above, _, last = name.rpartition(".")
        if above not in sys.modules:
            return False
        file = self.source(name, is_package)
        spec = self._spec(name, file, is_package, code)
        spec._initializing = False  # type: ignore[attr-defined]  # asked for by each ``import`` of it
        _fix_co_filename(code, file)
        module = Module(name)
        names = {"__file__": file, "__cached__": spec.cached, "__spec__": spec, "__loader__": spec.loader}
        vars(module).update(names, __package__=name if is_package else above)
        if is_package:
            vars(module)["__path__"] = spec.submodule_search_locations
        sys.modules[name] = module
        try:
            exec(code, module.__dict__)
        except Exception:  # the import that needs it shows why
            del sys.modules[name]
            return False
        _settle(module)
        setattr(sys.modules[above], last, module)
        return True

    def execute(self, module: ModuleType, loader: Callable[[ModuleType], None]) -> None:
        """Execute a module, and note what it imports."""
        self._depth += 1
        try:
            loader(module)
        finally:
            self._depth -= 1
        _settle(module)
        self._executed.append(module.__name__)
        if not self._depth:
            executed, self._executed = self._executed, []
            if len(executed) >= LEAST and module.__name__ not in self.groups:
                self.found[module.__name__] = executed

    def source(self, name: str, is_package: bool) -> str:
        return f"{self._above}/{name.replace('.', '/')}{'/__init__' if is_package else ''}.py"

    @property
    def is_complete(self) -> bool:
        """True if the file has everything that this process has imported, or if it may not be written."""
        return sys.dont_write_bytecode or not (self.missing or self.found)


class Loader(SourceFileLoader):
    """Python's loader, except that the code comes from the cache if it has the module."""

    def __init__(self, name: str, file: str, code: bytes | CodeType, cache: CodeCache) -> None:
        super().__init__(name, file)
        self._code: bytes | CodeType | None = code
        self._cache = cache

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return Module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        self._cache.execute(module, super().exec_module)

    def get_code(self, fullname: str) -> CodeType | None:
        """The code of a module; from Python's cache if it is asked for again."""
        code, self._code = self._code, None
        if code is None:
            return super().get_code(fullname)
        try:
            found: CodeType = marshal.loads(code) if isinstance(code, bytes) else code
        except GARBLED:
            self._cache.missing.append(self)
            return super().get_code(fullname)
        _fix_co_filename(found, self.path)  # it may have been compiled, or the package moved, elsewhere
        return found


def _settle(module: ModuleType) -> None:
    """Let a module that has its own ``__getattr__`` use it."""
    if "__getattr__" in vars(module):
        module.__class__ = ModuleType


def identity(file: str) -> Identity:
    """A value that changes with the file, or when another file takes its name."""
    try:
        found = os.stat(file)
    except OSError:
        return NOTHING
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def install(command: str) -> CodeCache | None:
    """Use the cache for our modules from now on. None if Python keeps no compiled files beside our sources.

    Each command has its own file, since it is read at every start, and its groups are the imports of that
    command.
    """
    spec = __spec__
    if type(spec.loader) is not SourceFileLoader or not spec.cached or sys.pycache_prefix is not None:
        return None
    above = __file__.removesuffix(f"/{__name__.replace('.', '/')}.py")
    ending = os.path.basename(spec.cached).partition(".")[2]
    base = f"{above}/{OURS}/__pycache__/{OURS}.{ending.removesuffix('pyc')}"
    module = command.replace("-", "_")
    is_one = module.isidentifier() and os.path.exists(f"{above}/{OURS}/cli/{module}.py")
    cache = CodeCache(f"{base}{module}.code" if is_one else f"{base}code", above, ending)
    sys.meta_path.insert(0, cache)
    return cache
