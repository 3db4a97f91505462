"""``pkg`` functions that change something. Prefer the states for most of it."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.lib.packages import choose
from saltern.modules.lib.packages.desired_packages import LATEST, Wanted, from_sources, read_wanted
from saltern.modules.lib.packages.model import How, Item, Listing, Order, PackageError, difference


@function
def refresh_db(ctx: Context, /, cache_valid_time: float = 0, failhard: bool = False, **_: object) -> bool:
    """Update the package lists; False if that fails, or an error with ``failhard``.

    Example:
        ```console
        $ saltern call pkg.refresh_db
        ```
    """
    try:
        choose.refresh(ctx, valid_for=cache_valid_time, again=True)
    except PackageError:
        if failhard:
            raise
        return False
    return True


@function
def install(
    ctx: Context,
    /,
    name: str = "",
    refresh: bool = False,
    fromrepo: str = "",
    skip_verify: bool = False,
    pkgs: object = None,
    sources: object = None,
    version: str | None = None,
    reinstall: bool = False,
    install_recommends: bool = True,
    only_upgrade: bool = False,
    **_: object,
) -> dict[str, object]:
    """Install packages. Returns the changes, with old and new versions. The state for it is
    ``pkg.installed``.

    Example:
        ```console
        $ saltern call pkg.install webserver
        local:
            ----------
            webserver:
                ----------
                new:
                    2.0
                old:
        ```
    """
    manager = choose.manager(ctx)
    if refresh:
        choose.refresh(ctx, again=True)
    wants = from_sources(ctx, manager, sources) if sources else _named_packages(ctx, name, pkgs, version)
    how = How(
        fromrepo=fromrepo,
        skip_verify=skip_verify,
        install_recommends=install_recommends,
        only_upgrade=only_upgrade,
    )
    items = tuple(_item(one) for one in wants)
    return _carried_out(ctx, Order("reinstall" if reinstall else "install", items, how))


def _named_packages(ctx: Context, name: str, pkgs: object, version: str | None = None) -> list[Wanted]:
    if not name and not pkgs:
        raise BadArgument("name a package, or several as pkgs")
    names = name.split(",") if name and pkgs is None else pkgs
    single = isinstance(names, list) and len(names) == 1 and version is not None
    plain = choose.manager(ctx).plain_name
    return (
        read_wanted(name, None, version, plain_name=plain)
        if single
        else read_wanted("", names, plain_name=plain)
    )


def _item(one: Wanted) -> Item:
    exact = "" if one.version == LATEST else one.version
    if one.must and one.must[0].relation != "=":
        raise BadArgument(f"pkg.install takes an exact version of {one.name}, not {one.version!r}")
    return Item(one.name, one.must[0].version if one.must else exact, one.path)


def _carried_out(ctx: Context, order: Order) -> dict[str, object]:
    manager = choose.manager(ctx)
    before: Listing = manager.listing()
    manager.carry_out(order)
    return difference(before, manager.listing())


def _remove_packages(ctx: Context, verb: str, name: str, pkgs: object) -> dict[str, object]:
    there = {**choose.manager(ctx).listing(), **(choose.manager(ctx).leftovers() if verb == "purge" else {})}
    items = tuple(Item(one.name) for one in _named_packages(ctx, name, pkgs) if one.name in there)
    return _carried_out(ctx, Order(verb, items)) if items else {}


@function
def remove(ctx: Context, /, name: str = "", pkgs: object = None, **_: object) -> dict[str, object]:
    """Remove packages. Returns the changes, with old and new versions.

    Example:
        ```console
        $ saltern call pkg.remove webserver
        local:
            ----------
            webserver:
                ----------
                new:
                old:
                    1.0
        ```
    """
    return _remove_packages(ctx, "remove", name, pkgs)


@function
def purge(ctx: Context, /, name: str = "", pkgs: object = None, **_: object) -> dict[str, object]:
    """Remove packages with their configuration. Returns the changes, with old and new versions.

    Example:
        ```console
        $ saltern call pkg.purge webserver
        local:
            ----------
            webserver:
                ----------
                new:
                old:
                    1.0
        ```
    """
    return _remove_packages(ctx, "purge", name, pkgs)


@function
def upgrade(
    ctx: Context, /, refresh: bool = True, dist_upgrade: bool = False, **_: object
) -> dict[str, object]:
    """Upgrade all packages. Returns the changes, with old and new versions.

    Example:
        ```console
        $ saltern call pkg.upgrade
        ```
    """
    if refresh:
        choose.refresh(ctx)
    return _carried_out(ctx, Order("upgrade", (), How(whole_system=dist_upgrade)))


@function
def autoremove(ctx: Context, list_only: bool = False, purge: bool = False) -> dict[str, object] | list[str]:
    """Remove packages that no other package needs any more; with ``list_only``, only return their names.

    Example:
        ```console
        $ saltern call pkg.autoremove list_only=true
        ```
    """
    order = Order("autopurge" if purge else "autoremove")
    return sorted(choose.manager(ctx).foresee(order)) if list_only else _carried_out(ctx, order)


@function
def hold(ctx: Context, /, name: str = "", pkgs: object = None, **_: object) -> dict[str, object]:
    """Hold packages, so that no upgrade changes them. Returns the changes by package.

    Example:
        ```console
        $ saltern call pkg.hold webserver
        local:
            ----------
            webserver:
                ----------
                changes:
                    ----------
                    new:
                        hold
                    old:
                        install
                name:
                    webserver
                result:
                    True
        ```
    """
    return _change_holds(ctx, name, pkgs, on=True)


@function
def unhold(ctx: Context, /, name: str = "", pkgs: object = None, **_: object) -> dict[str, object]:
    """Release held packages. Returns the changes by package.

    Example:
        ```console
        $ saltern call pkg.unhold webserver
        local:
            ----------
            webserver:
                ----------
                changes:
                    ----------
                    new:
                        install
                    old:
                        hold
                name:
                    webserver
                result:
                    True
        ```
    """
    return _change_holds(ctx, name, pkgs, on=False)


def _change_holds(ctx: Context, name: str, pkgs: object, *, on: bool) -> dict[str, object]:
    manager = choose.manager(ctx)
    names = [one.name for one in _named_packages(ctx, name, pkgs)]
    before = manager.holds.held_names()
    left = [one for one in names if (one in before) != on]
    if left and (why := manager.holds.why_not()):
        raise PackageError(why)
    if left:
        manager.holds.hold(left, on=on)
    after = manager.holds.held_names() if left else before
    old, new = ("install", "hold") if on else ("hold", "install")
    return {
        one: {
            "name": one,
            "result": (one in after) == on,
            "changes": {"old": old, "new": new} if (one in before) != (one in after) else {},
        }
        for one in names
    }
