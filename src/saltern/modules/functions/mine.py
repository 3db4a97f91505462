"""``mine``: data of other machines. A machine without a master has none, so: nothing."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function


@function
def get(
    ctx: Context, tgt: str, fun: object, tgt_type: str = "glob", exclude_minion: bool = False
) -> dict[str, object]:
    """What a function gave on other machines. Always empty here, and a note in the log says so.

    Example:
        ```console
        $ saltern call mine.get 'web*' network.ip_addrs
        local:
            ----------
        ```
    """
    import logging

    logging.getLogger("saltern.modules.functions.mine").info(
        "mine.get finds nothing: there is no mine on a machine that runs on its own"
    )
    return {}


@function
def update(ctx: Context, clear: bool = False, mine_functions: object = None) -> bool:
    """Does nothing: there are no other systems to answer.

    Example:
        ```console
        $ saltern call mine.update
        local:
            True
        ```
    """
    return True


@function
def send(ctx: Context, /, name: str, *args: object, **kwargs: object) -> bool:
    """Does nothing: there are no other systems to answer.

    Example:
        ```console
        $ saltern call mine.send network.ip_addrs
        local:
            True
        ```
    """
    return True


@function
def valid(ctx: Context) -> dict[str, object]:
    """The functions of the mine: none.

    Example:
        ```console
        $ saltern call mine.valid
        local:
            ----------
        ```
    """
    return {}


@function
def flush(ctx: Context) -> bool:
    """Nothing to forget.

    Example:
        ```console
        $ saltern call mine.flush
        local:
            True
        ```
    """
    return True


@function
def delete(ctx: Context, fun: str) -> bool:
    """Nothing to forget.

    Example:
        ```console
        $ saltern call mine.delete network.ip_addrs
        local:
            True
        ```
    """
    return True
