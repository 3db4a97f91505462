"""``state``: apply files from within a run. Returns Salt's dictionary, or a list of problems."""

from __future__ import annotations

import os

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.functions.state.access import names, or_problems, states

# ``**options``: saltenv, pillarenv, pillar and exclude; others of Salt's (queue, concurrent …) are accepted
# and have no effect here.


def in_test_mode(ctx: Context, test: bool | None) -> bool | None:
    """True if ``test`` is set, or the run is in test mode: functions change nothing then, either."""
    return True if ctx.test else test


@function
def sls(ctx: Context, /, mods: object, test: bool | None = None, **options: object) -> object:
    """Apply state files.

    Args:
        mods: the names of the files; a list, or text with commas.
        test: only report what would change.
        options: ``saltenv``, ``pillar`` (values that override those of the machine) and ``exclude``.

    Example:
        ```console
        $ saltern call state.sls web test=True
        ```
    """
    wanted = names(mods)
    return or_problems(lambda: states(ctx).apply(wanted, options, test=in_test_mode(ctx, test)))


@function
def highstate(ctx: Context, /, test: bool | None = None, **options: object) -> object:
    """Apply all files of the top file for this machine.

    Args:
        test: only report what would change.
        options: ``saltenv``, ``pillar`` and ``exclude``.

    Example:
        ```console
        $ saltern call state.highstate test=True
        ```
    """
    return or_problems(lambda: states(ctx).apply((), options, test=in_test_mode(ctx, test)))


@function(name="apply")
def apply_(ctx: Context, /, mods: object = None, test: bool | None = None, **options: object) -> object:
    """Apply state files, or without a name all files of the top file for this machine.

    Args:
        mods: the names of the files; a list, or text with commas.
        test: only report what would change.
        options: ``saltenv``, ``pillar`` and ``exclude``.

    Example:
        ```console
        $ saltern call state.apply web test=True
        ```
    """
    return sls(ctx, mods, test, **options) if mods else highstate(ctx, test, **options)


@function
def test(ctx: Context, /, mods: object = None, **options: object) -> object:
    """Report what applying state files would change.

    Args:
        mods: the names of the files; a list, or text with commas; all of the top file if not given.
        options: ``saltenv``, ``pillar`` and ``exclude``.

    Example:
        ```console
        $ saltern call state.test web
        ```
    """
    return apply_(ctx, mods, **{**options, "test": True})  # type: ignore[arg-type]


@function
def sls_id(ctx: Context, /, id_: str, mods: object, test: bool | None = None, **options: object) -> object:
    """Apply one ID of state files, and the states it requires.

    Args:
        id_: the ID.
        mods: the names of the files; a list, or text with commas.
        test: only report what would change.
        options: ``saltenv``, ``pillar`` and ``exclude``.

    Example:
        ```console
        $ saltern call state.sls_id /etc/motd web test=True
        ```
    """
    wanted = names(mods)
    return or_problems(lambda: states(ctx).apply(wanted, options, test=in_test_mode(ctx, test), id_=str(id_)))


@function
def template(ctx: Context, /, tem: str, test: bool | None = None, **options: object) -> object:
    """Apply a file that is not in the tree.

    Args:
        tem: its path.
        test: only report what would change.
        options: ``saltenv``, ``pillar`` and ``exclude``.

    Example:
        ```console
        $ saltern call state.template /srv/salt/web/init.sls test=True
        ```
    """
    path = next((one for one in (str(tem), f"{tem}.sls") if os.path.isfile(one)), None)
    if path is None:
        raise BadArgument(f"there is no file {tem!r}")
    given = {**options, "template": path}
    return or_problems(lambda: states(ctx).apply((), given, test=in_test_mode(ctx, test)))


@function
def single(
    ctx: Context,
    /,
    fun: str,
    name: str,
    test: bool | None = None,
    queue: object = None,  # noqa: ARG001 - Salt's
    **kwargs: object,
) -> object:
    """Apply one state, without any file.

    Args:
        fun: the state, such as ``file.directory``.
        name: its name.
        test: only report what would change.
        queue: accepted for compatibility with Salt.
        kwargs: its arguments; ``pillar`` and ``pillarenv`` are those of the run.

    Example:
        ```console
        $ saltern call state.single test.nop anything
        ```
    """
    if "." not in str(fun):
        raise BadArgument(f"{fun!r} is not a state; write MODULE.FUNCTION")
    options: dict[str, object] = {key: kwargs.pop(key) for key in ("pillar", "pillarenv") if key in kwargs}
    return or_problems(
        lambda: states(ctx).single(str(fun), str(name), kwargs, options, test=in_test_mode(ctx, test))
    )
