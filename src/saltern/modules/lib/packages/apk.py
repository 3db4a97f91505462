"""apk: Alpine."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cmp_to_key

from saltern.modules.lib.packages.model import (
    PLAIN,
    Contents,
    Groups,
    Holds,
    How,
    Item,
    Listing,
    NoGroups,
    Offer,
    Order,
    PackageError,
    change,
    collect_listing,
)
from saltern.modules.lib.packages.tool import Tool
from saltern.system.clock import Clock
from saltern.system.host import Host

VERBS: dict[str, tuple[str, ...]] = {
    "install": ("add",),
    "reinstall": ("fix", "--reinstall"),
    "remove": ("del",),
    "purge": ("del", "--purge"),
    "upgrade": ("upgrade",),
}
CANNOT = {
    "download": "apk fetches a package only to install it; use pkg.installed instead",
    "autoremove": "apk keeps no packages that nothing needs, so there is nothing to remove",
    "autopurge": "apk keeps no packages that nothing needs, so there is nothing to remove",
}
# A package of a tagged repository is listed as name@tag.
STEP = re.compile(r"^\(\s*\d+/\d+\) (\w+) ([^\s@]+)\S* \(([^ )]+)(?: -> ([^)]+))?\)", re.MULTILINE)
GONE = ("Purging", "Removing")
NEEDED = re.compile(r"^World updated, but .*\n((?:  .*\n)+)", re.MULTILINE)
INSTALLED_ROW = re.compile(r"^(\S+)-([^-\s]+-r\d+) ", re.MULTILINE)
PROVIDES = re.compile(r"^(\S+) provides:\n((?:.+\n)*)", re.MULTILINE)
HERE = "lib/apk/db/installed"  # apk 2 and 3, with and without the prefix "usr/"
ORDER = {"<": -1, "=": 0, ">": 1}
DETAILS = {"description": "description", "webpage": "url", "installed size": "size", "license": "license"}
DETAIL = re.compile(r"^\S+ (description|webpage|installed size|license):\n(.*)$", re.MULTILINE)


class Apk:
    name = "apk"

    def __init__(self, host: Host, clock: Clock) -> None:
        self.tool = Tool(host, clock)
        self.holds: Holds = NoHolds()
        self.contents: Contents = ApkContents(self)
        self.groups: Groups = NoGroups(self.name)

    # -- what is here ----------------------------------------------------------------------------

    def listing(self) -> Listing:
        return collect_listing(INSTALLED_ROW.findall(self.tool.ask("apk", "list", "--installed")))

    def leftovers(self) -> Listing:
        return {}

    def provided_names(self) -> frozenset[str]:
        listing = self.listing()
        if not listing:
            return frozenset()
        here = {f"{name}-{version}" for name, version in listing.items()}
        reported = PROVIDES.findall(self.tool.ask("apk", "info", "--provides", *listing))
        words = [word for package, text in reported if package in here for word in text.split()]
        return frozenset(re.split(r"[<>=~]", word)[0] for word in words)

    def offers(self, names: Sequence[str], how: How = PLAIN) -> dict[str, Offer]:
        if not names:
            return {}
        found: dict[str, Offer] = {}
        for name, places in _policy(self.tool.ask("apk", "policy", *names)):
            there = [version for version, repos in places.items() if _has(repos, how.fromrepo)]
            if there:
                there.sort(key=cmp_to_key(self.compare), reverse=True)
                found[name] = Offer(there[0], tuple(there))
        return found

    # -- transactions ----------------------------------------------------------------------------

    def foresee(self, order: Order) -> dict[str, object]:
        text = self.tool.ask("apk", *_words(order, "--simulate"))
        _all_gone(order, text)
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
        _all_gone(order, self.tool.order("apk", *_words(order)))

    def refresh(self, *, trust: bool = False) -> None:  # noqa: ARG002
        self.tool.order("apk", "update")

    def refreshed_at(self) -> float:
        return 0.0

    def fetched(self, item: Item) -> bool:  # noqa: ARG002
        raise PackageError(CANNOT["download"])

    # -- the rest --------------------------------------------------------------------------------

    def compare(self, one: str, other: str) -> int:
        if one == other:
            return 0
        sign = self.tool.run(["apk", "version", "-t", one, other]).out.strip()
        if sign not in ORDER:
            raise PackageError(
                f"apk cannot compare {one!r} and {other!r}; one of them is not a version of apk"
            )
        return ORDER[sign]

    def inspect(self, path: str) -> Item:
        ran = self.tool.ask("tar", "-xzOf", path, ".PKGINFO", fine=(0, 2))
        fields = dict(line.split(" = ", 1) for line in ran.splitlines() if " = " in line)
        if "pkgname" not in fields:
            raise PackageError(f"{path} is not a package of apk")
        return Item(fields["pkgname"], fields.get("pkgver", ""), path)

    def plain_name(self, name: str) -> str:
        return name


class NoHolds:
    """apk has no holds."""

    def held_names(self) -> frozenset[str]:
        return frozenset()

    def why_not(self, names: Sequence[str] = ()) -> str:  # noqa: ARG002
        return "apk cannot hold packages; give an exact version instead"

    def hold(self, names: Sequence[str], *, on: bool) -> None:  # noqa: ARG002
        raise PackageError(self.why_not())


class ApkContents:
    """Files and fields of installed packages."""

    def __init__(self, database: Apk) -> None:
        self._listing = database.listing
        self._tool = database.tool

    def files(self, names: Sequence[str]) -> dict[str, list[str]]:
        found = {}
        for name in names:
            lines = self._tool.ask("apk", "info", "-L", name).splitlines()[1:]
            found[name] = [f"/{line}" for line in lines if line.strip()]
        return found

    def owner(self, path: str) -> str:
        ran = self._tool.run(["apk", "info", "--who-owns", path])
        word = ran.out.strip().rpartition(" ")[2]
        return word.rsplit("-", 2)[0] if ran.code == 0 else ""

    def info(self, names: Sequence[str]) -> dict[str, dict[str, str]]:
        listing = self._listing()
        return {name: {"version": listing[name], **self._details(name)} for name in names if name in listing}

    def _details(self, name: str) -> dict[str, str]:
        rows = DETAIL.findall(self._tool.ask("apk", "info", "-d", "-w", "-s", "--license", name))
        return {DETAILS[key]: value for key, value in reversed(rows)}


def _policy(text: str) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """Names with their versions, each with its repositories."""
    for part in re.split(r"^(?=\S+ policy:$)", text, flags=re.MULTILINE):
        name, _, rows = part.partition(" policy:\n")
        places: dict[str, list[str]] = {}
        version = ""
        for row in rows.splitlines():
            if row.startswith("    "):
                places.setdefault(version, []).append(row.strip())
            else:
                version = row.strip().removesuffix(":")
        if places:
            yield name, places


def _has(places: list[str], fromrepo: str) -> bool:
    """True if it is available: from the requested repository, or else from one without a tag."""
    repos = [place for place in places if not place.endswith(HERE)]
    return any(fromrepo in place if fromrepo else not place.startswith("@") for place in repos)


def _all_gone(order: Order, text: str) -> None:
    """Raise if packages stay because others need them, which apk reports as success."""
    if order.verb in ("remove", "purge") and (stay := NEEDED.search(text)):
        rows = [row.strip().replace(": ", " is needed by ", 1) for row in stay[1].splitlines()]
        raise PackageError(f"apk does not remove packages that others need: {'; '.join(rows)}")


def _words(order: Order, *more: str) -> list[str]:
    if order.verb not in VERBS:
        raise PackageError(CANNOT[order.verb])
    how = order.how
    repository = ("--repository", how.fromrepo) if how.fromrepo and not how.fromrepo.startswith("@") else ()
    rows = (
        # A file the user names is trusted, as apt and dnf do.
        ("--allow-untrusted", how.skip_verify or any(item.path for item in order.items)),
        # Without it an installed package stays unchanged, unless a version is given.
        ("--upgrade", order.verb == "install" and (how.only_upgrade or any(i.newest for i in order.items))),
    )
    options = [*more, *repository, *(option for option, wanted in rows if wanted)]
    return [*VERBS[order.verb], *options, *(_word(item, how) for item in order.items)]


def _word(item: Item, how: How) -> str:
    """The word for an item; the newest version has no number, since apk would pin it forever."""
    if item.path:
        return item.path
    tag = how.fromrepo if how.fromrepo.startswith("@") else ""
    return f"{item.name}{tag}" if item.newest or not item.version else f"{item.name}{tag}={item.version}"
