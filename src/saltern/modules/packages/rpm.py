"""What dnf, yum and zypper share: the database of rpm."""

from __future__ import annotations

import os
from collections.abc import Sequence

from saltern.modules.packages.model import Item, Listing, collected
from saltern.modules.packages.tool import Tool
from saltern.modules.packages.versions import bare, rpm_compare
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
CACHES = ("/var/cache/dnf", "/var/cache/libdnf5", "/var/cache/yum", "/var/cache/zypp/packages")
NO_KEYS = "gpg-pubkey"  # imported keys are listed as packages


class Rpm:
    """The reading half of a manager; the other half is what fetches and decides."""

    def __init__(self, host: Host, clock: Clock) -> None:
        self.tool = Tool(host, clock)
        self._native = ""

    @property
    def native(self) -> str:
        self._native = self._native or self.tool.ask("rpm", "--eval", "%{_arch}").strip()
        return self._native

    def _called(self, name: str, arch: str) -> str:
        return name if arch in ("noarch", "(none)", "", self.native) else f"{name}.{arch}"

    def listing(self) -> Listing:
        rows = [line.split("\t") for line in self.tool.ask("rpm", "-qa", "--qf", FIELDS).splitlines()]
        return collected(sorted((self._called(row[0], row[2]), row[1]) for row in rows if row[0] != NO_KEYS))

    def leftovers(self) -> Listing:
        return {}  # rpm keeps no record of what it removed

    def provided(self) -> frozenset[str]:
        return frozenset(self.tool.ask("rpm", "-qa", "--qf", r"[%{PROVIDENAME}\n]").split())

    def fetched(self, item: Item) -> bool:
        start = f"{item.name}-{bare(item.version)}."
        return any(file.startswith(start) for top in CACHES for _, _, files in os.walk(top) for file in files)

    def compare(self, one: str, other: str) -> int:
        return rpm_compare(one, other)

    def inspect(self, path: str) -> Item:
        name, version, arch = self.tool.ask("rpm", "-qp", "--qf", FIELDS, "--", path).strip().split("\t")
        return Item(self._called(name, arch), version, path)

    def plain_name(self, name: str) -> str:
        base, dot, arch = name.rpartition(".")
        return base if dot and arch in (self.native, "noarch") else name

    def files(self, names: Sequence[str]) -> dict[str, list[str]]:
        return {name: self.tool.ask("rpm", "-ql", "--", name).splitlines() for name in names}

    def owner(self, path: str) -> str:
        ran = self.tool.run(["rpm", "-qf", "--qf", r"%{NAME}\n", "--", path])
        return ran.out.split("\n")[0] if ran.code == 0 else ""

    def info(self, names: Sequence[str]) -> dict[str, dict[str, str]]:
        form = r"\t".join(KNOWN.values()) + r"\n"
        rows = self.tool.ask("rpm", "-q", "--qf", form, "--", *names).splitlines()
        known = [dict(zip(KNOWN, row.split("\t"), strict=True)) for row in rows]
        return {row.pop("name"): {key: value for key, value in row.items() if value} for row in known}


def nevra(item: Item, separator: str = "-") -> str:
    """An exact package as dnf (``-``) or zypper (``=``) wants to read it."""
    if item.path or not item.version:
        return item.path or item.name
    return f"{item.name}{separator}{item.version}"
