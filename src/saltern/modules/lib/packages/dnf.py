"""dnf and its predecessor yum: Fedora, RHEL and their derivatives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from saltern.modules.api.argv import plain
from saltern.modules.lib.packages.comps import group_of, groups_of
from saltern.modules.lib.packages.model import (
    PLAIN,
    Group,
    Groups,
    Holds,
    How,
    Item,
    Offer,
    Order,
    PackageError,
)
from saltern.modules.lib.packages.rpm import Rpm, Step, foreseen_changes, nevra
from saltern.modules.lib.packages.tool import Tool, why
from saltern.system.clock import Clock
from saltern.system.host import Host

VERBS: dict[str, str] = {
    "install": "install",
    "reinstall": "reinstall",
    "remove": "remove",
    "purge": "remove",
    "upgrade": "upgrade",
    "autoremove": "autoremove",
    "autopurge": "autoremove",
}
# The sections of the table before the question; others (skipped packages) change nothing.
SECTIONS: dict[str, str] = {
    "Installing": "add",
    "Upgrading": "replace",
    "Updating": "replace",
    "Downgrading": "replace",
    "Reinstalling": "again",
    "Removing": "remove",
}
HEAD = re.compile(r"^(\w+)[\w/ ]*:\s*$")
END = re.compile(r"^Transaction Summary")
# Name, architecture, version, repository, size; a size of less than a kilobyte has no unit.
ROW = re.compile(r"^ +(\S+) +(\S+) +(\S+) +\S+ +[\d.]+(?: +[A-Za-z]+)? *$")
ALONE = re.compile(r"^ +(\S+)$")
REFUSED = 1  # the exit code of --assumeno if there is something to do
LOCKED = re.compile(r"^(?P<entry>(?:\d+:)?(?P<name>[^\s!]\S*?)-(?:\d+:)?[^-\s]+-[^-\s]+)$", re.MULTILINE)
LOCKED_5 = re.compile(r"^Package name: (?P<entry>(?P<name>\S+))$", re.MULTILINE)
NO_COMMAND = "No such command"


class Dnf(Rpm):
    name = "dnf"
    program = "dnf"

    def __init__(self, host: Host, clock: Clock) -> None:
        super().__init__(host, clock)
        self.holds: Holds = Versionlock(self.tool, self.program, "python3-dnf-plugin-versionlock")
        self.groups: Groups = DnfGroups(self.tool, self.program, "--hidden")

    def offers(self, names: Sequence[str], how: How = PLAIN) -> dict[str, Offer]:
        if not names:
            return {}
        form = "%{name}\t%{evr}\t%{arch}\n"
        argv = ["-q", *_sources(how), "repoquery", "--available", "--qf", form, "--", *names]
        rows = [line.split("\t") for line in self.tool.ask(self.program, *argv).splitlines() if line.strip()]
        return self._offers((self.listing_name(row[0], row[2]), _bare(row[1])) for row in rows)

    # -- transactions ----------------------------------------------------------------------------

    def foresee(self, order: Order) -> dict[str, object]:
        found: dict[str, object] = {}
        for words in self._words(order):
            argv = [self.program, "--assumeno", *_options(order), *words]
            ran = self.tool.run(argv)
            rows = list(table(ran.out))
            if ran.code not in (0, REFUSED) or (ran.code == REFUSED and not rows):
                raise PackageError(why(argv, ran))
            steps = (
                Step(kind, self.listing_name(name, arch), _bare(version))
                for kind, name, arch, version in rows
            )
            found |= foreseen_changes(self.listing(), steps)
        return dict(sorted(found.items()))

    def carry_out(self, order: Order) -> None:
        for words in self._words(order):
            self.tool.order(self.program, "-y", *_options(order), *words)

    def _words(self, order: Order) -> list[list[str]]:
        """The commands of an order; dnf also accepts older versions with ``install``."""
        if order.verb != "download":
            upgrade = order.verb == "install" and order.how.only_upgrade
            return [_command("upgrade" if upgrade else VERBS[order.verb], order.items)]
        # Installed packages can be fetched only for a reinstallation, others only for an installation.
        there = self.listing()
        old = [item for item in order.items if item.version in there.get(item.name, "").split(",")]
        new = [item for item in order.items if item not in old]
        return [_command(one, items) for one, items in (("install", new), ("reinstall", old)) if items]

    def refresh(self, *, trust: bool = False) -> None:  # noqa: ARG002 - keys the file names are trusted
        self.tool.order(self.program, "-q", "-y", "makecache", "--refresh")

    def refreshed_at(self) -> float:
        return 0.0


class Versionlock:
    """Holds, with a plugin that has to be installed."""

    def __init__(self, tool: Tool, program: str, plugin: str) -> None:
        self._tool = tool
        self._program = program
        self._plugin = plugin

    def _locks(self) -> list[tuple[str, str]]:
        """The locked packages, each with its entry. Without the plugin there is no such command."""
        ran = self._tool.run([self._program, "-q", "versionlock", "list"])
        text = ran.out if ran.code == 0 else ""
        return [
            (found["name"], found["entry"]) for form in (LOCKED, LOCKED_5) for found in form.finditer(text)
        ]

    def held_names(self) -> frozenset[str]:
        return frozenset(name for name, _ in self._locks())

    def why_not(self, names: Sequence[str] = ()) -> str:  # noqa: ARG002
        ran = self._tool.run([self._program, "-q", "versionlock", "list"])
        lacking = NO_COMMAND in ran.err + ran.out
        fix = f"{self._program} holds packages with a plugin; install {self._plugin} first"
        return fix if lacking else ""

    def hold(self, names: Sequence[str], *, on: bool) -> None:
        words = list(names) if on else self._entries(names)
        self._tool.order(self._program, "-q", "versionlock", "add" if on else "delete", *words)

    def _entries(self, names: Sequence[str]) -> list[str]:
        """The entries to delete for the locks of packages."""
        return list(names)


class YumVersionlock(Versionlock):
    """Holds of yum, where a lock is deleted by its entry, which has a version."""

    def _entries(self, names: Sequence[str]) -> list[str]:
        return [entry for name, entry in self._locks() if name in names]


class DnfGroups:
    """Groups; ``hidden`` is the option that includes hidden groups."""

    def __init__(self, tool: Tool, program: str, hidden: str) -> None:
        self._tool = tool
        self._program = program
        self._hidden = hidden

    def find(self, name: str) -> Group | None:
        argv = [self._program, "-q", "group", "info", plain(name, self._program)]
        return group_of(self._tool.run(argv).out)

    def all(self) -> dict[str, list[str]]:
        return groups_of(self._tool.ask(self._program, "-q", "group", "list", self._hidden))


class Yum(Dnf):
    """yum: it has no ``repoquery``, so ``list`` is used; downgrades have their own command."""

    name = "yum"
    program = "yum"

    def __init__(self, host: Host, clock: Clock) -> None:
        super().__init__(host, clock)
        self.holds = YumVersionlock(self.tool, self.program, "yum-plugin-versionlock")
        self.groups = DnfGroups(self.tool, self.program, "hidden")

    def offers(self, names: Sequence[str], how: How = PLAIN) -> dict[str, Offer]:
        if not names:
            return {}
        argv = ["-q", *_sources(how), "list", "--showduplicates", "available", "--", *names]
        ran = self.tool.run([self.program, *argv])
        words = ran.out.partition("Available Packages\n")[2].split() if ran.code == 0 else []
        rows = zip(words[::3], words[1::3], strict=False)  # name.arch, version, repository
        return self._offers(
            (self.listing_name(*full.rpartition(".")[::2]), _bare(version)) for full, version in rows
        )

    def refresh(self, *, trust: bool = False) -> None:  # noqa: ARG002
        self.tool.order(self.program, "-q", "clean", "expire-cache")
        self.tool.order(self.program, "-q", "-y", "makecache")

    def _words(self, order: Order) -> list[list[str]]:
        lower = [item for item in order.items if self._lower(item)]
        if not lower or order.verb == "download":
            return super()._words(order)
        rest = tuple(item for item in order.items if item not in lower)
        others = super()._words(Order(order.verb, rest, order.how)) if rest else []
        return [_command("downgrade", lower), *others]

    def _lower(self, item: Item) -> bool:
        current = self.listing().get(item.name, "") if item.version else ""
        return bool(current) and all(self.compare(item.version, one) < 0 for one in current.split(","))


def table(text: str) -> Iterator[tuple[str, str, str, str]]:
    """The planned steps in the table: kind, name, architecture, version.

    A long row continues in the next line; ``replacing`` names a package that the row above replaces.
    """
    kind = start = ""
    for line in text.splitlines():
        if END.match(line):
            return
        if head := HEAD.match(line):
            kind = SECTIONS.get(head[1], "")
        elif not kind:
            continue
        elif line.split()[:1] == ["replacing"]:
            yield "remove", *_replaced_package(line.split()[1:])
        elif alone := ALONE.match(line):
            start = alone[1]
            continue
        elif row := ROW.match(f" {start} {line}"):
            yield kind, row[1], row[2], row[3]
        start = ""


def _replaced_package(words: list[str]) -> tuple[str, str, str]:
    """A replaced package: ``name.arch version`` of dnf, or the columns of dnf 5."""
    if len(words) > 2:
        return words[0], words[1], words[2]
    name, _, arch = words[0].rpartition(".")
    return name, arch, words[-1]


def _command(verb: str, items: Sequence[Item]) -> list[str]:
    return [verb, "--", *(nevra(item) for item in items)]


def _bare(version: str) -> str:
    return version.removeprefix("0:")


def _sources(how: How) -> list[str]:
    """The options for repositories, and for locked versions."""
    reported = ["--disablerepo=*", f"--enablerepo={how.fromrepo}"] if how.fromrepo else []
    reported += [f"--disablerepo={name}" for name in how.disablerepo]
    reported += [f"--enablerepo={name}" for name in how.enablerepo]
    return [*reported, "--disableplugin=versionlock"] if how.change_held else reported


def _options(order: Order) -> list[str]:
    how = order.how
    rows: tuple[tuple[str, bool], ...] = (
        ("--nogpgcheck", how.skip_verify),
        ("--setopt=install_weak_deps=False", not how.install_recommends),
        ("--downloadonly", order.verb == "download"),
    )
    return _sources(how) + [option for option, wanted in rows if wanted]
