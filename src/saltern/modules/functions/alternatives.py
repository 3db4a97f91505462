"""``alternatives``: which of several programs a name such as ``editor`` stands for."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.packages import links
from saltern.modules.lib.packages.model import PackageError


@function
def display(ctx: Context, name: str) -> dict[str, object]:
    """The link, mode, chosen program and all choices of a name; empty if it has no alternatives.

    Example:
        ```console
        $ saltern call alternatives.display editor
        local:
        …
            link:
                /usr/bin/editor
        …
        ```
    """
    group = links.look(ctx, name)
    return group.asdict() if group else {}


@function
def show_link(ctx: Context, name: str) -> str | bool:
    """The link that stands for a name, or False.

    Example:
        ```console
        $ saltern call alternatives.show_link editor
        local:
            /usr/bin/editor
        ```
    """
    group = links.look(ctx, name)
    return group.link if group else False


@function
def show_current(ctx: Context, name: str) -> str | bool:
    """The program a name stands for, or False.

    Example:
        ```console
        $ saltern call alternatives.show_current editor
        local:
            /opt/nano/bin/nano
        ```
    """
    group = links.look(ctx, name)
    return group.value if group else False


@function
def check_exists(ctx: Context, name: str, path: str) -> bool:
    """True if a program is an alternative for a name.

    Example:
        ```console
        $ saltern call alternatives.check_exists editor /opt/nano/bin/nano
        local:
            True
        ```
    """
    group = links.look(ctx, name)
    return group is not None and path in group.choices


@function
def check_installed(ctx: Context, name: str, path: str) -> bool:
    """True if this program is chosen for a name.

    Example:
        ```console
        $ saltern call alternatives.check_installed editor /opt/nano/bin/nano
        local:
            True
        ```
    """
    group = links.look(ctx, name)
    return group is not None and group.value == path


@function
def install(ctx: Context, name: str, link: str, path: str, priority: int) -> str:
    """Register a program as an alternative for a name. Returns the error, if there is one.

    Example:
        ```console
        $ saltern call alternatives.install editor /usr/bin/editor /opt/nano/bin/nano 50
        local:
        ```
    """
    try:
        links.install(ctx, name, link, path, int(priority))
    except PackageError as problem:
        return str(problem)
    return ""


@function
def remove(ctx: Context, name: str, path: str) -> str:
    """Remove a program from the alternatives of a name. Returns the error, if there is one.

    Example:
        ```console
        $ saltern call alternatives.remove editor /opt/nano/bin/nano
        local:
        ```
    """
    try:
        links.remove(ctx, name, path)
    except PackageError as problem:
        return str(problem)
    return ""


@function(name="set")
def set_(ctx: Context, name: str, path: str) -> bool:
    """Choose the program for a name. Returns true if it is chosen now.

    Example:
        ```console
        $ saltern call alternatives.set editor /opt/nano/bin/nano
        local:
            True
        ```
    """
    links.choose(ctx, name, path)
    return check_installed(ctx, name, path)


@function
def auto(ctx: Context, name: str) -> bool:
    """Use the program with the highest priority for a name again. Returns true if it is in auto mode now.

    Example:
        ```console
        $ saltern call alternatives.auto editor
        local:
            True
        ```
    """
    links.auto(ctx, name)
    group = links.look(ctx, name)
    return group is not None and group.mode == "auto"
