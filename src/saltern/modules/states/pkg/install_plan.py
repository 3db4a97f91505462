"""Install packages in the versions they must have: compare, choose, install, and check."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn

from msgspec import Struct

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import result_of
from saltern.modules.api.refused import Refused
from saltern.modules.lib.packages import choose
from saltern.modules.lib.packages.desired_packages import Wanted, facts
from saltern.modules.lib.packages.model import (
    How,
    Item,
    Listing,
    Manager,
    Offer,
    Order,
    PackageError,
    change,
    difference,
)
from saltern.modules.lib.packages.versions import fulfils
from saltern.modules.states.pkg.words import join_names


class Terms(Struct, frozen=True, kw_only=True):
    """All arguments of a state except the packages."""

    how: How
    refresh: bool | None = None
    cache_valid_time: float | None = None
    hold: bool | None = None
    update_holds: bool = False
    allow_updates: bool = False
    ignore_epoch: bool | None = None
    reinstall: bool = False


class Wording(Struct, frozen=True, kw_only=True):
    """The comments of the state; ``{}`` stands for the names."""

    nothing: str
    done: str
    would: str


class Aim(Struct, frozen=True, kw_only=True):
    """The work to do: packages to install, to reinstall, to hold or release, and the obstacles.

    ``unknown`` are packages that may be in a repository that this test run would have added.
    """

    install: tuple[Item, ...] = ()
    again: tuple[Item, ...] = ()
    unknown: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def names(self) -> set[str]:
        return {*(item.name for item in (*self.install, *self.again)), *self.unknown, *self.holds}


class Job(Struct, frozen=True, kw_only=True):
    """One call of a state. ``notes`` are warnings to pass on."""

    ctx: Context
    manager: Manager
    wants: list[Wanted]
    terms: Terms
    words: Wording
    notes: tuple[str, ...] = ()

    def facts(self, listing: Listing) -> dict[str, object]:
        return facts(self.manager, self.wants, listing)

    def ok(self, changes: dict[str, object], comment: str, listing: Listing) -> Result:
        return result_of(self.ctx, changes, comment, self.facts(listing), self.notes)

    def refuse(self, changes: dict[str, object], lines: Iterable[str], listing: Listing) -> NoReturn:
        raise Refused("\n".join(lines), changes=changes, data=self.facts(listing), warnings=self.notes)


def bring(job: Job) -> Result:
    """Install the packages, and report the result or the obstacles."""
    before = job.manager.listing()
    aim = plan_packages(job, before)
    if aim.problems:
        job.refuse({}, aim.problems, before)
    if not (aim.install or aim.again or aim.unknown or aim.holds):
        return job.ok({}, job.words.nothing.format(join_names(one.name for one in job.wants)), before)
    return (_foresee if job.ctx.test else _install)(job, aim, before)


# -- choosing ----------------------------------------------------------------------------------


def plan_packages(job: Job, before: Listing) -> Aim:
    """The missing packages, and the versions that the repositories have."""
    manager, terms = job.manager, job.terms
    missing = [one for one in job.wants if not settled(manager, one, terms, before)]
    again = [one for one in job.wants if terms.reinstall and one not in missing and one.name in before]
    stale = ""
    if terms.refresh or (terms.refresh is None and any(not one.path for one in missing)):
        stale = _refresh(job.ctx, terms)
    offers = manager.offers([one.name for one in missing if not one.path], terms.how)
    chosen = [(one, _choice(manager, one, terms, before, offers)) for one in missing]
    install = tuple(item for _, item in chosen if isinstance(item, Item))
    excused = {one.name for one in missing if one.name not in offers} if choose.pending(job.ctx) else set()
    holds = _holds_to_set(job)
    refused = {one.name: item for one, item in chosen if item and isinstance(item, str)}
    return Aim(
        install=install,
        again=tuple(Item(one.name) for one in again),
        unknown=tuple(name for name in refused if name in excused),
        holds=holds,
        problems=(
            *(why for name, why in refused.items() if name not in excused),
            *([stale] if stale and refused.keys() - excused else []),
            *_held_in_the_way(manager, install, terms),
            *([why] if holds and (why := manager.holds.why_not()) else []),
        ),
    )


def _refresh(ctx: Context, terms: Terms) -> str:
    """Update the package lists; why that failed, if it was requested. Otherwise old lists will do."""
    try:
        choose.refresh(ctx, valid_for=terms.cache_valid_time, again=terms.refresh is True)
    except PackageError as problem:
        if terms.refresh and not ctx.test:
            raise
        return f"The package lists could not be updated: {problem}"
    return ""


def settled(manager: Manager, one: Wanted, terms: Terms, listing: Listing) -> bool:
    """True if the package is installed as wanted; never for the newest version, which must be looked up."""
    versions = [version for version in listing.get(one.name, "").split(",") if version]
    if one.path:
        return one.version in versions
    if not versions:
        return not one.version and one.name in manager.provided_names()
    if not one.version:
        return True
    return not one.newest and any(_fits(manager, version, one, terms) for version in versions)


def _fits(manager: Manager, version: str, one: Wanted, terms: Terms) -> bool:
    if fulfils(version, one.must, manager.compare, terms.ignore_epoch):
        return True
    if not terms.allow_updates or len(one.must) != 1 or one.must[0].relation != "=":
        return False
    return manager.compare(version, one.must[0].version) >= 0


def _choice(
    manager: Manager, one: Wanted, terms: Terms, before: Listing, offers: Mapping[str, Offer]
) -> Item | str:
    """The item to install; or the reason why there is none; or None if there is nothing to do."""
    if one.path:
        return Item(one.name, one.version, one.path)
    current = before.get(one.name, "")
    if terms.how.only_upgrade and not current:
        return ""
    offer = offers.get(one.name)
    if offer is None:
        return "" if one.newest and current else _not_found(manager, one, terms)
    if one.newest:
        return _newer(manager, one, offer, current)
    if not one.version:
        return Item(one.name)
    for version in offer.versions:
        if fulfils(version, one.must, manager.compare, terms.ignore_epoch):
            return Item(one.name, version)
    there = ", ".join(offer.versions) or "none"
    return f"No version of {one.name} is {one.version!r}; available: {there}"


def _newer(manager: Manager, one: Wanted, offer: Offer, current: str) -> Item | str:
    if not offer.candidate:
        return "" if current else f"No information found for '{one.name}': no repository has a version of it"
    if current and all(manager.compare(version, offer.candidate) >= 0 for version in current.split(",")):
        return ""
    return Item(one.name, offer.candidate, newest=True)


def _not_found(manager: Manager, one: Wanted, terms: Terms) -> str:
    where = f" in {terms.how.fromrepo}" if terms.how.fromrepo else ""
    return (
        f"Package {one.name} was not found{where} by {manager.name}; "
        "check its name, or add its repository with pkgrepo.managed"
    )


def _held_in_the_way(manager: Manager, chosen: tuple[Item, ...], terms: Terms) -> list[str]:
    if not chosen or terms.update_holds:
        return []
    held = manager.holds.held_names() & {item.name for item in chosen}
    return [f"Package {name} is held; set update_holds: True to change it anyway" for name in sorted(held)]


def _holds_to_set(job: Job) -> tuple[str, ...]:
    """The packages to hold or release."""
    if job.terms.hold is None:
        return ()
    held = job.manager.holds.held_names()
    return tuple(sorted(one.name for one in job.wants if (one.name in held) != job.terms.hold))


# -- doing -------------------------------------------------------------------------------------


def _orders(terms: Terms, aim: Aim) -> list[Order]:
    pairs = (("install", aim.install), ("reinstall", aim.again))
    return [Order(verb, items, terms.how) for verb, items in pairs if items]


def _foresee(job: Job, aim: Aim, before: Listing) -> Result:
    changes: dict[str, object] = {}
    for order in _orders(job.terms, aim):
        changes |= job.manager.foresee(order)
    changes |= {name: change("", "installed") for name in aim.unknown}
    choose.expect(job.ctx, changes)
    changes = with_holds(changes, aim.holds, job.terms.hold)
    return job.ok(changes, job.words.would.format(join_names(aim.names)), before)


def _install(job: Job, aim: Aim, before: Listing) -> Result:
    said = _act(job.manager, job.terms, aim)
    after = job.manager.listing()
    changes = difference(before, after)
    left = [item.name for item in aim.install if not _arrived(job.manager, item, after)]
    if said or left:
        lines = [f"The following packages failed to install/update: {join_names(left)}"] if left else []
        job.refuse(changes, [*lines, *said], after)
    changes |= {one.name: change(before[one.name], after[one.name]) for one in aim.again}
    changes = with_holds(changes, aim.holds, job.terms.hold)
    return job.ok(changes, job.words.done.format(join_names(aim.names)), after)


def _act(manager: Manager, terms: Terms, aim: Aim) -> list[str]:
    """Run the plan, and return the error if it fails; the listing shows what was done before."""
    try:
        # A transaction that changes a held package may release it.
        kept = manager.holds.held_names() if terms.update_holds and terms.hold is None else frozenset()
        for order in _orders(terms, aim):
            manager.carry_out(order)
        if lost := kept - manager.holds.held_names() if kept else frozenset():
            manager.holds.hold(sorted(lost), on=True)
        if aim.holds:
            manager.holds.hold(aim.holds, on=bool(terms.hold))
    except PackageError as problem:
        return [str(problem)]
    return []


def _arrived(manager: Manager, item: Item, after: Listing) -> bool:
    versions = after.get(item.name, "").split(",")
    if item.version:
        return item.version in versions
    return item.name in after or item.name in manager.provided_names()


def with_holds(changes: dict[str, object], names: Sequence[str], on: bool | None) -> dict[str, object]:
    """The changes with those of the holds: on their own as in Salt, or as ``hold`` of a new version."""
    turn = change("install", "hold") if on else change("hold", "install")
    result = dict(changes)
    for name in names:
        old = result.get(name)
        result[name] = {**old, "hold": turn} if isinstance(old, dict) else turn
    return result
