"""The ``import`` statement of Salt-style modules.

Each module gets its own, among its builtins, so nothing is added to ``sys.modules`` or ``sys.path``:
``salt.…`` comes from an installed Salt or else from ``compat.shim``. Modules that Python does not find are
searched for beside the module and in the ``_utils``, and are loaded anew for each run.
"""

from __future__ import annotations

import builtins
import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from saltern.compat.library import Library

SHIM = "saltern.compat.shim"


def builtins_for(library: Library, path: str) -> dict[str, Any]:
    return {**vars(builtins), "__import__": _Importer(library, path)}


class _Importer:
    def __init__(self, library: Library, path: str) -> None:
        self._library = library
        self._directory = os.path.dirname(path)

    def __call__(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        if level:
            return self._relative(name, fromlist or (), level)
        if (name == "salt" or name.startswith("salt.")) and not self._library.salt.directory:
            return import_shim(name, fromlist or ())
        try:
            return builtins.__import__(name, globals, locals, fromlist or (), 0)
        except ModuleNotFoundError as problem:
            top, _, rest = name.partition(".")
            if problem.name != top:
                raise
            found = self._beside(top)
            if found is None:
                raise
            return _descend(self._library, found, rest, bool(fromlist))

    def _beside(self, name: str) -> ModuleType | None:
        for directory in (self._directory, *self._library.utility_directories):
            found = file_of(directory, name)
            if found is not None:
                return self._library.import_file(found)
        return None

    def _relative(self, name: str, fromlist: Sequence[str], level: int) -> ModuleType:
        directory = self._directory
        for _ in range(level - 1):
            directory = os.path.dirname(directory)
        parts = name.split(".") if name else []
        package = os.path.join(directory, *parts)
        found = file_of(os.path.dirname(package), os.path.basename(package))
        if found is None:
            raise ModuleNotFoundError(f"no module {name!r} exists beside {self._directory}", name=name)
        module = self._library.import_file(found)
        for wanted in fromlist:
            if not hasattr(module, wanted) and (inner := file_of(package, wanted)) is not None:
                setattr(module, wanted, self._library.import_file(inner))
        return module


def _descend(library: Library, module: ModuleType, rest: str, innermost: bool) -> ModuleType:
    """``import a.b.c`` gives ``a``; ``from a.b.c import …`` needs ``c``."""
    inner = module
    for part in rest.split(".") if rest else ():
        found = file_of(os.path.dirname(str(inner.__file__)), part)
        if found is None:
            raise ModuleNotFoundError(f"there is no module {part!r} in {inner.__file__}", name=part)
        setattr(inner, part, library.import_file(found))
        inner = getattr(inner, part)
    return inner if innermost else module


def file_of(directory: str, name: str) -> str | None:
    """The file of a module or package in a directory."""
    for path in (os.path.join(directory, f"{name}.py"), os.path.join(directory, name, "__init__.py")):
        if os.path.isfile(path):
            return path
    return None


def import_shim(name: str, fromlist: Sequence[str]) -> ModuleType:
    """Import ``salt.…`` without Salt. For a missing module, the error says what to do."""
    try:
        module = import_module(SHIM + name[4:])
    except ModuleNotFoundError as problem:
        if not (problem.name or "").startswith(SHIM):
            raise
        raise ModuleNotFoundError(
            f"saltern does not include {name!r}; modules that need it work if Salt is installed as well",
            name=name,
        ) from None
    for wanted in fromlist:
        if not hasattr(module, wanted) and hasattr(module, "__path__"):
            try:
                import_module(f"{module.__name__}.{wanted}")
            except ModuleNotFoundError:
                continue  # the statement itself raises
    return module if fromlist else import_module(SHIM)
