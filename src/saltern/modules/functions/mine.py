"""``mine``: data that systems publish for each other.

The controllers of a fleet store it: ``mine_functions`` of the configuration and the pillar say
what is published, every ``mine_interval`` minutes. A machine outside a fleet publishes and finds nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.mine import Published as _Published
from saltern.modules.lib.mine import allowed_of, configured_functions, publish, read_definition


@function
def get(
    ctx: Context,
    tgt: object,
    fun: object,
    tgt_type: str = "glob",
    exclude_minion: bool = False,
) -> dict[str, object]:
    """The data that systems have published under a function, by their IDs; for several functions, by
    function.

    Args:
        tgt: the systems whose data to get.
        fun: a function or an alias; a list or a text with commas for several.
        tgt_type: how ``tgt`` is read: ``glob``, ``list``, ``grain``, ``pcre``, ``compound`` and others.
        exclude_minion: leave this system out.

    Example:
        ```console
        $ saltern call mine.get 'web*' network.ip_addrs
        local:
            ----------
        ```
    """
    several = isinstance(fun, list) or "," in str(fun)
    names = [str(one).strip() for one in (fun if isinstance(fun, list) else str(fun).split(","))]
    found: dict[str, object] = {name: {} for name in names}
    if ctx.run.agent.is_there:
        target = tgt if isinstance(tgt, str) else ",".join(map(str, tgt if isinstance(tgt, list) else [tgt]))
        kind = tgt_type if isinstance(tgt, str) else "list"
        found |= ctx.run.agent.ask("mine", target=target, functions=names, matcher=kind)["data"]
    if exclude_minion:
        found = {name: _without(values, str(ctx.opts.get("id"))) for name, values in found.items()}
    only = found[names[0]]
    return found if several or not isinstance(only, dict) else only


def _without(values: object, id_: str) -> dict[str, object]:
    return {key: value for key, value in values.items() if key != id_} if isinstance(values, dict) else {}


@function
def update(ctx: Context, clear: bool = False, mine_functions: object = None) -> bool | None:
    """Call the configured functions, and publish their results.

    Args:
        clear: remove the data of other functions.
        mine_functions: publish these instead, in the form of the option.

    Example:
        ```console
        $ saltern call mine.update
        local:
            None
        ```
    """
    given: Mapping[str, object] = configured_functions(ctx)
    if isinstance(mine_functions, list):
        given = {str(one): {} for one in mine_functions}
    elif isinstance(mine_functions, Mapping):
        given = mine_functions
    if not given or not ctx.run.agent.is_there:
        return None
    return publish(ctx, [read_definition(str(name), one) for name, one in given.items()], clear=clear)


@function
def send(ctx: Context, /, name: str, *args: object, **kwargs: object) -> bool:
    """Call one function, and publish its result.

    Args:
        name: the function, or the name to publish it under.
        *args: its arguments.
        **kwargs: its keywords; ``mine_function``: the function, if ``name`` is an alias; ``allow_tgt`` and
            ``allow_tgt_type``: the systems that may read it.

    Example:
        ```console
        $ saltern call mine.send network.ip_addrs eth0
        local:
            False
        ```
    """
    words = {key: value for key, value in kwargs.items() if not key.startswith("__")}
    function_ = str(words.pop("mine_function", None) or name)
    allowed = allowed_of(words.pop("allow_tgt", None), words.pop("allow_tgt_type", None))
    if not ctx.run.agent.is_there:
        return False
    row = _Published(name=name, function=function_, args=list(args), kwargs=words, allowed=allowed)
    return publish(ctx, [row])


@function
def valid(ctx: Context) -> dict[str, object]:
    """The configured functions to publish, with their arguments.

    Example:
        ```console
        $ saltern call mine.valid
        local:
            ----------
        ```
    """
    found: dict[str, object] = {}
    for name, given in configured_functions(ctx).items():
        row = read_definition(name, given)
        if row.function in ctx.functions:
            words: list[object] = [*row.args, *([row.kwargs] if row.kwargs else [])]
            found[name] = {row.function: words} if row.function != name else words
    return found


@function
def flush(ctx: Context) -> bool:
    """Remove all data that this system has published.

    Example:
        ```console
        $ saltern call mine.flush
        local:
            True
        ```
    """
    if ctx.run.agent.is_there:
        ctx.run.agent.ask("mine", clear=True)
    return True


@function
def delete(ctx: Context, fun: str) -> bool:
    """Remove the data that this system has published under a function.

    Args:
        fun: the function, or its alias.

    Example:
        ```console
        $ saltern call mine.delete network.ip_addrs
        local:
            True
        ```
    """
    if ctx.run.agent.is_there:
        ctx.run.agent.ask("mine", remove=[fun])
    return True
