"""apk: Alpine."""

from __future__ import annotations

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
    "install": ("add",),
    "reinstall": ("fix", "--reinstall"),
    "remove": ("del",),
    "purge": ("del", "--purge"),
    "upgrade": ("upgrade",),
}
STEP = re.compile(r"^\(\s*\d+/\d+\) (\w+) (\S+) \(([^ )]+)(?: -> ([^)]+))?\)", re.MULTILINE)
GONE = ("Purging", "Removing")
INSTALLED_ROW = re.compile(r"^(\S+)-([^-\s]+-r\d+) ", re.MULTILINE)
ORDER = {"<": -1, "=": 0, ">": 1}


class Apk:
    name = "apk"

    def __init__(self, host: Host, clock: Clock) -> None:
        self.tool = Tool(host, clock)

    def listing(self) -> Listing:
        return collected(INSTALLED_ROW.findall(self.tool.ask("apk", "list", "--installed")))

    def leftovers(self) -> Listing:
        return {}

    def provided(self) -> frozenset[str]:
        words = self.tool.ask("apk", "info", "--provides", *self.listing()).split()
        return frozenset(re.split(r"[<>=~]", word)[0] for word in words)

    def offers(self, names: Sequence[str], fromrepo: str = "") -> dict[str, Offer]:
        found: dict[str, list[str]] = {}
        current: list[str] = []
        for line in self.tool.ask("apk", "policy", *names).splitlines() if names else ():
            if line.endswith(" policy:"):
                current = found.setdefault(line.removesuffix(" policy:"), [])
            elif line.startswith("  ") and not line.startswith("    ") and line.endswith(":"):
                current.append(line.strip().removesuffix(":"))
            elif fromrepo and line.startswith("    ") and fromrepo not in line and current:
                current.pop()
        return {
            name: Offer(versions[-1], tuple(versions[::-1])) for name, versions in found.items() if versions
        }

    def foresee(self, order: Order) -> dict[str, object]:
        text = self.tool.ask("apk", *_words(order, "--simulate"))
        found: dict[str, object] = {}
        for verb, name, first, second in STEP.findall(text):
            old, new = (first, second) if second else ("", first)
            if verb in GONE:
                old, new = first, ""
            if verb == "Reinstalling":
                old = first
            found[name] = change(old, new)
        return dict(sorted(found.items()))

    def carry_out(self, order: Order) -> None:
        self.tool.order("apk", *_words(order))

    def refresh(self) -> None:
        self.tool.order("apk", "update")

    def refreshed_at(self) -> float:
        return 0.0

    def fetched(self, item: Item) -> bool:
        raise PackageError(f"apk cannot fetch {item.name} without installing it")

    def held(self) -> frozenset[str]:
        return frozenset()

    def set_hold(self, names: Sequence[str], *, on: bool) -> None:  # noqa: ARG002
        raise PackageError("apk cannot hold packages; give an exact version instead")

    def compare(self, one: str, other: str) -> int:
        return 0 if one == other else ORDER.get(self.tool.ask("apk", "version", "-t", one, other).strip(), 0)

    def inspect(self, path: str) -> Item:
        ran = self.tool.ask("tar", "-xzOf", path, ".PKGINFO", fine=(0, 2))
        fields = dict(line.split(" = ", 1) for line in ran.splitlines() if " = " in line)
        if "pkgname" not in fields:
            raise PackageError(f"{path} is not a package of apk")
        return Item(fields["pkgname"], fields.get("pkgver", ""), path)

    def plain_name(self, name: str) -> str:
        return name

    def files(self, names: Sequence[str]) -> dict[str, list[str]]:
        found = {}
        for name in names:
            lines = self.tool.ask("apk", "info", "-L", name).splitlines()[1:]
            found[name] = [f"/{line}" for line in lines if line.strip()]
        return found

    def owner(self, path: str) -> str:
        ran = self.tool.run(["apk", "info", "--who-owns", path])
        word = ran.out.strip().rpartition(" ")[2]
        return word.rsplit("-", 2)[0] if ran.code == 0 else ""

    def info(self, names: Sequence[str]) -> dict[str, dict[str, str]]:
        listing = self.listing()
        return {name: {"version": listing[name]} for name in names if name in listing}

    def group(self, name: str) -> Group | None:  # noqa: ARG002
        raise PackageError("apk has no groups of packages; name a metapackage with pkg.installed instead")


def _words(order: Order, *more: str) -> list[str]:
    if order.verb not in VERBS:
        raise PackageError(f"apk cannot {order.verb}; it keeps no packages that nothing needs")
    how = order.how
    options = [*more, "--repository", how.fromrepo] if how.fromrepo else list(more)
    if how.skip_verify or any(item.path for item in order.items):
        options.append("--allow-untrusted")
    if order.verb == "install" and how.only_upgrade:
        options.append("--upgrade")
    return [*VERBS[order.verb], *options, *(_word(item) for item in order.items)]


def _word(item: Item) -> str:
    return item.path or (f"{item.name}={item.version}" if item.version else item.name)
