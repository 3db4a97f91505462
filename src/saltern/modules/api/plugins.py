"""Modules of other Python packages, from the entry points of the group ``saltern.modules``.

``NAME = "package.module"``: its marked functions become the states and functions of the module ``NAME``. With
``states.NAME`` or ``functions.NAME``, it offers only one kind. Built-in modules win, so the
entry points are read only for names that are not built in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from importlib import import_module, invalidate_caches
from types import ModuleType

from msgspec import Struct

GROUP = "saltern.modules"
KINDS = ("states", "functions")


class Offer(Struct, frozen=True, order=True):
    """An entry point: the package and the module that it offers under a name."""

    module: str
    package: str


class Plugins:
    """Implements ``registry.Provider``. If two packages offer a name, neither is used."""

    def __init__(self) -> None:
        self._modules: dict[tuple[str, str], ModuleType | None] = {}
        self._reasons: dict[tuple[str, str], str] = {}

    def module(self, kind: str, name: str) -> ModuleType | None:
        key = (kind, name)
        if key not in self._modules:
            self._modules[key] = None
            self._modules[key] = self._import_plugin(kind, name)
        return self._modules[key]

    def names(self, kind: str) -> list[str]:
        return sorted(name for other, name in self.offers if other == kind)

    def why(self, kind: str, name: str) -> str:
        return self._reasons.get((kind, name), "")

    def forget(self) -> None:
        """Clear the cache: a package may have been installed."""
        if vars(self).pop("offers", None) is None:
            return
        invalidate_caches()
        self._reasons.clear()
        self._modules = {key: module for key, module in self._modules.items() if module is not None}

    def problems(self, built_in: Mapping[str, Iterable[str]]) -> Iterator[str]:
        """Offers that are not used: by two packages, or under the name of a built-in function."""
        for (kind, name), offers in sorted(self.offers.items()):
            if len(offers) > 1:
                yield _twice(kind, name, offers)
            elif name in built_in[kind]:
                what = f"the {_word(kind)} module {name!r} of {offers[0].package}"
                yield f"{what} is built in, too: only functions that the built-in one lacks are used"

    @cached_property
    def offers(self) -> dict[tuple[str, str], list[Offer]]:
        """The entry points of all packages by kind and name, read once."""
        from importlib.metadata import entry_points

        found: dict[tuple[str, str], dict[Offer, None]] = {}
        for one in entry_points(group=GROUP):
            package = f"{one.dist.name} {one.dist.version}" if one.dist else "a package without a name"
            for kind, name in _kinds(one.name):
                found.setdefault((kind, name), {})[Offer(one.value.partition(" ")[0], package)] = None
        return {key: sorted(some) for key, some in found.items()}

    def _import_plugin(self, kind: str, name: str) -> ModuleType | None:
        offers = self.offers.get((kind, name), [])
        if len(offers) > 1:
            self._reasons[kind, name] = _twice(kind, name, offers)
        if len(offers) != 1:
            return None
        try:
            return import_module(offers[0].module)
        except (Exception, SystemExit) as problem:  # foreign code must not end the run
            what = f"the {_word(kind)} module {name!r} of {offers[0].package} cannot be imported"
            self._reasons[kind, name] = f"{what}: {type(problem).__name__}: {problem}"
            return None


def _kinds(name: str) -> Iterator[tuple[str, str]]:
    kind, dot, rest = name.partition(".")
    if dot and kind in KINDS:
        yield kind, rest
    else:
        yield from ((one, name) for one in KINDS)


def _twice(kind: str, name: str, offers: list[Offer]) -> str:
    packages = ", ".join(one.package for one in offers)
    what = f"the {_word(kind)} module {name!r} is offered by {packages}"
    return f"{what}; none of them is used: uninstall all but one"


def _word(kind: str) -> str:
    return {"states": "state", "functions": "execution"}[kind]
