"""dpkg, below apt: installed packages, holds, and contents of packages."""

from __future__ import annotations

from collections.abc import Sequence

from saltern.modules.lib.packages.model import Item, Listing, collect_listing
from saltern.modules.lib.packages.tool import Tool, why

FIELDS = r"${Package}\t${Version}\t${Architecture}\t${db:Status-Status}\t${Provides}\n"
SELECTED = r"${Package}\t${Architecture}\t${db:Status-Want}\t${db:Status-Status}\n"
KNOWN = {
    "version": "Version",
    "arch": "Architecture",
    "description": "binary:Summary",
    "group": "Section",
    "packager": "Maintainer",
    "size": "Installed-Size",
    "source": "Source",
    "url": "Homepage",
    "name": "Package",
}


class Dpkg:
    """Read the database of packages."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        self._native = ""

    @property
    def native(self) -> str:
        self._native = self._native or self.tool.ask("dpkg", "--print-architecture").strip()
        return self._native

    def _rows(self) -> list[list[str]]:
        return [line.split("\t") for line in self.tool.ask("dpkg-query", "-W", "-f", FIELDS).splitlines()]

    def listing_name(self, name: str, arch: str) -> str:
        """The name of a package in listings."""
        return name if arch in ("all", self.native, "") else f"{name}:{arch}"

    def listing(self) -> Listing:
        rows = self._rows()
        return collect_listing(
            (self.listing_name(row[0], row[2]), row[1]) for row in rows if row[3] == "installed"
        )

    def leftovers(self) -> Listing:
        return collect_listing(
            (self.listing_name(r[0], r[2]), r[1]) for r in self._rows() if r[3] == "config-files"
        )

    def provided_names(self) -> frozenset[str]:
        texts = [row[4] for row in self._rows() if row[3] == "installed" and row[4]]
        return frozenset(one.split()[0] for text in texts for one in text.split(","))

    def compare(self, one: str, other: str) -> int:
        if one == other:
            return 0
        ran = self.tool.run(["dpkg", "--compare-versions", one, "lt", other])
        if ran.code == 0:
            return -1
        return 0 if self.tool.run(["dpkg", "--compare-versions", one, "eq", other]).code == 0 else 1

    def inspect(self, path: str) -> Item:
        text = self.tool.ask("dpkg-deb", "-f", path, "Package", "Version", "Architecture")
        fields = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
        return Item(self.listing_name(fields["Package"], fields["Architecture"]), fields["Version"], path)

    def plain_name(self, name: str) -> str:
        base, colon, arch = name.partition(":")
        return self.listing_name(base, arch) if colon else name


class DpkgHolds:
    """Holds are selections of dpkg: of packages that are installed, or known from a repository."""

    def __init__(self, database: Dpkg) -> None:
        self._database = database
        self._tool = database.tool

    def held_names(self) -> frozenset[str]:
        # apt-mark would read the lists of all repositories for that.
        return frozenset(selections(self._database, "*").get("hold", ()))

    def why_not(self, names: Sequence[str] = ()) -> str:
        known = {name for some in selections(self._database).values() for name in some} if names else ()
        if not (left := [name for name in names if name not in known]):
            return ""
        argv = ("apt-mark", "--simulate", "hold", "--", *left)
        ran = self._tool.run(argv)
        return why(argv, ran) if ran.code else ""

    def hold(self, names: Sequence[str], *, on: bool) -> None:
        # dpkg passes over names that it does not know yet, and succeeds.
        self._tool.ask("apt-mark", "hold" if on else "unhold", "--", *names)


class DpkgContents:
    """Files and fields of installed packages."""

    def __init__(self, database: Dpkg) -> None:
        self._database = database
        self._tool = database.tool

    def files(self, names: Sequence[str]) -> dict[str, list[str]]:
        return {name: self._tool.ask("dpkg-query", "-L", name).splitlines() for name in names}

    def owner(self, path: str) -> str:
        ran = self._tool.run(["dpkg-query", "-S", path])
        name = ran.out.partition(": ")[0].partition(",")[0]
        return self._database.plain_name(name) if ran.code == 0 else ""

    def info(self, names: Sequence[str]) -> dict[str, dict[str, str]]:
        form = r"\t".join(f"${{{field}}}" for field in KNOWN.values()) + r"\t${db:Status-Status}\n"
        text = self._tool.ask("dpkg-query", "-W", "-f", form, *names)
        rows = [line.split("\t") for line in text.splitlines()]
        known = [dict(zip(KNOWN, row, strict=False)) for row in rows if row[-1] == "installed"]
        return {row.pop("name"): {key: value for key, value in row.items() if value} for row in known}


def selections(database: Dpkg, *patterns: str) -> dict[str, list[str]]:
    """The selections of dpkg (hold, install …); without patterns, those of what is or was installed."""
    found: dict[str, list[str]] = {}
    fine = (0, 1) if patterns else (0,)  # 1: no package matches, in a system without any
    for line in database.tool.ask("dpkg-query", "-W", "-f", SELECTED, *patterns, fine=fine).splitlines():
        name, arch, want, _ = line.split("\t")
        found.setdefault(want, []).append(database.listing_name(name, arch))
    return found
