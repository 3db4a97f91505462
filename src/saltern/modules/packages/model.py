"""The words in which states talk to a package manager."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from saltern.modules.params import BadArgument

Listing = dict[str, str]  # name → version; several versions are joined by commas, as in Salt


class PackageError(BadArgument):
    """The package manager refused, or cannot do it; the text is for the user."""


class Item(Struct, frozen=True):
    """A package to act on; with ``version`` exactly that one, with ``path`` from that file."""

    name: str
    version: str = ""
    path: str = ""


class How(Struct, frozen=True, kw_only=True):
    """What else is said about a transaction. None leaves it to the manager's own settings."""

    fromrepo: str = ""
    enablerepo: tuple[str, ...] = ()
    disablerepo: tuple[str, ...] = ()
    skip_verify: bool = False
    install_recommends: bool = True
    only_upgrade: bool = False
    change_held: bool = False
    new_config: bool = False
    whole_system: bool = False  # an upgrade may add and remove packages (``dist-upgrade``)
    fetch_only: bool = False


PLAIN = How()


class Order(Struct, frozen=True):
    """One transaction. ``verb`` is install, reinstall, remove, purge, upgrade, autoremove or autopurge."""

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

    def listing(self) -> Listing:
        """What is installed."""
        ...

    def leftovers(self) -> Listing:
        """What was removed, but left its configuration behind."""
        ...

    def provided(self) -> frozenset[str]:
        """Names that installed packages stand in for."""
        ...

    def offers(self, names: Sequence[str], fromrepo: str = "") -> dict[str, Offer]:
        """What can be had; a name nobody knows is not among the keys."""
        ...

    def foresee(self, order: Order) -> dict[str, object]:
        """The changes ``carry_out`` would make; nothing is touched."""
        ...

    def carry_out(self, order: Order) -> None: ...

    def fetched(self, item: Item) -> bool:
        """Whether the package file is in the cache."""
        ...

    def refresh(self) -> None:
        """Fetch the lists of packages again."""
        ...

    def refreshed_at(self) -> float:
        """When that was done last, in seconds since the epoch; 0 if nobody knows."""
        ...

    def held(self) -> frozenset[str]: ...

    def set_hold(self, names: Sequence[str], *, on: bool) -> None: ...

    def compare(self, one: str, other: str) -> int:
        """Negative, zero or positive, as the versions of this manager are ordered."""
        ...

    def inspect(self, path: str) -> Item:
        """Name and version of a package file."""
        ...

    def plain_name(self, name: str) -> str:
        """The name as the listing has it: without the architecture of the machine."""
        ...

    def files(self, names: Sequence[str]) -> dict[str, list[str]]:
        """The files of installed packages."""
        ...

    def owner(self, path: str) -> str:
        """The installed package a file belongs to; empty if none."""
        ...

    def info(self, names: Sequence[str]) -> dict[str, dict[str, str]]:
        """What the manager knows of installed packages, in Salt's keys."""
        ...

    def group(self, name: str) -> Group | None:
        """A group of packages, or None where there is none of that name."""
        ...


class Group(Struct, frozen=True, kw_only=True):
    mandatory: tuple[str, ...] = ()
    default: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


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
