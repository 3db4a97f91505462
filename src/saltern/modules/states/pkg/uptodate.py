"""``pkg.uptodate``."""

from __future__ import annotations

from typing import Unpack

from msgspec.structs import replace

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import result_of
from saltern.modules.api.declare import state
from saltern.modules.api.groups import rest_of
from saltern.modules.api.refused import Refused
from saltern.modules.api.unused_arguments import unused_warnings
from saltern.modules.lib.packages import choose
from saltern.modules.lib.packages.desired_packages import read_wanted
from saltern.modules.lib.packages.model import How, Item, Manager, Order, PackageError, difference
from saltern.modules.states.pkg.words import MEANINGLESS, RepositoryArguments, how_from


@state
def uptodate(
    ctx: Context,
    /,
    name: str,
    *,
    refresh: bool = False,
    pkgs: object = None,
    dist_upgrade: bool = False,
    force_conf_new: bool = False,
    cache_valid_time: float | None = None,
    **origin: Unpack[RepositoryArguments],
) -> Result:
    """Upgrade all installed packages for which the repositories have newer versions.

    Args:
        name: only a title.
        refresh: update the package lists first.
        pkgs: upgrade only these packages, if they are installed.
        dist_upgrade: the upgrade may add and remove packages, too (``apt-get dist-upgrade``).
        force_conf_new: install the new configuration files of the packages instead of keeping the old ones.
        cache_valid_time: seconds for which the package lists count as fresh.

    Example:
        ```yaml
        everything up to date:
          pkg.uptodate:
            - refresh: true
        ```
    """
    del name

    manager = choose.manager(ctx)
    if refresh:
        choose.refresh(ctx, valid_for=cache_valid_time, again=True)
    how = replace(
        how_from(origin),
        whole_system=dist_upgrade,
        new_config=force_conf_new,
        only_upgrade=pkgs is not None,
    )
    notes = unused_warnings(
        rest_of(origin, RepositoryArguments), MEANINGLESS, ("refresh", "pkgs", "fromrepo", "dist_upgrade")
    )
    return _upgrade(ctx, manager, _order(manager, pkgs, how), notes)


def _order(manager: Manager, pkgs: object, how: How) -> Order:
    if pkgs is None:
        return Order("upgrade", (), how)
    there = manager.listing()
    names = [one.name for one in read_wanted("", pkgs, plain_name=manager.plain_name)]
    return Order("install", tuple(Item(name) for name in names if name in there), how)


def _upgrade(ctx: Context, manager: Manager, order: Order, notes: tuple[str, ...]) -> Result:
    nothing = order.verb == "install" and not order.items
    foreseen = {} if nothing else manager.foresee(order)
    facts: dict[str, object] = {"manager": manager.name, "upgrades": foreseen}
    if not foreseen:
        return result_of(ctx, {}, "System is already up-to-date", facts, notes)
    if ctx.test:
        return result_of(ctx, foreseen, "System update will be performed", facts, notes)
    before = manager.listing()
    try:
        manager.carry_out(order)
    except PackageError as problem:
        done = difference(before, manager.listing())
        raise Refused(str(problem), changes=done, data=facts, warnings=notes) from None
    done = difference(before, manager.listing())
    facts["upgrades"] = {name: value for name, value in foreseen.items() if name not in done}
    return result_of(ctx, done, "Upgrade ran successfully", facts, notes)
