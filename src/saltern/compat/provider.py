"""The modules in the directories of one origin, which the registry looks up by kind and name."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from saltern.compat.adapt import present_as
from saltern.compat.index import Index, files, index
from saltern.compat.loader import Loaded, Unavailable, load

if TYPE_CHECKING:
    from saltern.compat.library import Library


class Shelf:
    """``directories`` of a kind, in order of precedence; ``provider`` is part of every result, if set."""

    def __init__(
        self,
        library: Library,
        directories: Callable[[str], Sequence[str]],
        *,
        provider: str = "",
        cache: Callable[[], str] = str,
    ) -> None:
        self._library = library
        self._directories = directories
        self._provider = provider
        self._cache = cache
        self._indexes: dict[str, Index] = {}
        self._files: dict[tuple[str, str], Loaded | Unavailable] = {}
        self._modules: dict[tuple[str, str], ModuleType | None] = {}
        self._reasons: dict[tuple[str, str], list[str]] = {}

    def module(self, kind: str, name: str) -> ModuleType | None:
        key = (kind, name)
        if key not in self._modules:
            self._modules[key] = None  # a module that looks itself up while it is loaded finds nothing
            self._modules[key] = self._first_module(kind, name)
        return self._modules[key]

    def member(self, kind: str, name: str) -> Any:
        """One function by its full name, or None."""
        module, _, fun = name.partition(".")
        found = self.module(kind, module)
        return vars(found).get(fun) if found is not None and not fun.startswith("_") else None

    def names(self, kind: str) -> list[str]:
        return sorted(self._index(kind))

    def why(self, kind: str, name: str) -> str:
        return "; ".join(self._reasons.get((kind, name), ()))

    def usable_modules(self, kind: str) -> list[Loaded]:
        """Every module of a kind that can be used; ``why`` explains those that cannot."""
        paths = {path: name for name, found in self._index(kind).items() for path in found[:1]}
        every = (self._load(kind, name, path) for path, name in sorted(paths.items()))
        return [one for one in every if isinstance(one, Loaded)]

    def unusable(self, kind: str) -> list[str]:
        """Why requested files of a kind could not be loaded; those that refused are left out."""
        every = [one for (other, _), one in self._files.items() if other == kind]
        return [str(one) for one in every if isinstance(one, Unavailable) and not one.refused]

    def forget(self) -> None:
        """Forget refusals, since a missing dependency may be installed now; loaded modules stay."""
        self._indexes.clear()
        self._reasons.clear()
        self._modules = {key: module for key, module in self._modules.items() if module is not None}
        self._files = {key: one for key, one in self._files.items() if isinstance(one, Loaded)}

    def _first_module(self, kind: str, name: str) -> ModuleType | None:
        """The first file that accepts the name. A broken one hides those after it, and its error is
        reported.
        """
        for path in self._candidates(kind, name):
            one = self._load(kind, name, path)
            if isinstance(one, Unavailable):
                if one.broken and not self._provider:
                    return _broken_module(name)
            elif name in one.names:
                return present_as(self._library, one, kind)
        return None

    def _load(self, kind: str, name: str, path: str) -> Loaded | Unavailable:
        key = (kind, path)
        if key not in self._files:
            try:
                self._files[key] = load(self._library, path, kind, provider=self._provider)
            except Unavailable as problem:
                self._files[key] = problem
        one = self._files[key]
        if isinstance(one, Unavailable):
            reasons = self._reasons.setdefault((kind, name), [])
            reasons += [str(one)] if str(one) not in reasons else []
        return one

    def _candidates(self, kind: str, name: str) -> list[str]:
        """The candidates, those that the configuration prefers (``providers: {pkg: aptpkg}``) first."""
        found = self._index(kind).get(name, [])
        preferred = self._library.preferred_provider(name)
        if kind != "functions" or not preferred:
            return found
        return sorted(found, key=lambda path: os.path.basename(path) != f"{preferred}.py")

    def _index(self, kind: str) -> Index:
        if kind not in self._indexes:
            whole: Index = {}
            taken: set[str] = set()
            for directory in self._directories(kind):
                seen = index(directory, self._cache())
                hidden = {path for name, path in files(directory) if name in taken}
                for name, paths in seen.items():
                    whole.setdefault(name, []).extend(path for path in paths if path not in hidden)
                taken.update(name for name, _ in files(directory))
            self._indexes[kind] = {name: paths for name, paths in whole.items() if paths}
        return self._indexes[kind]


def _broken_module(name: str) -> ModuleType:
    module = ModuleType(f"saltern.compat.broken.{name}")
    vars(module)["BROKEN"] = True
    return module
