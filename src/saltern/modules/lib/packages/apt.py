"""apt and dpkg: Debian, Ubuntu and their derivatives."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from saltern.modules.lib.packages.dpkg import Dpkg, DpkgContents, DpkgHolds
from saltern.modules.lib.packages.model import (
    PLAIN,
    Contents,
    Groups,
    Holds,
    How,
    Item,
    NoGroups,
    Offer,
    Order,
    change,
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
STEP = re.compile(r"^(Inst|Remv|Purg) (\S+)(?: \[([^\]]*)\])?(?: \((\S+) )?", re.MULTILINE)
POLICY = re.compile(r"^(\S+):\n  Installed: .*\n  Candidate: (\S+)\n(?:  Version table:\n)?", re.MULTILINE)
VERSION_ROW = re.compile(r"^ (?:\*\*\*|   ) (\S+) -?\d+$", re.MULTILINE)


class Apt(Dpkg):
    name = "apt"

    def __init__(self, host: Host, clock: Clock) -> None:
        super().__init__(Tool(host, clock, QUIET))
        self.holds: Holds = DpkgHolds(self)
        self.contents: Contents = DpkgContents(self)
        self.groups: Groups = NoGroups(self.name)

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

    def foresee(self, order: Order) -> dict[str, object]:
        text = self.tool.ask("apt-get", "-q", "-s", *_options(order), *_words(order))
        found: dict[str, dict[str, str]] = {}
        for verb, name, old, new in STEP.findall(text):
            # A package that is replaced by another architecture, or purged, is listed twice.
            before = found[name]["old"] if name in found else old
            found[name] = change(before, new if verb == "Inst" else "")
        return dict(sorted(found.items()))

    def carry_out(self, order: Order) -> None:
        self.tool.order("apt-get", "-q", "-y", *LOCK_WAIT, *_config(order), *_options(order), *_words(order))

    def refresh(self, *, trust: bool = False) -> None:  # noqa: ARG002
        self.tool.order("apt-get", "-q", *LOCK_WAIT, "update")

    def place(self, key: str) -> str:
        """A directory of apt, from its configuration."""
        return self.tool.ask("apt-config", "shell", "X", f"{key}/d").strip()[3:-1].rstrip("/")

    def refreshed_at(self) -> float:
        lists = self.place("Dir::State::lists")
        times = [os.stat(path).st_mtime for path in (lists, f"{lists}/partial") if os.path.isdir(path)]
        return max(times, default=0.0)

    def fetched(self, item: Item) -> bool:
        cache = self.place("Dir::Cache::archives")
        start = f"{item.name.partition(':')[0]}_{item.version.replace(':', '%3a')}_"
        return os.path.isdir(cache) and any(file.startswith(start) for file in os.listdir(cache))


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
