"""dnf, and yum before it: Fedora, RHEL and their kin."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from saltern.modules.packages.model import Group, Offer, Order, PackageError, change
from saltern.modules.packages.rpm import Rpm, nevra

VERBS: dict[str, str] = {
    "install": "install",
    "reinstall": "reinstall",
    "remove": "remove",
    "purge": "remove",
    "upgrade": "upgrade",
    "autoremove": "autoremove",
    "autopurge": "autoremove",
}
# The sections of the table that is shown before the question, and whether they bring or take.
SECTIONS = re.compile(
    r"^(Installing|Upgrading|Updating|Downgrading|Reinstalling|Removing)(?: [a-z ]+)?:\s*$", re.MULTILINE
)
END = re.compile(r"^\s*$|^Transaction Summary|^=+$", re.MULTILINE)
REFUSED = 1  # the exit code of --assumeno, when there is something to do
LOCKED = re.compile(r"^!?(?:\d+:)?(?P<name>\S+?)-(?:\d+:)?[^-\s]+-[^-\s]+$", re.MULTILINE)
GROUP_PART = re.compile(r"^\s*(Mandatory|Default|Optional)[^:\n]*:\s*(.*)$")


class Dnf(Rpm):
    name = "dnf"
    program = "dnf"

    def offers(self, names: Sequence[str], fromrepo: str = "") -> dict[str, Offer]:
        if not names:
            return {}
        form = "%{name}\t%{evr}\t%{arch}\n"
        argv = ["-q", *_repos(fromrepo), "repoquery", "--available", "--qf", form, "--", *names]
        rows = [line.split("\t") for line in self.tool.ask(self.program, *argv).splitlines() if line.strip()]
        return self._best((self._called(row[0], row[2]), _bare(row[1])) for row in rows)

    def _best(self, pairs: Iterable[tuple[str, str]]) -> dict[str, Offer]:
        from functools import cmp_to_key

        found: dict[str, set[str]] = {}
        for name, version in pairs:
            found.setdefault(name, set()).add(version)
        newest_first = {
            name: tuple(sorted(versions, key=cmp_to_key(self.compare), reverse=True))
            for name, versions in found.items()
        }
        return {name: Offer(versions[0], versions) for name, versions in newest_first.items()}

    def foresee(self, order: Order) -> dict[str, object]:
        argv = [self.program, "--assumeno", *_options(order), *self._words(order)]
        ran = self.tool.run(argv)
        if ran.code not in (0, REFUSED) or (ran.code == REFUSED and not SECTIONS.search(ran.out)):
            raise PackageError(f"{self.program} failed: {(ran.err or ran.out).strip()[-800:]}")
        return self._changes(ran.out)

    def _changes(self, text: str) -> dict[str, object]:
        before = self.listing()
        found: dict[str, object] = {}
        for verb, name, arch, version in table(text):
            called = self._called(name, arch)
            found[called] = change(before.get(called, ""), "" if verb == "Removing" else _bare(version))
        return dict(sorted(found.items()))

    def _words(self, order: Order) -> list[str]:
        verb = VERBS[order.verb]
        if order.how.only_upgrade and order.verb == "install":
            verb = "upgrade"
        if any(self._lower(item.name, item.version) for item in order.items):
            verb = "downgrade"
        return [verb, "--", *(nevra(item) for item in order.items)]

    def _lower(self, name: str, version: str) -> bool:
        if not version:
            return False
        current = self.listing().get(name, "")
        return bool(current) and all(self.compare(version, one) < 0 for one in current.split(","))

    def carry_out(self, order: Order) -> None:
        self.tool.order(self.program, "-y", *_options(order), *self._words(order))

    def refresh(self) -> None:
        self.tool.order(self.program, "-q", "clean", "expire-cache")
        self.tool.order(self.program, "-q", "makecache")

    def refreshed_at(self) -> float:
        return 0.0

    def held(self) -> frozenset[str]:
        ran = self.tool.run([self.program, "-q", "versionlock", "list"])
        # Without the plugin there is no such command, and nothing is held.
        return frozenset(match["name"] for match in LOCKED.finditer(ran.out if ran.code == 0 else ""))

    def set_hold(self, names: Sequence[str], *, on: bool) -> None:
        self.tool.ask(self.program, "-q", "versionlock", "add" if on else "delete", "--", *names)

    def group(self, name: str) -> Group | None:
        ran = self.tool.run([self.program, "-q", "group", "info", "--", name])
        if ran.code or ("Mandatory" not in ran.out and "Default" not in ran.out):
            return None
        return group_parts(ran.out)


class Yum(Dnf):
    """Before dnf: no ``repoquery`` of its own, so ``list`` has to do."""

    name = "yum"
    program = "yum"

    def offers(self, names: Sequence[str], fromrepo: str = "") -> dict[str, Offer]:
        if not names:
            return {}
        argv = ["-q", *_repos(fromrepo), "list", "--showduplicates", "available", "--", *names]
        ran = self.tool.run([self.program, *argv])
        words = ran.out.partition("Available Packages\n")[2].split() if ran.code == 0 else []
        rows = zip(words[::3], words[1::3], strict=False)  # name.arch, version, repository
        return self._best(
            (self._called(*full.rpartition(".")[::2]), _bare(version)) for full, version in rows
        )


def table(text: str) -> Iterator[tuple[str, str, str, str]]:
    """Rows of the transaction: verb, name, architecture, version. Long rows are broken into two lines."""
    for section in SECTIONS.finditer(text):
        rest = text[section.end() + 1 :]
        stop = END.search(rest)
        other = SECTIONS.search(rest)
        ends = [match.start() for match in (stop, other) if match]
        body = rest[: min(ends)] if ends else rest
        lines = [line for line in body.splitlines() if not line.strip().startswith("replacing")]
        words = " ".join(lines).split()
        for at in range(0, len(words) - 3, 6):  # name, architecture, version, repository, size, unit
            yield section[1], words[at], words[at + 1], words[at + 2]


def group_parts(text: str) -> Group:
    parts: dict[str, list[str]] = {"Mandatory": [], "Default": [], "Optional": []}
    current: list[str] | None = None
    for line in text.splitlines():
        head = GROUP_PART.match(line)
        if head:
            current = parts[head[1]]
            current += head[2].split()
        elif ":" in line and line.partition(":")[0].strip():
            current = None
        elif current is not None:
            current += line.replace(":", " ").split()
    return Group(**{name.lower(): tuple(found) for name, found in parts.items()})


def _bare(version: str) -> str:
    return version.removeprefix("0:")


def _repos(fromrepo: str) -> list[str]:
    return ["--disablerepo=*", f"--enablerepo={fromrepo}"] if fromrepo else []


def _options(order: Order) -> list[str]:
    how = order.how
    told = _repos(how.fromrepo)
    told += [f"--disablerepo={name}" for name in how.disablerepo]
    told += [f"--enablerepo={name}" for name in how.enablerepo]
    rows: tuple[tuple[str, bool], ...] = (
        ("--nogpgcheck", how.skip_verify),
        ("--setopt=install_weak_deps=False", not how.install_recommends),
        ("--disableplugin=versionlock", how.change_held),
        ("--downloadonly", how.fetch_only),
    )
    return told + [option for option, wanted in rows if wanted]
