"""``pkg.uptodate``."""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import result_of
from saltern.modules.api.declare import state
from saltern.modules.api.params import Unused
from saltern.modules.api.refused import Refused
from saltern.modules.api.unused_arguments import unused_warnings
from saltern.modules.lib.packages import choose
from saltern.modules.lib.packages.desired_packages import read_wanted
from saltern.modules.lib.packages.model import How, Item, Manager, Order, PackageError, difference
from saltern.modules.states.pkg.words import MEANINGLESS


@state
def uptodate(
    ctx: Context,
    /,
    name: str,
    *,
    refresh: bool = False,
    pkgs: object = None,
    fromrepo: str | None = None,
    dist_upgrade: bool = False,
    skip_verify: bool = False,
    force_conf_new: bool = False,
    cache_valid_time: float | None = None,
    enablerepo: list[str] | None = None,
    disablerepo: list[str] | None = None,
    **rest: Unused,
) -> Result:
    """Upgrade all installed packages for which the repositories have newer versions.

    Args:
        name: only a label.
        refresh: update the package lists first.
        pkgs: upgrade only these packages, if they are installed.
        fromrepo: the repository, or on Debian the release, to upgrade from.
        dist_upgrade: the upgrade may add and remove packages, too (``apt-get dist-upgrade``).
        skip_verify: also install unsigned packages.
        force_conf_new: install the new configuration files of the packages instead of keeping the old ones.
        cache_valid_time: seconds for which the package lists count as fresh.
        enablerepo, disablerepo: repositories to enable or disable, for dnf and yum.

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
    how = How(
        fromrepo=fromrepo or "",
        whole_system=dist_upgrade,
        skip_verify=skip_verify,
        new_config=force_conf_new,
        only_upgrade=pkgs is not None,
        enablerepo=tuple(enablerepo or ()),
        disablerepo=tuple(disablerepo or ()),
    )
    notes = unused_warnings(rest, MEANINGLESS, ("refresh", "pkgs", "fromrepo", "dist_upgrade"))
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
