"""``state``: show the content of files without applying them. Problems are returned as a list of texts."""

from __future__ import annotations

from saltern.language.diagnostics import CompileError
from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.functions.state.access import names, or_problems, states

# ``**options``: saltenv, pillar and exclude; others of Salt (queue, test, …) have no effect here.


@function
def show_sls(ctx: Context, /, mods: object, **options: object) -> object:
    """The high data of state files: what they declare, after templates and includes.

    Args:
        mods: the names of the files; a list, or text with commas.
        options: ``saltenv``, ``pillar`` (values that override those of the machine) and ``exclude``.

    Example:
        ```console
        $ saltern call state.show_sls web
        ```
    """
    return or_problems(lambda: states(ctx).high(names(mods), options))


@function
def show_low_sls(ctx: Context, /, mods: object, **options: object) -> object:
    """The low data of state files: one entry for each call, sorted.

    Args:
        mods: the names of the files; a list, or text with commas.
        options: ``saltenv``, ``pillar`` and ``exclude``.

    Example:
        ```console
        $ saltern call state.show_low_sls web
        ```
    """
    return or_problems(lambda: states(ctx).low(names(mods), options))


@function
def show_highstate(ctx: Context, /, **options: object) -> object:
    """The high data of all files of the top file for this machine.

    Args:
        options: ``saltenv``, ``pillar`` and ``exclude``.

    Example:
        ```console
        $ saltern call state.show_highstate
        ```
    """
    return or_problems(lambda: states(ctx).high((), options))


@function
def show_lowstate(ctx: Context, /, **options: object) -> object:
    """The low data of all files of the top file for this machine.

    Args:
        options: ``saltenv``, ``pillar`` and ``exclude``.

    Example:
        ```console
        $ saltern call state.show_lowstate
        ```
    """
    return or_problems(lambda: states(ctx).low((), options))


@function
def show_top(ctx: Context, /, **options: object) -> object:
    """The files of the top file for this machine, by environment.

    Args:
        options: ``saltenv`` and ``pillar``.

    Example:
        ```console
        $ saltern call state.show_top
        local:
            ----------
            base:
                - web
        ```
    """
    return or_problems(lambda: states(ctx).top(options))


@function
def show_states(ctx: Context, /, **options: object) -> object:
    """The names of the files whose states would be applied, in order.

    Args:
        options: ``saltenv``, ``pillar`` and ``exclude``.

    Example:
        ```console
        $ saltern call state.show_states
        local:
            - web
        ```
    """
    low = show_lowstate(ctx, **options)
    if not isinstance(low, list) or not all(isinstance(chunk, dict) for chunk in low):
        return low
    return list(dict.fromkeys(str(chunk["__sls__"]) for chunk in low))


@function
def show_state_usage(ctx: Context, /, **options: object) -> object:
    """The files of each environment that the top file uses for this machine, and those it does not.

    Args:
        options: ``pillar``.

    Example:
        ```console
        $ saltern call state.show_state_usage
        ```
    """
    top = show_top(ctx, **options)
    if not isinstance(top, dict):
        return top
    return {env: _usage(_files(ctx, env), top.get(env, [])) for env in ctx.files.environments()}


def _files(ctx: Context, env: str) -> list[str]:
    found = [name.removesuffix(".sls") for name in ctx.files.names(env) if name.endswith(".sls")]
    return [name.removesuffix("/init").replace("/", ".") for name in found]


def _usage(every: list[str], given: list[str]) -> dict[str, object]:
    used = [name for name in every if name in given]
    unused = [name for name in every if name not in given]
    return {
        "used": used,
        "unused": unused,
        "count_all": len(every),
        "count_used": len(used),
        "count_unused": len(unused),
    }


@function
def sls_exists(ctx: Context, /, mods: object, **options: object) -> bool:
    """True if these state files exist and compile.

    Args:
        mods: the names of the files; a list, or text with commas.
        options: ``saltenv`` and ``pillar``.

    Example:
        ```console
        $ saltern call state.sls_exists web
        local:
            True
        ```
    """
    try:
        states(ctx).high(names(mods), options)
    except CompileError:
        return False
    return True


@function
def id_exists(ctx: Context, /, ids: object, mods: object, **options: object) -> bool:
    """True if state files declare all of these IDs.

    Args:
        ids: the IDs; a list, or text with commas.
        mods: the names of the files; a list, or text with commas.
        options: ``saltenv`` and ``pillar``.

    Example:
        ```console
        $ saltern call state.id_exists /etc/motd web
        local:
            True
        ```
    """
    wanted = ids if isinstance(ids, list | tuple) else str(ids).split(",")
    try:
        low = states(ctx).low(names(mods), options)
    except CompileError:
        return False
    return {str(one).strip() for one in wanted} <= {str(chunk["__id__"]) for chunk in low}
