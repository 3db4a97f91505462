"""zypper: openSUSE and SLES."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from saltern.modules.packages.model import Group, Offer, Order, PackageError, change
from saltern.modules.packages.rpm import Rpm, nevra

VERBS: dict[str, tuple[str, ...]] = {
    "install": ("install", "--auto-agree-with-licenses"),
    "reinstall": ("install", "--force", "--auto-agree-with-licenses"),
    "remove": ("remove",),
    "purge": ("remove",),
    "upgrade": ("update", "--auto-agree-with-licenses"),
}
SECTION = re.compile(r"<to-([a-z-]+)>(.*?)</to-\1>", re.DOTALL)
SOLVABLE = re.compile(r"<solvable\s([^>]*?)/?>")
ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
MESSAGE = re.compile(r'<message type="error">([^<]*)</message>')
LOCK_ROW = re.compile(r"^\s*\d+\s*\|\s*(\S+)\s*\|", re.MULTILINE)
NOTHING_FOUND = 104
FINE = (0, 100, 101, 102, 103, 106)  # done; updates, a reboot or a restart are advised


class Zypper(Rpm):
    name = "zypper"

    def offers(self, names: Sequence[str], fromrepo: str = "") -> dict[str, Offer]:
        if not names:
            return {}
        repo = ["--repo", fromrepo] if fromrepo else []
        argv = ["search", "--details", "--match-exact", "--type", "package", *repo, "--", *names]
        text = self.tool.ask("zypper", "--non-interactive", "--xmlout", *argv, fine=(*FINE, NOTHING_FOUND))
        found: dict[str, list[str]] = {}
        for row in solvables(text):
            versions = found.setdefault(self._called(row["name"], row.get("arch", "")), [])
            if row.get("edition") and row["edition"] not in versions:
                versions.append(row["edition"])
        return {name: Offer(versions[0], tuple(versions)) for name, versions in found.items() if versions}

    def foresee(self, order: Order) -> dict[str, object]:
        argv = ["zypper", "--non-interactive", "--xmlout", *_global(order), *_words(order, "--dry-run")]
        ran = self.tool.run(argv)
        if ran.code not in FINE:
            said = "; ".join(MESSAGE.findall(ran.out)) or ran.err.strip() or f"exit code {ran.code}"
            raise PackageError(f"zypper failed: {said}")
        before = self.listing()
        found: dict[str, object] = {}
        for section, body in SECTION.findall(ran.out):
            for row in solvables(body):
                name = self._called(row["name"], row.get("arch", ""))
                gone = section.startswith("remove")
                found[name] = change(before.get(name, ""), "" if gone else row.get("edition", ""))
        return dict(sorted(found.items()))

    def carry_out(self, order: Order) -> None:
        self.tool.order("zypper", "--non-interactive", *_global(order), *_words(order), fine=FINE)

    def refresh(self) -> None:
        self.tool.order("zypper", "--non-interactive", "refresh", "--force")

    def refreshed_at(self) -> float:
        return 0.0

    def held(self) -> frozenset[str]:
        return frozenset(LOCK_ROW.findall(self.tool.ask("zypper", "--non-interactive", "locks")))

    def set_hold(self, names: Sequence[str], *, on: bool) -> None:
        self.tool.ask("zypper", "--non-interactive", "addlock" if on else "removelock", "--", *names)

    def group(self, name: str) -> Group | None:
        text = self.tool.ask("zypper", "--non-interactive", "info", "--type", "pattern", "--", name)
        rows = [[cell.strip() for cell in line.split("|")] for line in text.splitlines() if "|" in line]
        members = [row for row in rows if len(row) == 4 and row[2] == "package"]
        if not members:
            return None
        return Group(
            mandatory=tuple(row[1] for row in members if row[3] == "Required"),
            default=tuple(row[1] for row in members if row[3] == "Recommended"),
            optional=tuple(row[1] for row in members if row[3] == "Suggested"),
        )


def solvables(text: str) -> Iterator[dict[str, str]]:
    for row in SOLVABLE.findall(text):
        attributes = dict(ATTRIBUTE.findall(row))
        if attributes.get("type", attributes.get("kind", "package")) == "package":
            yield attributes


def _global(order: Order) -> list[str]:
    return ["--no-gpg-checks"] if order.how.skip_verify else []


def _words(order: Order, *more: str) -> list[str]:
    if order.verb not in VERBS:
        raise PackageError(f"zypper has no {order.verb}; remove packages with their dependencies by name")
    how = order.how
    verb = VERBS[order.verb]
    if order.verb == "upgrade" and how.whole_system:
        verb = ("dist-upgrade", "--auto-agree-with-licenses")
    options = [*more, "--from", how.fromrepo] if how.fromrepo and verb[0] == "install" else list(more)
    rows = (
        ("--no-recommends", not how.install_recommends and verb[0] == "install"),
        ("--oldpackage", verb[0] == "install" and any(item.version for item in order.items)),
        ("--allow-unsigned-rpm", how.skip_verify and any(item.path for item in order.items)),
        ("--download-only", how.fetch_only),
    )
    options += [option for option, wanted in rows if wanted]
    return [*verb, *options, "--", *(nevra(item, "=") for item in order.items)]
