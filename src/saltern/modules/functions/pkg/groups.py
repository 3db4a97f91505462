"""``pkg`` functions for package groups of dnf, yum, zypper (patterns) and pacman."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.functions.pkg.modify import install
from saltern.modules.lib.packages import choose
from saltern.modules.lib.packages.comps import PARTS
from saltern.modules.lib.packages.whole_group import whole


@function
def group_list(ctx: Context, /, **_: object) -> dict[str, list[str]]:
    """The package groups, as ``available``, ``installed``, ``available environments`` …

    Example:
        ```console
        $ saltern call pkg.group_list
        ```
    """
    return choose.manager(ctx).groups.all()


@function
def group_info(ctx: Context, /, name: str, expand: bool = False, **_: object) -> dict[str, object]:
    """The packages of a group, as ``mandatory``, ``default``, ``optional`` and ``conditional``.

    Args:
        name: the name or ID of the group.
        expand: accepted for compatibility with Salt; an environment is always listed with the packages of its
            groups.

    Example:
        ```console
        $ saltern call pkg.group_info 'Development Tools'
        ```
    """
    group = whole(choose.manager(ctx), name)
    return {
        **{part: sorted(getattr(group, part)) for part in PARTS},
        "type": "environment group" if group.groups or group.optional_groups else "package group",
        "group": group.title,
        "id": group.id,
        "description": group.description,
    }


@function
def group_diff(ctx: Context, /, name: str, **_: object) -> dict[str, dict[str, list[str]]]:
    """The installed and the missing packages of a group.

    Args:
        name: the name or ID of the group.

    Example:
        ```console
        $ saltern call pkg.group_diff 'Development Tools'
        ```
    """
    manager = choose.manager(ctx)
    group, listing = whole(manager, name), manager.listing()
    found: dict[str, dict[str, list[str]]] = {}
    for part in PARTS:
        names = sorted(getattr(group, part))
        found[part] = {
            "installed": [one for one in names if one in listing],
            "not installed": [one for one in names if one not in listing],
        }
    return found


@function
def group_install(
    ctx: Context,
    /,
    name: str,
    skip: list[str] | None = None,
    include: list[str] | None = None,
    **more: object,
) -> dict[str, object]:
    """Install the packages of a group. Returns the changes. The state for it is ``pkg.group_installed``.

    Args:
        name: the name or ID of the group.
        skip: packages to leave out.
        include: optional packages to install, too.

    Example:
        ```console
        $ saltern call pkg.group_install 'Development Tools'
        ```
    """
    manager = choose.manager(ctx)
    group = whole(manager, name)
    names = {*group.mandatory, *group.default, *(include or ())} - {*(skip or ())}
    missing = sorted(names - {*manager.listing()})
    if not names:
        raise BadArgument(f"the group {name!r} has no packages to install")
    return install(ctx, pkgs=missing, **more) if missing else {}  # type: ignore[arg-type]
