"""``pkg.downloaded``."""

from __future__ import annotations

from typing import Unpack

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import result_of
from saltern.modules.api.declare import state
from saltern.modules.api.groups import rest_of
from saltern.modules.api.unused_arguments import unused_warnings
from saltern.modules.lib.packages import choose
from saltern.modules.lib.packages.desired_packages import Wanted, read_wanted
from saltern.modules.lib.packages.model import How, Item, Manager, Order, PackageError, change
from saltern.modules.lib.packages.versions import fulfils
from saltern.modules.states.pkg.words import MEANINGLESS, RepositoryArguments, how_from, join_names


@state
def downloaded(
    ctx: Context,
    /,
    name: str,
    *,
    version: str | None = None,
    pkgs: object = None,
    ignore_epoch: bool | None = None,
    refresh: bool | None = None,
    cache_valid_time: float | None = None,
    **origin: Unpack[RepositoryArguments],
) -> Result:
    """Fetch packages into the package manager's cache, for a later installation.

    Args:
        name: the package; only a label if ``pkgs`` is given.
        version: the version to fetch; the newest if not given.
        pkgs: several packages: names, and ``{name: version}``.
        ignore_epoch: compare versions without their epochs.
        refresh: update the package lists first; once per run if not given.
        cache_valid_time: seconds for which the package lists count as fresh.

    Example:
        ```yaml
        fetch the update by day:
          pkg.downloaded:
            - name: webserver
            - version: '2.0'
        ```
    """
    manager = choose.manager(ctx)
    if refresh is not False:
        choose.refresh(ctx, valid_for=cache_valid_time, again=refresh is True)
    wants = read_wanted(name, pkgs, version, plain_name=manager.plain_name)
    how = how_from(origin)
    items = _items(manager, wants, how, ignore_epoch)
    return _fetch(
        ctx,
        manager,
        Order("download", items, how),
        unused_warnings(rest_of(origin, RepositoryArguments), MEANINGLESS, ("version", "pkgs")),
    )


def _items(manager: Manager, wants: list[Wanted], how: How, ignore_epoch: bool | None) -> tuple[Item, ...]:
    offers = manager.offers([one.name for one in wants], how)
    found = []
    for one in wants:
        versions = offers[one.name].versions if one.name in offers else ()
        fitting = [each for each in versions if fulfils(each, one.must, manager.compare, ignore_epoch)]
        if not fitting:
            wanted = f"is {one.version!r}" if one.version else "is available"
            raise PackageError(f"No version of {one.name} {wanted}")
        best = fitting[0] if one.must else offers[one.name].candidate or fitting[0]
        found.append(Item(one.name, best))
    return tuple(found)


def _fetch(ctx: Context, manager: Manager, order: Order, notes: tuple[str, ...]) -> Result:
    def missing_items() -> list[Item]:
        return [item for item in order.items if not manager.fetched(item)]

    left = missing_items()
    data: dict[str, object] = {
        "manager": manager.name,
        "packages": {item.name: item.version for item in order.items},
    }
    if not left:
        return result_of(ctx, {}, "All specified packages are already downloaded", data, notes)
    changes: dict[str, object] = {item.name: change("", item.version) for item in left}
    names = join_names(item.name for item in left)
    if ctx.test:
        return result_of(ctx, changes, f"The following packages would be downloaded: {names}", data, notes)
    manager.carry_out(Order("download", tuple(left), order.how))
    if still := missing_items():
        raise PackageError(f"These packages were not downloaded: {join_names(item.name for item in still)}")
    return result_of(ctx, changes, f"The following packages were downloaded: {names}", data, notes)
