"""What dnf, yum and zypper share: the database of rpm."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import cmp_to_key

from msgspec import Struct

from saltern.modules.lib.packages.model import (
    Contents,
    Item,
    Listing,
    Offer,
    change,
    collect_listing,
    difference,
)
from saltern.modules.lib.packages.tool import Tool
from saltern.modules.lib.packages.versions import bare, rpm_compare
from saltern.system.clock import Clock
from saltern.system.host import Host

EVR = "%|EPOCH?{%{EPOCH}:}:{}|%{VERSION}-%{RELEASE}"
FIELDS = rf"%{{NAME}}\t{EVR}\t%{{ARCH}}\n"
KNOWN = {
    "name": "%{NAME}",
    "version": EVR,
    "arch": "%{ARCH}",
    "description": "%{SUMMARY}",
    "group": "%{GROUP}",
    "packager": "%{PACKAGER}",
    "size": "%{SIZE}",
    "source": "%{SOURCERPM}",
    "url": "%{URL}",
    "license": "%{LICENSE}",
    "vendor": "%{VENDOR}",
}
NOT_SET = "(none)"
CACHES = ("/var/cache/dnf", "/var/cache/libdnf5", "/var/cache/yum", "/var/cache/zypp/packages")
NO_KEYS = "gpg-pubkey"  # imported keys are listed as packages
ARCHES = frozenset(
    {"noarch", "x86_64", "x86_64_v2", "x86_64_v3", "i386", "i486", "i586", "i686", "aarch64", "riscv64"}
    | {"armv6hl", "armv7hl", "armv7l", "ppc", "ppc64", "ppc64le", "s390", "s390x"}
)


class Rpm:
    """Read the database of packages; subclasses fetch and install them."""

    def __init__(self, host: Host, clock: Clock) -> None:
        self.tool = Tool(host, clock)
        self.contents: Contents = RpmContents(self)
        self._native = ""

    @property
    def native(self) -> str:
        # Not %{_arch}: that is i386 where packages are i686.
        self._native = self._native or self.tool.ask("rpm", "--eval", "%{_target_cpu}").strip()
        return self._native

    def listing_name(self, name: str, arch: str) -> str:
        """The name of a package in listings."""
        return name if arch in ("noarch", NOT_SET, "", self.native) else f"{name}.{arch}"

    def listing(self) -> Listing:
        rows = [line.split("\t") for line in self.tool.ask("rpm", "-qa", "--qf", FIELDS).splitlines()]
        return collect_listing(
            sorted((self.listing_name(row[0], row[2]), row[1]) for row in rows if row[0] != NO_KEYS)
        )

    def leftovers(self) -> Listing:
        return {}  # rpm keeps no record of removed packages

    def provided_names(self) -> frozenset[str]:
        return frozenset(self.tool.ask("rpm", "-qa", "--qf", r"[%{PROVIDENAME}\n]").split())

    def fetched(self, item: Item) -> bool:
        name, arch = split_name(item.name)
        start, end = f"{name}-{bare(item.version)}.", f"{arch}.rpm"
        files = (file for top in CACHES for _, _, found in os.walk(top) for file in found)
        return any(file.startswith(start) and file.endswith(end) for file in files)

    def compare(self, one: str, other: str) -> int:
        return rpm_compare(one, other)

    def inspect(self, path: str) -> Item:
        name, version, arch = self.tool.ask("rpm", "-qp", "--qf", FIELDS, "--", path).strip().split("\t")
        return Item(self.listing_name(name, arch), version, path)

    def plain_name(self, name: str) -> str:
        base, arch = split_name(name)
        return base if arch in (self.native, "noarch") else name

    def _offers(self, pairs: Iterable[tuple[str, str]]) -> dict[str, Offer]:
        """Names with their available versions, the newest first."""
        found: dict[str, set[str]] = {}
        for name, version in pairs:
            found.setdefault(name, set()).add(version)
        newest_first = {
            name: tuple(sorted(versions, key=cmp_to_key(self.compare), reverse=True))
            for name, versions in found.items()
        }
        return {name: Offer(versions[0], versions) for name, versions in newest_first.items()}


class RpmContents:
    """Files and fields of installed packages."""

    def __init__(self, database: Rpm) -> None:
        self._called = database.listing_name
        self._tool = database.tool

    def files(self, names: Sequence[str]) -> dict[str, list[str]]:
        return {name: _paths(self._tool.ask("rpm", "-ql", "--", name)) for name in names}

    def owner(self, path: str) -> str:
        ran = self._tool.run(["rpm", "-qf", "--qf", FIELDS, "--", path])
        name, _, arch = (ran.out.split("\n")[0] if ran.code == 0 else "\t\t").split("\t")
        return self._called(name, arch)

    def info(self, names: Sequence[str]) -> dict[str, dict[str, str]]:
        form = r"\t".join(KNOWN.values()) + r"\n"
        rows = self._tool.ask("rpm", "-q", "--qf", form, "--", *names).splitlines()
        found: dict[str, dict[str, str]] = {}
        for row in rows:
            values = dict(zip(KNOWN, row.split("\t"), strict=False))
            name = self._called(values.pop("name"), values.get("arch", ""))
            found[name] = {key: value for key, value in values.items() if value not in ("", NOT_SET)}
        return found


def _paths(text: str) -> list[str]:
    """The paths, without rpm's note for a package without files."""
    return [line for line in text.splitlines() if line.startswith("/")]


# -- names -------------------------------------------------------------------------------------


def split_name(name: str) -> tuple[str, str]:
    """The name and architecture of ``glibc.i686``; ``python3.11`` has no architecture."""
    base, dot, arch = name.rpartition(".")
    return (base, arch) if dot and arch in ARCHES else (name, "")


def nevra(item: Item) -> str:
    """An exact package in dnf's form: the architecture comes after the version."""
    if item.path or not item.version:
        return item.path or item.name
    name, arch = split_name(item.name)
    return f"{name}-{item.version}.{arch}" if arch else f"{name}-{item.version}"


# -- what a transaction would do -----------------------------------------------------------------


class Step(Struct, frozen=True):
    """One row of a plan. ``kind`` is add, replace, again or remove; the name is as the listing has it."""

    kind: str
    name: str
    version: str


# A package of which several versions may be installed (a kernel) is added to, not replaced.
EFFECT: dict[str, Callable[[list[str], str], list[str]]] = {
    "add": lambda have, version: [*have, version],
    "replace": lambda _, version: [version],
    "again": lambda have, _: have,
    "remove": lambda have, version: [one for one in have if one != version],
}


def foreseen_changes(before: Listing, steps: Iterable[Step]) -> dict[str, object]:
    """The changes that these steps would make to a listing."""
    after = {name: versions.split(",") for name, versions in before.items()}
    again: dict[str, object] = {}
    for step in steps:
        after[step.name] = EFFECT[step.kind](after.get(step.name, []), step.version)
        if step.kind == "again":
            again[step.name] = change(before.get(step.name, ""), before.get(step.name, ""))
    joined = {name: ",".join(sorted(versions)) for name, versions in after.items()}
    return dict(sorted({**difference(before, joined), **again}.items()))
