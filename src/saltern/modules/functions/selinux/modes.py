"""Functions of ``selinux`` for its mode."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.selinux import mode as modes


@function
def selinux_fs_path(ctx: Context) -> str | None:
    """The path of the SELinux file system; None if SELinux is off.

    Example:
        ```console
        $ saltern call selinux.selinux_fs_path
        ```
    """
    return modes.place(ctx)


@function
def getenforce(ctx: Context) -> str:
    """The current mode of SELinux.

    Example:
        ```console
        $ saltern call selinux.getenforce
        ```
    """
    return modes.running_mode(ctx)


@function
def getconfig(ctx: Context) -> str | None:
    """The mode of SELinux after a boot; None if its configuration has none.

    Example:
        ```console
        $ saltern call selinux.getconfig
        ```
    """
    return modes.at_boot(ctx)


@function
def setenforce(ctx: Context, mode: str) -> str:
    """Set the mode, now and at boot. Returns the current mode.

    Args:
        mode: ``enforcing``, ``permissive``, or ``disabled``, which needs a reboot.

    Example:
        ```console
        $ saltern call selinux.setenforce permissive
        ```
    """
    wanted = modes.read_mode(mode)
    modes.switch(ctx, wanted)
    modes.keep(ctx, wanted)
    return modes.running_mode(ctx)
