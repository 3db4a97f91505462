"""The types of package managers, for states and functions."""

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

    ``newest`` means that the version is only the newest known one, and any newer one is accepted.
    """

    name: str
    version: str = ""
    path: str = ""
    newest: bool = False


class How(Struct, frozen=True, kw_only=True):
    """The options of a transaction."""

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
    """The versions of a package in the repositories: the manager's choice, and all of them."""

    candidate: str
    versions: tuple[str, ...] = ()


class Manager(Protocol):
    """A package manager. All methods raise ``PackageError`` with a message for the user."""

    name: str
    holds: Holds
    contents: Contents
    groups: Groups

    def listing(self) -> Listing:
        """The installed packages."""
        ...

    def leftovers(self) -> Listing:
        """The packages that were removed but left their configuration."""
        ...

    def provided_names(self) -> frozenset[str]:
        """The names that installed packages provide."""
        ...

    def offers(self, names: Sequence[str], how: How = PLAIN) -> dict[str, Offer]:
        """The available versions, from the repositories of ``how``; unknown names are left out."""
        ...

    def foresee(self, order: Order) -> dict[str, object]:
        """The changes that ``carry_out`` would make; nothing is changed."""
        ...

    def carry_out(self, order: Order) -> None: ...

    def fetched(self, item: Item) -> bool:
        """True if the package file is in the cache."""
        ...

    def refresh(self, *, trust: bool = False) -> None:
        """Update the package lists; ``trust`` also accepts new signing keys."""
        ...

    def refreshed_at(self) -> float:
        """When the package lists were last updated, in seconds since the epoch; 0 if unknown."""
        ...

    def compare(self, one: str, other: str) -> int:
        """Compare two versions: negative, zero or positive."""
        ...

    def inspect(self, path: str) -> Item:
        """The name and version of a package file."""
        ...

    def plain_name(self, name: str) -> str:
        """The name in listings: without the architecture of the machine."""
        ...


class Holds(Protocol):
    """The held packages of a manager."""

    def held_names(self) -> frozenset[str]: ...

    def why_not(self, names: Sequence[str] = ()) -> str:
        """Why this manager cannot hold packages, or not those of these names; empty if it can."""
        ...

    def hold(self, names: Sequence[str], *, on: bool) -> None: ...


class Contents(Protocol):
    """The files and data of installed packages."""

    def files(self, names: Sequence[str]) -> dict[str, list[str]]: ...

    def owner(self, path: str) -> str:
        """The package that a file belongs to; empty if there is none."""
        ...

    def info(self, names: Sequence[str]) -> dict[str, dict[str, str]]:
        """The data of packages, by Salt's keys."""
        ...


class Groups(Protocol):
    """Groups of packages."""

    def find(self, name: str) -> Group | None: ...

    def all(self) -> dict[str, list[str]]:
        """All groups, as ``available``, ``installed`` …"""
        ...


class NoGroups:
    """For a manager without groups."""

    def __init__(self, manager: str) -> None:
        self._why = f"{manager} has no groups of packages; name a metapackage with pkg.installed instead"

    def find(self, name: str) -> Group | None:  # noqa: ARG002
        raise PackageError(self._why)

    def all(self) -> dict[str, list[str]]:
        raise PackageError(self._why)


class Group(Struct, frozen=True, kw_only=True):
    """A package group; a group of dnf may consist of other ``groups`` (an environment)."""

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
    """The changes of the packages, in Salt's form."""
    return {
        name: change(before.get(name, ""), after.get(name, ""))
        for name in sorted({*before, *after})
        if before.get(name, "") != after.get(name, "")
    }


def collect_listing(pairs: Iterable[tuple[str, str]]) -> Listing:
    """A listing from pairs in which a name may occur several times, such as kernels."""
    found: Listing = {}
    for name, version in pairs:
        found[name] = f"{found[name]},{version}" if name in found else version
    return found
