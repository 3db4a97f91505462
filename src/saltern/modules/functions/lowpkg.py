"""``lowpkg``: installed packages, according to the low-level tool (dpkg, rpm …)."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.packages.choose import manager
from saltern.modules.lib.packages.model import PackageError
from saltern.modules.lib.packages.versions import bare


@function
def list_pkgs(ctx: Context, *packages: str) -> dict[str, str]:
    """Installed packages with their versions; all, or those named.

    Example:
        ```console
        $ saltern call lowpkg.list_pkgs webserver
        local:
            ----------
            webserver:
                1.0
        ```
    """
    listing = manager(ctx).listing()
    return {name: listing[name] for name in packages if name in listing} if packages else listing


@function
def file_list(ctx: Context, *packages: str) -> dict[str, object]:
    """The files of packages in one list, and problems as ``errors``.

    Example:
        ```console
        $ saltern call lowpkg.file_list webserver
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
    found, errors = _files(ctx, packages)
    return {"errors": errors, "files": sorted({path for paths in found.values() for path in paths})}


@function
def file_dict(ctx: Context, *packages: str) -> dict[str, object]:
    """The files of packages by package, and problems as ``errors``.

    Example:
        ```console
        $ saltern call lowpkg.file_dict webserver
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
    found, errors = _files(ctx, packages)
    return {"errors": errors, "packages": found}


def _files(ctx: Context, packages: tuple[str, ...]) -> tuple[dict[str, list[str]], list[str]]:
    chosen = manager(ctx)
    found: dict[str, list[str]] = {}
    errors: list[str] = []
    for name in packages or tuple(chosen.listing()):
        try:
            found |= chosen.contents.files([name])
        except PackageError as problem:
            errors.append(str(problem))
    return found, errors


@function
def info(ctx: Context, *packages: str) -> dict[str, dict[str, str]]:
    """The data of installed packages; all, or those named.

    Example:
        ```console
        $ saltern call lowpkg.info webserver
        local:
            ----------
            webserver:
                ----------
                arch:
                    all
                description:
                    for the examples
                packager:
                    nobody <n@example.org>
                version:
                    1.0
        ```
    """
    chosen = manager(ctx)
    listing = chosen.listing()
    names = [name for name in packages or listing if name in listing]
    return chosen.contents.info(names) if names else {}


@function
def version_cmp(ctx: Context, ver1: str, ver2: str, ignore_epoch: bool = False) -> int:
    """-1, 0 or 1: whether the first version is older than, the same as, or newer than the second.

    Example:
        ```console
        $ saltern call lowpkg.version_cmp 1.0-1 1.0-2
        local:
            -1
        ```
    """
    one, other = (bare(str(text)) if ignore_epoch else str(text) for text in (ver1, ver2))
    order = manager(ctx).compare(one, other)
    return (order > 0) - (order < 0)


@function
def bin_pkg_info(ctx: Context, path: str, saltenv: str | None = None) -> dict[str, str]:
    """The name and version of a package file.

    Example:
        ```console
        $ saltern call lowpkg.bin_pkg_info /srv/packages/webserver_1.0_all.deb
        local:
            ----------
            name:
                webserver
            version:
                1.0
        ```
    """
    from saltern.modules.lib.addresses import on_disk

    place = on_disk(ctx, path, saltenv)
    if place is None:
        raise PackageError(f"the package file {path} was not found")
    item = manager(ctx).inspect(place)
    return {"name": item.name, "version": item.version}
