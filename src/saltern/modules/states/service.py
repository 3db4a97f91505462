"""``service``: services that run now and after a reboot.

Where systemd is installed but no init runs (chroots, image builds, containers), only links are created and
removed: ``enable``, ``service.enabled`` and similar states take effect at the next boot, and nothing is
started or stopped. The option ``providers: {service: sysv}`` uses init scripts there anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from saltern.language.result import Outcome, Result, failed, would_change
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.params import Unused, schema_of
from saltern.modules.api.unused_arguments import unused_warnings
from saltern.modules.lib.services.processes import pids_of
from saltern.modules.lib.services.providers import manager
from saltern.modules.lib.services.react import react, reaction
from saltern.modules.lib.services.settle import DesiredService, facts, settle


@state
def running(
    ctx: Context,
    /,
    name: str,
    *,
    enable: bool | None = None,
    sig: str | None = None,
    init_delay: float | None = None,
    no_block: bool = False,
    unmask: bool = False,
    unmask_runtime: bool = False,
    reload: bool = False,  # noqa: ARG001 - these three are for mod_watch
    force: bool = False,  # noqa: ARG001
    full_restart: bool = False,  # noqa: ARG001
    **rest: Unused,
) -> Result:
    """Make sure that a service runs. It is restarted when a watched state has changed.

    Args:
        name: the service, or a unit such as ``backup.timer``.
        enable: whether to start it at boot; unchanged if not given.
        sig: a pattern for the command line of its processes, for services without a status command.
        init_delay: seconds to wait after a start or stop before checking again.
        no_block: do not wait until it has started, nor check that it runs.
        unmask: unmask it first, if it is masked.
        unmask_runtime: unmask it first, if it is masked until the next boot.
        reload: on a watched change, reload it instead of restarting it.
        force: with ``reload``: restart it if it cannot reload.
        full_restart: on a watched change, stop it and start it again.

    Example:
        ```yaml
        /etc/nginx/nginx.conf:
          file.managed:
            - contents: user nginx;

        nginx:
          service.running:
            - enable: true
            - reload: true
            - watch:
              - file: /etc/nginx/nginx.conf
        ```
    """
    want = DesiredService(
        running=True,
        enabled=enable,
        sig=sig,
        no_block=no_block,
        unmask=unmask,
        unmask_runtime=unmask_runtime,
        init_delay=init_delay,
    )
    return _bring(ctx, name, want, Words("is running", "would be started", "was started"), rest)


@state(removes=True)
def dead(
    ctx: Context,
    /,
    name: str,
    *,
    enable: bool | None = None,
    sig: str | None = None,
    init_delay: float | None = None,
    no_block: bool = False,
    **rest: Unused,
) -> Result:
    """Make sure that a service does not run. A service that does not exist does not run.

    Args:
        name: the service.
        enable: whether to start it at boot; unchanged if not given.
        sig: a pattern for the command line of its processes, for services without a status command.
        init_delay: seconds to wait after the stop before checking again.
        no_block: do not wait until it has stopped.

    Example:
        ```yaml
        exim4:
          service.dead:
            - enable: false
        ```
    """
    want = DesiredService(running=False, enabled=enable, sig=sig, no_block=no_block, init_delay=init_delay)
    return _bring(ctx, name, want, Words("is not running", "would be stopped", "was stopped"), rest)


@state
def enabled(ctx: Context, /, name: str, **rest: Unused) -> Result:
    """Make sure that a service starts at boot. It is not started now.

    Args:
        name: the service.

    Example:
        ```yaml
        nginx:
          service.enabled: []
        ```
    """
    words = Words("is enabled", "would be enabled", "was enabled")
    return _bring(ctx, name, DesiredService(enabled=True), words, rest)


@state
def disabled(ctx: Context, /, name: str, **rest: Unused) -> Result:
    """Make sure that a service does not start at boot. It is not stopped now.

    Args:
        name: the service.

    Example:
        ```yaml
        apache2:
          service.disabled: []
        ```
    """
    words = Words("is disabled", "would be disabled", "was disabled")
    return _bring(ctx, name, DesiredService(enabled=False), words, rest)


# Accepted for compatibility with Salt; they have no effect.
QUIETLY_UNUSED = frozenset({"provider", "timeout", "restart", "runlevels", "skip_verify"})


def _warn_unused(rest: Mapping[str, object]) -> tuple[str, ...]:
    return unused_warnings(rest, QUIETLY_UNUSED, schema_of(running.body, skip=2).params) if rest else ()


def _bring(ctx: Context, name: str, want: DesiredService, words: Words, rest: Mapping[str, object]) -> Result:
    ctx.warnings += _warn_unused(rest)
    return settle(ctx, name, want, words)


@state
def masked(ctx: Context, name: str, *, runtime: bool = False) -> Result:
    """Make sure that a service cannot be started at all, not even by hand.

    Args:
        name: the service.
        runtime: only until the next boot.

    Example:
        ```yaml
        cups:
          service.masked: []
        ```
    """
    return _change_mask(ctx, name, wanted=True, runtime=runtime)


@state
def unmasked(ctx: Context, name: str, *, runtime: bool = False) -> Result:
    """Make sure that a service is not masked.

    Args:
        name: the service.
        runtime: remove a mask that lasts until the next boot; otherwise a permanent one.

    Example:
        ```yaml
        cups:
          service.unmasked: []
        ```
    """
    return _change_mask(ctx, name, wanted=False, runtime=runtime)


def _change_mask(ctx: Context, name: str, *, wanted: bool, runtime: bool) -> Result:
    managing = manager(ctx)
    kind = "runtime masked" if runtime else "masked"

    def differs() -> Changes:
        is_so = managing.look(name).masked == kind
        return {} if is_so == wanted else {kind: {"old": is_so, "new": wanted}}

    verb = kind if wanted else kind.replace("masked", "unmasked")
    move: Callable[..., None] = managing.mask if wanted else managing.unmask
    if managing.kind not in ("systemd", "offline"):
        move(name)  # may refuse, in test mode as well
    return bring(
        ctx,
        differs,
        lambda _: move(name, runtime=runtime),
        facts=lambda: facts(managing, managing.look(name)),
        words=Words(
            f"Service {name} is {verb}", f"Service {name} would be {verb}", f"Service {name} was {verb}"
        ),
    )


@state
def mod_watch(
    ctx: Context,
    /,
    name: str,
    *,
    sfun: str = "running",
    sig: str | None = None,
    reload: bool = False,
    full_restart: bool = False,
    init_delay: float | None = None,
    force: bool = False,
    no_block: bool = False,
    **_: Unused,
) -> Result:
    """The reaction of a service to a change in a watched state: restart, reload, or stop if ``dead``.

    Example:
        ```yaml
        /etc/nginx/nginx.conf:
          file.managed:
            - contents: user nginx;

        nginx:
          service.running:
            - reload: true
            - watch:
              - file: /etc/nginx/nginx.conf
        ```
    """
    if sfun not in ("running", "dead"):
        return failed(f"service.{sfun} cannot react to a watch; use service.running")
    managing = manager(ctx)
    seen = managing.look(name)
    if managing.kind == "offline":
        from saltern.modules.lib.services.offline import NOTHING_TO_DO

        return Result(outcome=Outcome.OK, comment=NOTHING_TO_DO, data=facts(managing, seen))
    runs = seen.running if sig is None else bool(pids_of(sig))
    if sfun == "dead" and not runs:
        return Result(
            outcome=Outcome.OK, comment=f"Service {name} is not running", data=facts(managing, seen)
        )
    verb, moves = reaction(managing, sfun, runs, reload=reload, full_restart=full_restart, force=force)
    if ctx.test:
        return would_change(f"Service {name} would be {verb}", {name: True}, facts(managing, seen))
    return react(
        ctx, managing, name, verb, moves, no_block=no_block, delay=init_delay, runs=sfun == "running"
    )
