"""Reboot or shut down. A run that must continue afterwards uses the state ``system.reboot`` instead."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.refused import Refused
from saltern.system import reboot as button


def _press(ctx: Context, word: str, at: object = None) -> str:
    try:
        return button.current(ctx.settings).power(word, at)
    except (OSError, ValueError) as problem:
        raise Refused(f"cannot {word}: {problem}") from None


@function
def halt(ctx: Context) -> str:
    """Halt this machine; it may stay powered.

    Example:
        ```console
        $ saltern call system.halt
        ```
    """
    return _press(ctx, "halt")


@function
def init(ctx: Context, runlevel: int | str) -> str:
    """Change the runlevel.

    Args:
        runlevel: 0 to 6, or ``s``.

    Example:
        ```console
        $ saltern call system.init 3
        ```
    """
    return _press(ctx, "init", runlevel)


@function
def poweroff(ctx: Context) -> str:
    """Power this machine off.

    Example:
        ```console
        $ saltern call system.poweroff
        ```
    """
    return _press(ctx, "poweroff")


@function
def reboot(ctx: Context, at_time: int | str | None = None) -> str:
    """Reboot this machine without waiting. In a state file, use the state with the same name: the run
    continues after the reboot.

    Args:
        at_time: minutes from now, or a time of day such as ``'23:30'``; at once if not given.

    Example:
        ```console
        $ saltern call system.reboot 5
        ```
    """
    return _press(ctx, "reboot", at_time or None)


@function
def shutdown(ctx: Context, at_time: int | str | None = None) -> str:
    """Shut this machine down, and power it off.

    Args:
        at_time: minutes from now, or a time of day such as ``'23:30'``; at once if not given.

    Example:
        ```console
        $ saltern call system.shutdown 5
        ```
    """
    return _press(ctx, "shutdown", at_time or None)
