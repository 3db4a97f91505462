"""``saltutil``: functions that refresh a Salt minion.

A run reads everything when it starts, so most of them do nothing; they exist so that trees that call
them keep working. The ``refresh_*`` functions make a run read data again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from saltern.language.nature import Nature
from saltern.modules.api.context import Context
from saltern.modules.api.declare import Function, function, make_docstring

if TYPE_CHECKING:
    from saltern.modules.api.orchestration import RunnerReturn

NATURE = Nature(runs_commands=True)
KINDS = (
    "beacons clouds engines executors grains log_handlers matchers modules output pillar proxymodules "
    "renderers resources returners sdb serializers states thorium tops utils wrapper"
)


def _nothing(name: str, answer: object) -> Function[..., object]:
    def body(ctx: Context, /, *args: object, **kwargs: object) -> object:  # noqa: ARG001
        return list(answer) if isinstance(answer, list) else answer

    body.__doc__ = make_docstring("Do nothing: a run reads everything when it starts.", f"saltutil.{name}")
    return Function(body, name)


refresh_beacons = _nothing("refresh_beacons", True)
refresh_matchers = _nothing("refresh_matchers", True)
refresh_resources = _nothing("refresh_resources", True)
clear_cache = _nothing("clear_cache", True)
clear_job_cache = _nothing("clear_job_cache", True)
regen_keys = _nothing("regen_keys", False)
running = _nothing("running", [])
is_running = _nothing("is_running", [])
find_job = _nothing("find_job", {})
find_cached_job = _nothing("find_cached_job", {})
kill_all_jobs = _nothing("kill_all_jobs", [])
kill_job = _nothing("kill_job", "")
signal_job = _nothing("signal_job", "")
term_all_jobs = _nothing("term_all_jobs", [])
term_job = _nothing("term_job", "")
sync_clouds = _nothing("sync_clouds", [])
sync_log_handlers = _nothing("sync_log_handlers", [])
sync_resources = _nothing("sync_resources", [])
sync_thorium = _nothing("sync_thorium", [])
sync_wrapper = _nothing("sync_wrapper", [])
sync_beacons = _nothing("sync_beacons", [])
sync_engines = _nothing("sync_engines", [])
sync_executors = _nothing("sync_executors", [])
sync_grains = _nothing("sync_grains", [])
sync_matchers = _nothing("sync_matchers", [])
sync_modules = _nothing("sync_modules", [])
sync_output = _nothing("sync_output", [])
sync_pillar = _nothing("sync_pillar", [])
sync_proxymodules = _nothing("sync_proxymodules", [])
sync_renderers = _nothing("sync_renderers", [])
sync_returners = _nothing("sync_returners", [])
sync_sdb = _nothing("sync_sdb", [])
sync_serializers = _nothing("sync_serializers", [])
sync_states = _nothing("sync_states", [])
sync_tops = _nothing("sync_tops", [])
sync_utils = _nothing("sync_utils", [])


def _again(name: str, what: str) -> Function[..., object]:
    def body(ctx: Context, /, *args: object, **kwargs: object) -> object:  # noqa: ARG001
        if not ctx.run.context.get("saltutil.refreshing"):  # a pillar file may be the caller
            ctx.run.context["saltutil.refreshing"] = True
            try:
                ctx.run.refresh(frozenset({what}))
            finally:
                del ctx.run.context["saltutil.refreshing"]
        return True

    body.__doc__ = make_docstring(f"Read the {what} again, for the rest of this run.", f"saltutil.{name}")
    return Function(body, name)


refresh_grains = _again("refresh_grains", "grains")
refresh_modules = _again("refresh_modules", "modules")
refresh_pillar = _again("refresh_pillar", "pillar")
pillar_refresh = _again("pillar_refresh", "pillar")


@function
def sync_all(ctx: Context, /, *args: object, **kwargs: object) -> dict[str, list[str]]:  # noqa: ARG001
    """Do nothing: a run reads everything when it starts.

    Example:
        ```console
        $ saltern call saltutil.sync_all
        ```
    """
    return {kind: [] for kind in KINDS.split()}


@function
def list_extmods(ctx: Context) -> dict[str, list[str]]:
    """The custom modules of the file roots, by kind: ``_states``, ``_modules`` and so on.

    Example:
        ```console
        $ saltern call saltutil.list_extmods
        ```
    """
    found: dict[str, list[str]] = {}
    for env in ctx.files.environments():
        for path in ctx.files.names(env):
            kind, _, name = path.partition("/")
            if kind.startswith("_") and name.endswith(".py") and "/" not in name:
                found.setdefault(kind[1:], []).append(name.removesuffix(".py"))
    return found


@function
def runner(
    ctx: Context,
    /,
    name: str,
    arg: object = None,
    kwarg: dict[str, object] | None = None,
    full_return: bool = False,
    **kwargs: object,
) -> object:
    """Run a runner of the controller; only in an orchestration.

    Args:
        name: the runner, such as ``manage.up``.
        arg: its arguments, as a list.
        kwarg: its keywords.
        full_return: return ``return`` and ``success`` instead of the value.
        **kwargs: further keywords.

    Example:
        ```jinja
        {% set there = salt['saltutil.runner']('manage.up') %}
        ```
    """
    from saltern.modules.lib.orchestration.calls import next_token, orchestration_of

    found = orchestration_of(ctx).runner(name, _as_list(arg), {**(kwarg or {}), **kwargs}, next_token(ctx))
    return _format_return(found, full=full_return)


@function
def wheel(
    ctx: Context, /, name: str, arg: object = None, kwarg: dict[str, object] | None = None, **kwargs: object
) -> object:
    """Call a wheel function of the controller; only in an orchestration.

    Args:
        name: the function, such as ``key.list_all``.
        arg: its arguments, as a list.
        kwarg: its keywords.
        **kwargs: further keywords.

    Example:
        ```jinja
        {% set keys = salt['saltutil.wheel']('key.list_all') %}
        ```
    """
    from saltern.modules.lib.orchestration.calls import orchestration_of

    found = orchestration_of(ctx).wheel(name, _as_list(arg), {**(kwarg or {}), **kwargs})
    return _format_return(found, full=True)


@function
def cmd(
    ctx: Context,
    /,
    tgt: object,
    fun: str,
    arg: object = (),
    timeout: float | None = None,
    tgt_type: str = "glob",
    kwarg: dict[str, object] | None = None,
    full_return: bool = False,
    **kwargs: object,
) -> dict[str, object]:
    """Call a function on systems of the fleet; only in an orchestration.

    Args:
        tgt: which systems.
        fun: the function.
        arg: its arguments, as a list.
        timeout: seconds within which a system must accept the job.
        tgt_type: how ``tgt`` is read.
        kwarg: its keywords.
        full_return: return ``ret``, ``retcode`` and ``jid`` of each system instead of the value.
        **kwargs: further keywords; ``ret``, ``ret_config`` and ``ret_kwargs`` are about returners.

    Example:
        ```jinja
        {% set uptimes = salt['saltutil.cmd']('web*', 'status.uptime') %}
        ```
    """
    from saltern.modules.lib.orchestration.remote_values import remote_values

    keywords = {**(kwarg or {}), **{name: one for name, one in kwargs.items() if name not in OPTIONS}}
    return remote_values(
        ctx,
        tgt,
        tgt_type,
        fun,
        _as_list(arg),
        keywords,
        timeout=timeout or 0,
        full=full_return,
        returning=kwargs,
    )


OPTIONS = frozenset({"ret", "ret_config", "ret_kwargs", "ssh", "roster", "expect_minions"})
"""Keywords that are not arguments of the called function."""


def _as_list(arg: object) -> list[object]:
    return list(arg) if isinstance(arg, list | tuple) else [] if arg is None else [arg]


def _format_return(found: RunnerReturn, *, full: bool) -> object:
    """The value, or Salt's mapping around it."""
    return {"return": found.value, "success": found.is_ok, "jid": found.jid} if full else found.value
