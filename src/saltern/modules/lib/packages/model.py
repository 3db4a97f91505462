"""The words in which states talk to a package manager."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from saltern.modules.api.params import BadArgument

Listing = dict[str, str]  # name → version; several versions are joined by commas, as in Salt


class PackageError(BadArgument):
    """The package manager refused, or cannot do it; the text is for the user."""


class Item(Struct, frozen=True):
    """A package to act on; with ``version`` exactly that one, with ``path`` from that file.

    ``newest`` says that the version is only the newest there is, and any newer one will do.
    """

    name: str
    version: str = ""
    path: str = ""
    newest: bool = False


class How(Struct, frozen=True, kw_only=True):
    """What else is said about a transaction."""

    fromrepo: str = ""
    enablerepo: tuple[str, ...] = ()
    disablerepo: tuple[str, ...] = ()
    skip_verify: bool = False
    install_recommends: bool = True
    only_upgrade: bool = False
    change_held: bool = False
    new_config: bool = False
    whole_system: bool = False  # an upgrade may add and remove packages (``dist-upgrade``)


PLAIN = How()


class Order(Struct, frozen=True):
    """One transaction.

    ``verb`` is install, reinstall, download, remove, purge, upgrade, autoremove or autopurge.
    Items to download have a version, and may be installed in it already.
    """

    verb: str
    items: tuple[Item, ...] = ()
    how: How = PLAIN


class Offer(Struct, frozen=True):
    """What the repositories have of a package: what the manager would take, and all there is."""

    candidate: str
    versions: tuple[str, ...] = ()


class Manager(Protocol):
    """One package manager. Everything raises ``PackageError`` in words for the user."""

    name: str
    holds: Holds
    contents: Contents
    groups: Groups

    def listing(self) -> Listing:
        """What is installed."""
        ...

    def leftovers(self) -> Listing:
        """What was removed, but left its configuration behind."""
        ...

    def provided(self) -> frozenset[str]:
        """Names that installed packages stand in for."""
        ...

    def offers(self, names: Sequence[str], how: How = PLAIN) -> dict[str, Offer]:
        """What can be had, from the repositories ``how`` names; an unknown name is not among the keys."""
        ...

    def foresee(self, order: Order) -> dict[str, object]:
        """The changes ``carry_out`` would make; nothing is touched."""
        ...

    def carry_out(self, order: Order) -> None: ...

    def fetched(self, item: Item) -> bool:
        """True if the package file is in the cache."""
        ...

    def refresh(self, *, trust: bool = False) -> None:
        """Fetch the lists of packages again; ``trust`` also takes new keys that sign them."""
        ...

    def refreshed_at(self) -> float:
        """When that was done last, in seconds since the epoch; 0 if that is not known."""
        ...

    def compare(self, one: str, other: str) -> int:
        """Negative, zero or positive, as the versions of this manager are ordered."""
        ...

    def inspect(self, path: str) -> Item:
        """Name and version of a package file."""
        ...

    def plain_name(self, name: str) -> str:
        """The name as the listing has it: without the architecture of the machine."""
        ...


class Holds(Protocol):
    """The packages that a manager leaves as they are."""

    def held(self) -> frozenset[str]: ...

    def why_not(self) -> str:
        """What keeps this manager from holding packages; empty if nothing does."""
        ...

    def hold(self, names: Sequence[str], *, on: bool) -> None: ...


class Contents(Protocol):
    """What is known of installed packages."""

    def files(self, names: Sequence[str]) -> dict[str, list[str]]: ...

    def owner(self, path: str) -> str:
        """The package a file belongs to; empty if none."""
        ...

    def info(self, names: Sequence[str]) -> dict[str, dict[str, str]]:
        """What the manager knows of packages, in Salt's keys."""
        ...


class Groups(Protocol):
    """Groups of packages."""

    def find(self, name: str) -> Group | None: ...

    def all(self) -> dict[str, list[str]]:
        """The groups there are, as ``available``, ``installed`` …"""
        ...


class NoGroups:
    """Of a manager that has none."""

    def __init__(self, manager: str) -> None:
        self._why = f"{manager} has no groups of packages; name a metapackage with pkg.installed instead"

    def find(self, name: str) -> Group | None:  # noqa: ARG002
        raise PackageError(self._why)

    def all(self) -> dict[str, list[str]]:
        raise PackageError(self._why)


class Group(Struct, frozen=True, kw_only=True):
    """A group of packages; one of dnf may be made of other ``groups`` (an environment)."""

    title: str
    id: str = ""
    description: str = ""
    mandatory: tuple[str, ...] = ()
    default: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    conditional: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    optional_groups: tuple[str, ...] = ()


def change(old: str, new: str) -> dict[str, str]:
    return {"old": old, "new": new}


def difference(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, object]:
    """What became of the packages, in Salt's shape."""
    return {
        name: change(before.get(name, ""), after.get(name, ""))
        for name in sorted({*before, *after})
        if before.get(name, "") != after.get(name, "")
    }


def collected(pairs: Iterable[tuple[str, str]]) -> Listing:
    """A listing of names that may come several times (kernels do)."""
    found: Listing = {}
    for name, version in pairs:
        found[name] = f"{found[name]},{version}" if name in found else version
    return found
