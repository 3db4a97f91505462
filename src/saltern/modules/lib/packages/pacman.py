"""pacman: Arch and its derivatives."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from saltern.modules.api.argv import vector
from saltern.modules.lib.packages.model import (
    PLAIN,
    Contents,
    Group,
    Groups,
    Holds,
    How,
    Item,
    Listing,
    Offer,
    Order,
    PackageError,
    change,
    collect_listing,
)
from saltern.modules.lib.packages.pacman_holds import PacmanHolds
from saltern.modules.lib.packages.tool import Tool, why
from saltern.system.clock import Clock
from saltern.system.host import Host

NO_BACKUP = "--nosave"
VERBS: dict[str, tuple[str, ...]] = {
    "install": ("-S", "--needed"),
    "reinstall": ("-S",),
    "download": ("-S", "--downloadonly"),
    "remove": ("-R",),
    "purge": ("-R", NO_BACKUP),
    "upgrade": ("-Su",),
    "autoremove": ("-R", "--recursive"),
    "autopurge": ("-R", "--recursive", NO_BACKUP),
}
LEAVING = ("remove", "purge", "autoremove", "autopurge")
FIELD = re.compile(r"^(\w[\w ]*?) *: (.*)$")
REPLACED = re.compile(r":: Replace (\S+) with \S+\?")
NONE_FOUND = 1
NOTHING = "None"
CACHE = "/var/cache/pacman/pkg"
KNOWN = {
    "version": "Version",
    "arch": "Architecture",
    "description": "Description",
    "group": "Groups",
    "license": "Licenses",
    "packager": "Packager",
    "size": "Installed Size",
    "url": "URL",
    "build_date": "Build Date",
    "install_date": "Install Date",
}


class Pacman:
    name = "pacman"

    def __init__(self, host: Host, clock: Clock) -> None:
        self.tool = Tool(host, clock)
        self.holds: Holds = PacmanHolds(host, self.tool)
        self.contents: Contents = PacmanContents(self.tool)
        self.groups: Groups = PacmanGroups(self.tool)

    # -- what is here ----------------------------------------------------------------------------

    def listing(self) -> Listing:
        text = self.tool.ask("pacman", "-Q", fine=(0, NONE_FOUND))
        return collect_listing((name, version) for name, _, version in map(_halves, text.splitlines()))

    def leftovers(self) -> Listing:
        return {}

    def provided_names(self) -> frozenset[str]:
        words = [
            word for row in _installed_records(self.tool) for word in row.get("Provides", NOTHING).split()
        ]
        return frozenset(re.split(r"[<>=]", word)[0] for word in words if word != NOTHING)

    def offers(self, names: Sequence[str], how: How = PLAIN) -> dict[str, Offer]:
        if not names:
            return {}
        # Its exit code is the number of unknown names.
        text = self.tool.run(["pacman", "-Si", "--", *names]).out
        rows = [row for row in _records(text) if how.fromrepo in ("", row["Repository"])]
        return {row["Name"]: Offer(row["Version"], (row["Version"],)) for row in reversed(rows)}

    # -- transactions ----------------------------------------------------------------------------

    def foresee(self, order: Order) -> dict[str, object]:
        words = self._words(order)
        if not words:
            return {}
        before = self.listing()
        reported = [word for word in words if word != NO_BACKUP]  # cannot be combined with --print
        text = self.tool.ask("pacman", "--print", "--print-format", "%n\t%v", *reported)
        rows = [line.split("\t") for line in text.splitlines() if "\t" in line]
        leaving = order.verb in LEAVING
        found = {name: change(before.get(name, ""), "" if leaving else new) for name, new in rows}
        if not leaving:
            found |= {name: change(before.get(name, ""), "") for name in self._rehearse(words)}
        return dict(sorted(found.items()))

    def _rehearse(self, words: list[str]) -> list[str]:
        """The output of a rehearsal. ``--print`` shows neither replaced packages nor conflicts.

        So pacman is run without answers to its questions, which means no to the last one.
        """
        argv = ["pacman", *words]
        ran = self.tool.run(argv)
        if "conflict" in ran.err and "error:" in ran.err:
            raise PackageError(why(argv, ran))
        return REPLACED.findall(ran.err + ran.out)

    def carry_out(self, order: Order) -> None:
        if words := self._words(order):
            self.tool.order("pacman", "--noconfirm", *words)

    def _words(self, order: Order) -> list[str]:
        """The command, targets last; None if there is nothing to remove."""
        if any(item.path for item in order.items):
            return ["-U", "--", *(item.path for item in order.items)]
        names = [item.name for item in order.items]
        if order.verb.startswith("auto"):
            names = self.tool.ask("pacman", "-Qdtq", fine=(0, NONE_FOUND)).split()
            if not names:
                return []
        leaving = order.verb in LEAVING
        repo = f"{order.how.fromrepo}/" if order.how.fromrepo and not leaving else ""
        return [*VERBS[order.verb], "--", *(f"{repo}{name}" for name in names)]

    def refresh(self, *, trust: bool = False) -> None:  # noqa: ARG002
        self.tool.order("pacman", "--noconfirm", "-Sy")

    def refreshed_at(self) -> float:
        return 0.0

    def fetched(self, item: Item) -> bool:
        start = f"{item.name}-{item.version}-"
        return os.path.isdir(CACHE) and any(file.startswith(start) for file in os.listdir(CACHE))

    # -- the rest --------------------------------------------------------------------------------

    def compare(self, one: str, other: str) -> int:
        return 0 if one == other else int(self.tool.ask(*vector(["vercmp"], one, other)).strip() or 0)

    def inspect(self, path: str) -> Item:
        name, _, version = _halves(self.tool.ask("pacman", "-Qp", "--", path).strip())
        return Item(name, version, path)

    def plain_name(self, name: str) -> str:
        return name


class PacmanContents:
    """Files and fields of installed packages."""

    def __init__(self, tool: Tool) -> None:
        self._tool = tool

    def files(self, names: Sequence[str]) -> dict[str, list[str]]:
        return {name: self._tool.ask("pacman", "-Qlq", "--", name).splitlines() for name in names}

    def owner(self, path: str) -> str:
        ran = self._tool.run(["pacman", "-Qqo", "--", path])
        return ran.out.split("\n")[0] if ran.code == 0 else ""

    def info(self, names: Sequence[str]) -> dict[str, dict[str, str]]:
        return {
            row["Name"]: {
                key: row[field] for key, field in KNOWN.items() if row.get(field, NOTHING) != NOTHING
            }
            for row in _installed_records(self._tool, *names)
        }


class PacmanGroups:
    """Groups, which are plain lists of packages."""

    def __init__(self, tool: Tool) -> None:
        self._tool = tool

    def find(self, name: str) -> Group | None:
        names = self._tool.ask("pacman", "-Sgq", "--", name, fine=(0, NONE_FOUND)).split()
        return Group(title=name, mandatory=tuple(names)) if names else None

    def all(self) -> dict[str, list[str]]:
        there = self._tool.ask("pacman", "-Sg", fine=(0, NONE_FOUND)).split()
        rows = map(_halves, self._tool.ask("pacman", "-Qg", fine=(0, NONE_FOUND)).splitlines())
        here = sorted({group for group, _, _ in rows})
        return {"installed": here, "available": sorted({*there} - {*here})}


def _installed_records(tool: Tool, *names: str) -> list[dict[str, str]]:
    return list(_records(tool.ask("pacman", "-Qi", "--", *names, fine=(0, NONE_FOUND))))


def _halves(line: str) -> tuple[str, str, str]:
    return line.partition(" ")


def _records(text: str) -> Iterator[dict[str, str]]:
    """``Key : value`` in paragraphs; further lines of a value are left out."""
    for part in text.split("\n\n"):
        fields = {found[1]: found[2] for line in part.splitlines() if (found := FIELD.match(line))}
        if "Name" in fields:
            yield fields
