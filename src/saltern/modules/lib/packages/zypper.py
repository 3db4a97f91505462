"""zypper: openSUSE and SLES."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from saltern.language.mask import mask
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
from saltern.modules.lib.packages.rpm import Rpm, Step, foreseen_changes
from saltern.modules.lib.packages.tool import Tool, why
from saltern.system.clock import Clock
from saltern.system.host import Host
from saltern.system.process import Ran
from saltern.system.temporary import private_file

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

AGREE = "--auto-agree-with-licenses"
VERBS: dict[str, tuple[str, ...]] = {
    "install": ("install", AGREE),
    "reinstall": ("install", AGREE, "--force"),
    "download": ("install", AGREE, "--force", "--download-only"),
    "remove": ("remove",),
    "purge": ("remove",),
    "upgrade": ("update", AGREE),
}
# All other sections of the summary (upgrade, downgrade, change of vendor …) replace versions.
KINDS = {"to-install": "add", "to-remove": "remove", "to-reinstall": "again"}
NOTHING_FOUND = 104
FINE = (0, 100, 101, 102, 103, 106)  # done; or updates, a reboot or a restart are advised
INSTALLED_ONLY = "("  # packages in no repository are listed under "(System Packages)"
LISTED = re.compile(r"^(Requires|Recommends|Suggests) *: ?(.*)$")
CONFIG = "/etc/zypp/zypp.conf"
LOCKS_FILE = re.compile(r"^\s*locksfile\.\w+\s*=.*$", re.MULTILINE)


class Zypper(Rpm):
    name = "zypper"

    def __init__(self, host: Host, clock: Clock) -> None:
        super().__init__(host, clock)
        self.holds: Holds = Locks(self.tool)
        self.groups: Groups = Patterns(self.tool)

    def offers(self, names: Sequence[str], how: How = PLAIN) -> dict[str, Offer]:
        if not names:
            return {}
        repo = ["--repo", how.fromrepo] if how.fromrepo else []
        argv = ["search", "--details", "--match-exact", "--type", "package", *repo, "--", *names]
        answer = _answer(self.tool, argv, fine=(*FINE, NOTHING_FOUND))
        rows = [row for row in answer.iter("solvable") if row.get("kind") == "package"]
        return self._offers(
            (self.listing_name(row.get("name", ""), row.get("arch", "")), row.get("edition", ""))
            for row in rows
            if not row.get("repository", "").startswith(INSTALLED_ONLY)
        )

    # -- transactions ----------------------------------------------------------------------------

    def foresee(self, order: Order) -> dict[str, object]:
        with self._heeding_locks(not order.how.change_held) as tool:
            answer = _answer(tool, [*_global(order), *_words(order, "--dry-run")])
        return foreseen_changes(self.listing(), self._steps(answer))

    def _steps(self, answer: Element) -> Iterator[Step]:
        for section in answer.iterfind("install-summary/*"):
            kind = KINDS.get(section.tag, "replace")
            for row in section.iter("solvable"):
                if row.get("type") == "package":
                    name = self.listing_name(row.get("name", ""), row.get("arch", ""))
                    yield Step(kind, name, row.get("edition", ""))

    def carry_out(self, order: Order) -> None:
        with self._heeding_locks(not order.how.change_held) as tool:
            tool.order("zypper", "--non-interactive", *_global(order), *_words(order), fine=FINE)

    @contextmanager
    def _heeding_locks(self, heed: bool) -> Iterator[Tool]:
        """Ignore locks unless ``heed``: zypper has no option for that, but its configuration names their
        file.
        """
        if heed:
            yield self.tool
            return
        text = self.tool.host.read(os.environ.get("ZYPP_CONF", CONFIG)) or ""
        passed = f"{LOCKS_FILE.sub('', text)}\n[main]\nlocksfile.path = /nonexistent\n"
        with private_file("zypp", passed.encode("utf-8", "surrogateescape"), suffix=".conf") as path:
            yield Tool(self.tool.host, self.tool.clock, {"ZYPP_CONF": path})

    def refresh(self, *, trust: bool = False) -> None:
        keys = ["--gpg-auto-import-keys"] if trust else []
        self.tool.order("zypper", "--non-interactive", *keys, "refresh", "--force")

    def refreshed_at(self) -> float:
        return 0.0


class Locks:
    """Holds are locks of the type package."""

    def __init__(self, tool: Tool) -> None:
        self._tool = tool

    def held_names(self) -> frozenset[str]:
        locks = _answer(self._tool, ["locks"]).iter("lock")
        return frozenset(lock.findtext("name", "") for lock in locks if lock.findtext("type") == "package")

    def why_not(self, names: Sequence[str] = ()) -> str:  # noqa: ARG002
        return ""

    def hold(self, names: Sequence[str], *, on: bool) -> None:
        self._tool.order("zypper", "--non-interactive", "addlock" if on else "removelock", "--", *names)


class Patterns:
    """Groups of packages, which zypper calls patterns."""

    def __init__(self, tool: Tool) -> None:
        self._tool = tool

    def find(self, name: str) -> Group | None:
        argv = ["info", "--type", "pattern", "--requires", "--recommends", "--suggests", "--", name]
        return pattern(name, self._tool.ask("zypper", "--non-interactive", *argv))

    def all(self) -> dict[str, list[str]]:
        answer = _answer(self._tool, ["search", "--type", "pattern"], fine=(*FINE, NOTHING_FOUND))
        found: dict[str, list[str]] = {"installed": [], "available": []}
        for row in answer.iter("solvable"):
            kind = "installed" if row.get("status") == "installed" else "available"
            found[kind].append(row.get("name", ""))
        return found


def _answer(tool: Tool, words: Sequence[str], fine: tuple[int, ...] = FINE) -> Element:
    """The output as a tree; raises with zypper's error message."""
    from xml.etree.ElementTree import ParseError, fromstring

    argv = ["zypper", "--non-interactive", "--xmlout", *words]
    ran = tool.run(argv)
    try:
        answer = fromstring(ran.out)
    except ParseError:
        raise PackageError(why(argv, ran)) from None
    if ran.code not in fine:
        raise PackageError(_refusal(argv, ran, answer))
    return answer


