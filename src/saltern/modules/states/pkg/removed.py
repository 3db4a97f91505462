"""``pkg.removed`` and ``pkg.purged``."""

from __future__ import annotations

from collections.abc import Callable

from saltern.language.result import Outcome, Result, ok
from saltern.modules.api.context import Context
from saltern.modules.api.converge import result_of
from saltern.modules.api.declare import state
from saltern.modules.api.params import Unused
from saltern.modules.api.unused_arguments import unused_warnings
from saltern.modules.lib.packages.choose import manager as manager_of
from saltern.modules.lib.packages.desired_packages import Wanted, facts, read_wanted
from saltern.modules.lib.packages.model import Item, Listing, Manager, Order, PackageError, difference
from saltern.modules.lib.packages.versions import fulfils
from saltern.modules.states.pkg.words import MEANINGLESS, join_names

KNOWN = ("version", "pkgs", "normalize", "ignore_epoch")


@state(removes=True)
def removed(
    ctx: Context,
    /,
    name: str,
    *,
    version: str | None = None,
    pkgs: object = None,
    normalize: bool = True,
    ignore_epoch: bool | None = None,
    **rest: Unused,
) -> Result:
    """Remove packages; their configuration stays.

    Args:
        name: the package; only a label if ``pkgs`` is given.
        version: remove it only if it has this version.
        pkgs: several packages: names, and ``{name: version}``.
        normalize: treat ``name:arch`` with the machine's own architecture as ``name``.
        ignore_epoch: compare versions without their epochs.

    Example:
        ```yaml
        webserver:
          pkg.removed: []
        ```
    """

    def look(manager: Manager) -> tuple[Listing, Listing]:
        return manager.listing(), {}

    wants = _reader(name, pkgs, version, normalize)
    return _remove(ctx, "remove", wants, look, ignore_epoch, unused_warnings(rest, MEANINGLESS, KNOWN))


@state(removes=True)
def purged(
    ctx: Context,
    /,
    name: str,
    *,
    version: str | None = None,
    pkgs: object = None,
    normalize: bool = True,
    ignore_epoch: bool | None = None,
    **rest: Unused,
) -> Result:
    """Remove packages with their configuration, including what an earlier removal left.

    Args:
        name: the package; only a label if ``pkgs`` is given.
        version: purge it only if it has this version.
        pkgs: several packages: names, and ``{name: version}``.
        normalize: treat ``name:arch`` with the machine's own architecture as ``name``.
        ignore_epoch: compare versions without their epochs.

    Example:
        ```yaml
        old web server:
          pkg.purged:
            - pkgs: [webserver, webserver-docs]
        ```
    """

    def look(manager: Manager) -> tuple[Listing, Listing]:
        return manager.listing(), manager.leftovers()

    wants = _reader(name, pkgs, version, normalize)
    return _remove(ctx, "purge", wants, look, ignore_epoch, unused_warnings(rest, MEANINGLESS, KNOWN))


Read = Callable[[Manager], list[Wanted]]
Look = Callable[[Manager], tuple[Listing, Listing]]
DONE = {"remove": "removed", "purge": "purged"}


def _reader(name: str, pkgs: object, version: str | None, normalize: bool) -> Read:
    return lambda manager: read_wanted(
        name, pkgs, version, plain_name=manager.plain_name if normalize else str
    )


def _remove(
    ctx: Context, verb: str, read: Read, look: Look, ignore_epoch: bool | None, notes: tuple[str, ...]
) -> Result:
    manager = manager_of(ctx)
    wants = read(manager)
    if not wants:
        return ok("No packages to remove provided", manager=manager.name, packages={})
    before = look(manager)
    there = [one for one in wants if _there(manager, one, before, ignore_epoch)]
    if not there:
        comment = f"All specified packages{_versions(wants)} are already absent"
        return result_of(ctx, {}, comment, facts(manager, wants, before[0]), notes)
    order = Order(verb, tuple(item for one in there for item in _items(manager, one, before, ignore_epoch)))
    names = join_names(one.name for one in there)
    if ctx.test:
        changes = _shape(verb, *_split(manager.foresee(order), before))
        comment = f"The following packages will be {DONE[verb]}: {names}"
        return result_of(ctx, changes, comment, facts(manager, wants, before[0]), notes)
    said = _act(manager, order)
    after = look(manager)
    changes = _shape(verb, difference(before[0], after[0]), _forgotten_packages(before[1], after[1]))
    left = [one.name for one in there if _there(manager, one, after, ignore_epoch)]
    if said or left:
        words = [f"The following packages failed to be {DONE[verb]}: {join_names(left)}"] if left else []
        return Result(
            outcome=Outcome.FAILED,
            comment="\n".join([*words, *said]),
            changes=changes,
            data=facts(manager, wants, after[0]),
            warnings=notes,
        )
    return result_of(
        ctx, changes, f"All targeted packages were {DONE[verb]}.", facts(manager, wants, after[0]), notes
    )


def _there(manager: Manager, one: Wanted, found: tuple[Listing, Listing], ignore_epoch: bool | None) -> bool:
    versions = [version for listing in found for version in listing.get(one.name, "").split(",") if version]
    return any(fulfils(version, one.must, manager.compare, ignore_epoch) for version in versions)


def _items(
    manager: Manager, one: Wanted, found: tuple[Listing, Listing], ignore_epoch: bool | None
) -> list[Item]:
    """The items to remove; of a package installed in several versions (a kernel), only the named ones."""
    versions = found[0].get(one.name, "").split(",")
    if len(versions) == 1:
        return [Item(one.name)]
    meant = [version for version in versions if fulfils(version, one.must, manager.compare, ignore_epoch)]
    return [Item(one.name)] if meant == versions else [Item(one.name, version) for version in meant]


def _act(manager: Manager, order: Order) -> list[str]:
    try:
        manager.carry_out(order)
    except PackageError as problem:
        return [str(problem)]
    return []


def _split(
    changes: dict[str, object], before: tuple[Listing, Listing]
) -> tuple[dict[str, object], dict[str, object]]:
    """The simulated changes, split into installed packages and leftovers of an earlier removal."""
    installed = {name: value for name, value in changes.items() if name not in before[1]}
    return installed, {name: {"old": before[1][name], "new": ""} for name in changes if name in before[1]}


def _forgotten_packages(before: Listing, after: Listing) -> dict[str, object]:
    return {name: value for name, value in difference(before, after).items() if name not in after}


def _shape(verb: str, installed: dict[str, object], leftovers: dict[str, object]) -> dict[str, object]:
    """The changes in Salt's form, which has two parts for a purge."""
    if verb == "remove" or not (installed or leftovers):
        return installed
    return {"installed": installed, "removed": leftovers}


def _versions(wants: list[Wanted]) -> str:
    asked = [f"{one.name} {one.version}" for one in wants if one.version]
    return f" ({join_names(asked)})" if asked else ""
