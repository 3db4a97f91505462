"""``pkg`` functions that query packages."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.lib.packages import choose
from saltern.modules.lib.packages.model import How, Order, PackageError


def _fresh(ctx: Context, valid_for: float) -> None:
    """Update the package lists if possible; without permission, use the existing ones."""
    try:
        choose.refresh(ctx, valid_for=valid_for)
    except PackageError:
        return


@function
def list_pkgs(
    ctx: Context,
    /,
    versions_as_list: bool = False,
    removed: bool = False,
    purge_desired: bool = False,
    **_: object,
) -> dict[str, object]:
    """Installed packages with their versions.

    Args:
        versions_as_list: return the versions of each package as a list.
        removed: instead list packages that were removed but left their configuration.
        purge_desired: accepted for compatibility with Salt.

    Example:
        ```console
        $ saltern call pkg.list_pkgs
        ```
    """
    manager = choose.manager(ctx)
    found = manager.leftovers() if removed else manager.listing()
    if versions_as_list:
        return {name: version.split(",") for name, version in found.items()}
    return dict(found)


def _one_or_all(names: tuple[str, ...], found: dict[str, str]) -> str | dict[str, str]:
    """The value itself for one name, a mapping for several, as in Salt."""
    return found[names[0]] if len(names) == 1 else found


@function
def version(ctx: Context, /, *names: str, **_: object) -> str | dict[str, str]:
    """The installed version of a package, empty if it is not installed; for several packages a mapping.

    Example:
        ```console
        $ saltern call pkg.version webserver
        local:
            1.0
        ```
    """
    manager = choose.manager(ctx)
    listing = manager.listing()
    return _one_or_all(names, {name: listing.get(manager.plain_name(name), "") for name in names})


@function
def latest_version(
    ctx: Context,
    /,
    *names: str,
    refresh: bool = True,
    fromrepo: str = "",
    show_installed: bool = False,
    cache_valid_time: float = 0,
    **_: object,
) -> str | dict[str, str]:
    """The version that an upgrade or installation would install; empty if the package is up to date.

    Args:
        names: the packages; for several, a mapping is returned.
        refresh: update the package lists first, once per run.
        fromrepo: the repository, or on Debian the release, to query.
        show_installed: return the newest version even if it is installed.
        cache_valid_time: seconds for which the package lists count as fresh.

    Example:
        ```console
        $ saltern call pkg.latest_version webserver
        local:
            2.0
        ```
    """
    if refresh:
        _fresh(ctx, cache_valid_time)
    manager = choose.manager(ctx)
    listing = manager.listing()
    offers = manager.offers(names, How(fromrepo=fromrepo))
    found = {}
    for name in names:
        candidate = offers[name].candidate if name in offers else ""
        current = listing.get(manager.plain_name(name), "")
        newer = candidate and (not current or manager.compare(current, candidate) < 0)
        found[name] = candidate if newer or show_installed else ""
    return _one_or_all(names, found)


@function
def available_version(ctx: Context, /, *names: str, **more: object) -> str | dict[str, str]:
    """An alias of ``pkg.latest_version``.

    Example:
        ```console
        $ saltern call pkg.available_version webserver
        local:
            2.0
        ```
    """
    return latest_version(ctx, *names, **more)  # type: ignore[arg-type]


@function
def upgrade_available(ctx: Context, /, name: str, **more: object) -> bool:
    """True if there is a newer version of an installed package.

    Example:
        ```console
        $ saltern call pkg.upgrade_available webserver
        local:
            True
        ```
    """
    return bool(latest_version(ctx, name, **more))  # type: ignore[arg-type]


@function
def list_upgrades(
    ctx: Context, /, refresh: bool = True, dist_upgrade: bool = True, **_: object
) -> dict[str, str]:
    """The packages that an upgrade would change, with their new versions.

    Example:
        ```console
        $ saltern call pkg.list_upgrades
        local:
            ----------
            webserver:
                2.0
        ```
    """
    if refresh:
        _fresh(ctx, 0)
    foreseen = choose.manager(ctx).foresee(Order("upgrade", (), How(whole_system=dist_upgrade)))
    return {
        name: str(change["new"])
        for name, change in foreseen.items()
        if isinstance(change, dict) and change["new"] and change["old"]
    }


@function
def list_repo_pkgs(ctx: Context, /, *names: str, fromrepo: str = "", **_: object) -> dict[str, list[str]]:
    """All versions of packages in the repositories.

    Example:
        ```console
        $ saltern call pkg.list_repo_pkgs webserver
        local:
            ----------
            webserver:
                - 2.0
                - 1.0
        ```
    """
    if not names:
        raise BadArgument("pkg.list_repo_pkgs needs the names of packages")
    offers = choose.manager(ctx).offers(names, How(fromrepo=fromrepo))
    return {name: list(offer.versions) for name, offer in offers.items()}


@function
def version_cmp(ctx: Context, /, pkg1: str, pkg2: str, ignore_epoch: bool = False, **_: object) -> int:
    """-1, 0 or 1: whether the first version is older than, the same as, or newer than the second.

    Example:
        ```console
        $ saltern call pkg.version_cmp 1.0-1 1.0-2
        local:
            -1
        ```
    """
    from saltern.modules.functions.lowpkg import version_cmp as compare

    return compare(ctx, str(pkg1), str(pkg2), ignore_epoch)


@function
def info_installed(ctx: Context, /, *names: str, attr: str = "", **_: object) -> dict[str, dict[str, str]]:
    """The data of installed packages; ``attr`` selects keys, separated by commas.

    Example:
        ```console
        $ saltern call pkg.info_installed webserver attr=version,arch
        local:
            ----------
            webserver:
                ----------
                arch:
                    all
                version:
                    1.0
        ```
    """
    manager = choose.manager(ctx)
    listing = manager.listing()
    if missing := [name for name in names if manager.plain_name(name) not in listing]:
        raise PackageError(f"not installed: {', '.join(missing)}")
    found = manager.contents.info(names or tuple(listing))
    wanted_keys = [key.strip() for key in attr.split(",") if key.strip()]
    if not wanted_keys:
        return found
    return {name: {key: row[key] for key in wanted_keys if key in row} for name, row in found.items()}


@function
def file_list(ctx: Context, /, *packages: str, **_: object) -> dict[str, object]:
    """The files of packages in one list, and problems as ``errors``.

    Example:
        ```console
        $ saltern call pkg.file_list webserver
        local:
            ----------
            errors:
            files:
                - /.
                - /etc
                - /etc/webserver.conf
                - /usr
                - /usr/share
                - /usr/share/webserver
                - /usr/share/webserver/version
        ```
    """
    from saltern.modules.functions.lowpkg import file_list as files

    return files(ctx, *packages)


@function
def file_dict(ctx: Context, /, *packages: str, **_: object) -> dict[str, object]:
    """The files of packages by package, and problems as ``errors``.

    Example:
        ```console
        $ saltern call pkg.file_dict webserver
        local:
            ----------
            errors:
            packages:
                ----------
                webserver:
                    - /.
                    - /etc
                    - /etc/webserver.conf
                    - /usr
                    - /usr/share
                    - /usr/share/webserver
                    - /usr/share/webserver/version
        ```
    """
    from saltern.modules.functions.lowpkg import file_dict as files

    return files(ctx, *packages)


@function
def owner(ctx: Context, /, *paths: str, **_: object) -> str | dict[str, str]:
    """The package that a file belongs to, empty if there is none; for several paths a mapping.

    Example:
        ```console
        $ saltern call pkg.owner /etc/webserver.conf
        local:
            webserver
        ```
    """
    manager = choose.manager(ctx)
    return _one_or_all(paths, {path: manager.contents.owner(path) for path in paths})


@function
def normalize_name(ctx: Context, name: str) -> str:
    """The name without the architecture of the machine.

    Example:
        ```console
        $ saltern call pkg.normalize_name webserver:all
        local:
            webserver
        ```
    """
    return choose.manager(ctx).plain_name(name)


@function
def list_holds(ctx: Context, /, **_: object) -> list[str]:
    """The held packages.

    Example:
        ```console
        $ saltern call pkg.list_holds
        ```
    """
    return sorted(choose.manager(ctx).holds.held_names())


@function
def get_selections(
    ctx: Context, pattern: str | None = None, state: str | None = None
) -> dict[str, list[str]]:
    """The selections of dpkg, by ``hold``, ``install``, ``deinstall`` and ``purge``.

    Example:
        ```console
        $ saltern call pkg.get_selections 'webserver*'
        local:
            ----------
            install:
                - webserver
                - webserver-docs
        ```
    """
    from fnmatch import fnmatchcase

    from saltern.modules.lib.packages.dpkg import Dpkg, selections

    manager = choose.manager(ctx)
    if not isinstance(manager, Dpkg):
        raise PackageError(f"{manager.name} has no selections; pkg.list_holds lists held packages")
    found = {
        word: [name for name in names if pattern is None or fnmatchcase(name, pattern)]
        for word, names in selections(manager).items()
    }
    return {word: names for word, names in found.items() if names and state in (None, word)}