def pattern(name: str, text: str) -> Group | None:
    """The packages of a pattern: those of its table, or else its dependencies."""
    if "\nInformation for pattern" not in text:
        return None
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 4 and cells[2] == "package":
            found.setdefault(cells[3], []).append(cells[1])
        elif head := LISTED.match(line):
            current = found.setdefault(head[1], [])
            current += [head[2]] if head[2] and not head[2].startswith("[") else []
        elif line.startswith("    "):
            current.append(line.strip())
        else:
            current = []
    return Group(
        title=name,
        mandatory=_first(found, "Required", "Requires"),
        default=_first(found, "Recommended", "Recommends"),
        optional=_first(found, "Suggested", "Suggests"),
    )


def _first(found: dict[str, list[str]], *words: str) -> tuple[str, ...]:
    return next((tuple(found[word]) for word in words if found.get(word)), ())


def _refusal(argv: Sequence[str], ran: Ran, answer: Element) -> str:
    """zypper's errors, and the problem that it would have asked about."""
    errors = [row.text or "" for row in answer.iter("message") if row.get("type") == "error"]
    asked = [row.findtext("description", "") for row in answer.iter("prompt")]
    said = "\n".join(text.strip() for text in (*errors, *asked) if text.strip())
    return mask(f"zypper failed: {said}") if said else why(argv, Ran(ran.code, err=ran.err))


def _global(order: Order) -> list[str]:
    return ["--no-gpg-checks"] if order.how.skip_verify else []


def _words(order: Order, *more: str) -> list[str]:
    if order.verb not in VERBS:
        raise PackageError(f"zypper has no {order.verb}; remove packages with their dependencies by name")
    how = order.how
    verb = VERBS[order.verb]
    if order.verb == "upgrade" and how.whole_system:
        verb = ("dist-upgrade", AGREE)
    installs = verb[0] == "install"
    exact = any(item.version for item in order.items)
    rows = (
        ("--no-recommends", not how.install_recommends and verb[0] != "remove"),
        ("--oldpackage", installs and exact),
        ("--allow-unsigned-rpm", how.skip_verify and any(item.path for item in order.items)),
    )
    options = [*more, *_from(verb[0], how), *(option for option, wanted in rows if wanted)]
    return [*verb, *options, "--", *map(_word, order.items)]


def _from(verb: str, how: How) -> list[str]:
    option = {"install": "--from", "dist-upgrade": "--from", "update": "--repo"}.get(verb)
    return [option, how.fromrepo] if option and how.fromrepo else []


def _word(item: Item) -> str:
    return item.path or (f"{item.name}={item.version}" if item.version else item.name)
