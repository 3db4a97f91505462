"""apt and dpkg: Debian, Ubuntu and their kin."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from saltern.modules.lib.packages.model import (
    PLAIN,
    Group,
    How,
    Item,
    Listing,
    Offer,
    Order,
    PackageError,
    change,
    collected,
)
from saltern.modules.lib.packages.tool import Tool
from saltern.system.clock import Clock
from saltern.system.host import Host

QUIET = {"DEBIAN_FRONTEND": "noninteractive", "APT_LISTCHANGES_FRONTEND": "none", "NEEDRESTART_MODE": "l"}
KEEP_CONFIG = ("--force-confdef", "--force-confold")
LOCK_WAIT = ("-o", "DPkg::Lock::Timeout=300")
VERBS: dict[str, tuple[str, ...]] = {
    "install": ("install",),
    "reinstall": ("install", "--reinstall"),
    "download": ("install", "--reinstall", "--download-only"),
    "remove": ("remove",),
    "purge": ("purge",),
    "upgrade": ("upgrade",),
    "autoremove": ("autoremove",),
    "autopurge": ("autopurge",),
}
NO_GROUPS = "apt has no groups of packages; name a metapackage with pkg.installed instead"
STEP = re.compile(r"^(Inst|Remv|Purg) (\S+)(?: \[([^\]]*)\])?(?: \((\S+) )?", re.MULTILINE)
POLICY = re.compile(r"^(\S+):\n  Installed: .*\n  Candidate: (\S+)\n(?:  Version table:\n)?", re.MULTILINE)
VERSION_ROW = re.compile(r"^ (?:\*\*\*|   ) (\S+) -?\d+$", re.MULTILINE)
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


class Apt:
    name = "apt"

    def __init__(self, host: Host, clock: Clock) -> None:
        self.tool = Tool(host, clock, QUIET)
        self._native = ""

    # -- what is here ----------------------------------------------------------------------------

    @property
    def native(self) -> str:
        self._native = self._native or self.tool.ask("dpkg", "--print-architecture").strip()
        return self._native

    def _rows(self) -> list[list[str]]:
        return [line.split("\t") for line in self.tool.ask("dpkg-query", "-W", "-f", FIELDS).splitlines()]

    def _called(self, name: str, arch: str) -> str:
        return name if arch in ("all", self.native, "") else f"{name}:{arch}"

    def listing(self) -> Listing:
        rows = self._rows()
        return collected((self._called(row[0], row[2]), row[1]) for row in rows if row[3] == "installed")

    def leftovers(self) -> Listing:
        return collected((self._called(r[0], r[2]), r[1]) for r in self._rows() if r[3] == "config-files")

    def provided(self) -> frozenset[str]:
        texts = [row[4] for row in self._rows() if row[3] == "installed" and row[4]]
        return frozenset(one.split()[0] for text in texts for one in text.split(","))

    def offers(self, names: Sequence[str], how: How = PLAIN) -> dict[str, Offer]:
        if not names:
            return {}
        release = ("-o", f"APT::Default-Release={how.fromrepo}") if how.fromrepo else ()
        text = self.tool.ask("apt-cache", "-q", *release, "policy", "--", *names)
        heads = list(POLICY.finditer(text))
        ends = [*(head.start() for head in heads), len(text)][1:]
        return {
            head[1]: Offer(
                "" if head[2] == "(none)" else head[2],
                tuple(VERSION_ROW.findall(text, head.end(), end)),
            )
            for head, end in zip(heads, ends, strict=True)
        }

    # -- what is done ----------------------------------------------------------------------------

    def foresee(self, order: Order) -> dict[str, object]:
        text = self.tool.ask("apt-get", "-q", "-s", *_options(order), *_words(order))
        found: dict[str, dict[str, str]] = {}
        for verb, name, old, new in STEP.findall(text):
            # One that is replaced by another architecture, or purged, is listed twice.
            before = found[name]["old"] if name in found else old
            found[name] = change(before, new if verb == "Inst" else "")
        return dict(sorted(found.items()))

    def carry_out(self, order: Order) -> None:
        self.tool.order("apt-get", "-q", "-y", *LOCK_WAIT, *_config(order), *_options(order), *_words(order))

    def refresh(self, *, trust: bool = False) -> None:  # noqa: ARG002
        self.tool.order("apt-get", "-q", *LOCK_WAIT, "update")

    def place(self, key: str) -> str:
        """A directory of apt, as its configuration has it."""
        return self.tool.ask("apt-config", "shell", "X", f"{key}/d").strip()[3:-1].rstrip("/")

    def refreshed_at(self) -> float:
        lists = self.place("Dir::State::lists")
        times = [os.stat(path).st_mtime for path in (lists, f"{lists}/partial") if os.path.isdir(path)]
        return max(times, default=0.0)

    def fetched(self, item: Item) -> bool:
        cache = self.place("Dir::Cache::archives")
        start = f"{item.name.partition(':')[0]}_{item.version.replace(':', '%3a')}_"
        return os.path.isdir(cache) and any(file.startswith(start) for file in os.listdir(cache))

    # -- holds -----------------------------------------------------------------------------------

    def held(self) -> frozenset[str]:
        return frozenset(self.tool.ask("apt-mark", "showhold").split())

    def why_no_hold(self) -> str:
        return ""

    def set_hold(self, names: Sequence[str], *, on: bool) -> None:
        # Through dpkg, which also takes names that are not installed.
        word = "hold" if on else "install"
        self.tool.ask("dpkg", "--set-selections", stdin="".join(f"{name} {word}\n" for name in names))

    def selections(self) -> dict[str, list[str]]:
        """What dpkg is set to do with its packages: hold, install, deinstall, purge."""
        found: dict[str, list[str]] = {}
        for line in self.tool.ask("dpkg-query", "-W", "-f", SELECTED).splitlines():
            name, arch, want, _ = line.split("\t")
            found.setdefault(want, []).append(self._called(name, arch))
        return found

    # -- the rest --------------------------------------------------------------------------------

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
        return Item(self._called(fields["Package"], fields["Architecture"]), fields["Version"], path)

    def plain_name(self, name: str) -> str:
        base, colon, arch = name.partition(":")
        return self._called(base, arch) if colon else name

    def files(self, names: Sequence[str]) -> dict[str, list[str]]:
        return {name: self.tool.ask("dpkg-query", "-L", name).splitlines() for name in names}

    def owner(self, path: str) -> str:
        ran = self.tool.run(["dpkg-query", "-S", path])
        return self.plain_name(ran.out.partition(": ")[0].partition(",")[0]) if ran.code == 0 else ""

    def info(self, names: Sequence[str]) -> dict[str, dict[str, str]]:
        form = r"\t".join(f"${{{field}}}" for field in KNOWN.values()) + r"\t${db:Status-Status}\n"
        rows = [
            line.split("\t") for line in self.tool.ask("dpkg-query", "-W", "-f", form, *names).splitlines()
        ]
        known = [dict(zip(KNOWN, row, strict=False)) for row in rows if row[-1] == "installed"]
        return {row.pop("name"): {key: value for key, value in row.items() if value} for row in known}

    def group(self, name: str) -> Group | None:  # noqa: ARG002
        raise PackageError(NO_GROUPS)

    def groups(self) -> dict[str, list[str]]:
        raise PackageError(NO_GROUPS)


def _words(order: Order) -> list[str]:
    verb = VERBS[order.verb]
    if order.verb == "upgrade" and order.how.whole_system:
        verb = ("dist-upgrade",)
    return [*verb, "--", *(_word(item) for item in order.items)]


def _word(item: Item) -> str:
    if item.path:
        return os.path.abspath(item.path)
    return f"{item.name}={item.version}" if item.version else item.name


def _options(order: Order) -> list[str]:
    how = order.how
    reported: list[str] = ["-t", how.fromrepo] if how.fromrepo else []
    reported += [
        option
        for option, wanted in (
            ("--no-install-recommends", not how.install_recommends),
            ("--only-upgrade", how.only_upgrade),
            ("--allow-unauthenticated", how.skip_verify),
            ("--allow-change-held-packages", how.change_held),
            ("--allow-downgrades", any(item.version or item.path for item in order.items)),
        )
        if wanted
    ]
    return reported


def _config(order: Order) -> list[str]:
    keep = ("--force-confnew",) if order.how.new_config else KEEP_CONFIG
    return [word for option in keep for word in ("-o", f"DPkg::Options::={option}")]
