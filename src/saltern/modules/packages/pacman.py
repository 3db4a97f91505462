"""pacman: Arch and its kin."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from saltern.modules.packages.model import (
    Group,
    Item,
    Listing,
    Offer,
    Order,
    PackageError,
    change,
    collected,
)
from saltern.modules.packages.tool import Tool
from saltern.system.clock import Clock
from saltern.system.host import Host

VERBS: dict[str, tuple[str, ...]] = {
    "install": ("-S", "--needed"),
    "reinstall": ("-S",),
    "remove": ("-R",),
    "purge": ("-R", "--nosave"),
    "upgrade": ("-Su",),
}
SHOWN = re.compile(r"^(Repository|Name|Version)\s*: (.+)$", re.MULTILINE)
IGNORED = re.compile(r"^\s*IgnorePkg\s*=\s*(.*)$", re.MULTILINE)
PROVIDED = re.compile(r"^Provides\s*: (.+)$", re.MULTILINE)
NONE_FOUND = 1
CACHE = "/var/cache/pacman/pkg"


class Pacman:
    name = "pacman"

    def __init__(self, host: Host, clock: Clock) -> None:
        self.tool = Tool(host, clock)

    def listing(self) -> Listing:
        rows = (line.partition(" ") for line in self.tool.ask("pacman", "-Q").splitlines())
        return collected((name, version) for name, _, version in rows)

    def leftovers(self) -> Listing:
        return {}

    def provided(self) -> frozenset[str]:
        found = PROVIDED.findall(self.tool.ask("pacman", "-Qi"))
        return frozenset(re.split(r"[<>=]", word)[0] for row in found for word in row.split())

    def offers(self, names: Sequence[str], fromrepo: str = "") -> dict[str, Offer]:
        if not names:
            return {}
        text = self.tool.ask("pacman", "-Si", "--", *names, fine=(0, NONE_FOUND))
        repository = name = ""
        found: dict[str, Offer] = {}
        for key, value in SHOWN.findall(text):
            if key == "Repository":
                repository = value
            elif key == "Name":
                name = value
            elif fromrepo in ("", repository):
                found.setdefault(name, Offer(value, (value,)))
        return found

    def foresee(self, order: Order) -> dict[str, object]:
        text = self.tool.ask("pacman", *_words(order, "--print", "--print-format", "%n %v"))
        before = self.listing()
        gone = order.verb in ("remove", "purge")
        rows = [line.split() for line in text.splitlines() if len(line.split()) == 2]
        return {name: change(before.get(name, ""), "" if gone else new) for name, new in sorted(rows)}

    def carry_out(self, order: Order) -> None:
        self.tool.order("pacman", "--noconfirm", *_words(order))

    def refresh(self) -> None:
        self.tool.order("pacman", "--noconfirm", "-Sy")

    def refreshed_at(self) -> float:
        return 0.0

    def fetched(self, item: Item) -> bool:
        start = f"{item.name}-{item.version}-"
        return os.path.isdir(CACHE) and any(file.startswith(start) for file in os.listdir(CACHE))

    def held(self) -> frozenset[str]:
        text = self.tool.host.read("/etc/pacman.conf") or ""
        return frozenset(word for row in IGNORED.findall(text) for word in row.split())

    def set_hold(self, names: Sequence[str], *, on: bool) -> None:
        raise PackageError(
            f"pacman has no command to {'hold' if on else 'release'} {', '.join(names)}; "
            "set IgnorePkg in /etc/pacman.conf with file.line instead"
        )

    def compare(self, one: str, other: str) -> int:
        return 0 if one == other else int(self.tool.ask("vercmp", one, other).strip() or 0)

    def inspect(self, path: str) -> Item:
        name, _, version = self.tool.ask("pacman", "-Qp", "--", path).strip().partition(" ")
        return Item(name, version, path)

    def plain_name(self, name: str) -> str:
        return name

    def files(self, names: Sequence[str]) -> dict[str, list[str]]:
        return {name: self.tool.ask("pacman", "-Qlq", "--", name).splitlines() for name in names}

    def owner(self, path: str) -> str:
        ran = self.tool.run(["pacman", "-Qqo", "--", path])
        return ran.out.strip() if ran.code == 0 else ""

    def info(self, names: Sequence[str]) -> dict[str, dict[str, str]]:
        listing = self.listing()
        return {name: {"version": listing[name]} for name in names if name in listing}

    def group(self, name: str) -> Group | None:
        ran = self.tool.run(["pacman", "-Sgq", "--", name])
        return Group(mandatory=tuple(ran.out.split())) if ran.code == 0 and ran.out.strip() else None


def _words(order: Order, *more: str) -> list[str]:
    if order.verb not in VERBS:
        raise PackageError(f"pacman cannot {order.verb}")
    if any(item.path for item in order.items):
        return ["-U", *more, "--", *(item.path for item in order.items)]
    options = [*VERBS[order.verb], *more]
    if order.how.fetch_only:
        options.append("--downloadonly")
    repo = f"{order.how.fromrepo}/" if order.how.fromrepo and order.verb != "remove" else ""
    return [*options, "--", *(f"{repo}{item.name}" for item in order.items)]
