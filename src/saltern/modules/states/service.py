"""``service``: what runs in the background, now and after a reboot."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from saltern.language.diagnostics import did_you_mean
from saltern.language.result import Outcome, Result, failed
from saltern.modules.api import state
from saltern.modules.context import Context
from saltern.modules.machine import Changes, Refused, Words, bring
from saltern.modules.params import schema_of
from saltern.modules.services.manager import Manager, Service
from saltern.modules.services.processes import pids_of
from saltern.modules.services.providers import manager


class Wish(Struct, frozen=True, kw_only=True):
    """What shall be so; None leaves it."""

    running: bool | None = None
    enabled: bool | None = None
    sig: str | None = None
    no_block: bool = False
    unmask: bool = False
    unmask_runtime: bool = False
    init_delay: float | None = None


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
    **rest: object,
) -> Result:
    """Make sure that a service runs. When something it watches changes, it is restarted.

    Args:
        name: the service, or a unit such as ``backup.timer``.
        enable: start it at boot (true), do not (false), or leave that alone (not given).
        sig: a pattern for the command line of its processes, for services without a status of their own.
        init_delay: seconds to wait after a start or stop, before looking again.
        no_block: do not wait until it has started; it is not looked at again, either.
        unmask: unmask it first, if it is masked.
        unmask_runtime: unmask it first, if it is masked until the next boot.
        reload: on a watched change, reload it instead of restarting it.
        force: with ``reload``: restart it if it cannot reload.
        full_restart: on a watched change, stop it and start it again.

    Example:
        ```yaml
        nginx:
          service.running:
            - enable: true
            - reload: true
            - watch:
              - file: /etc/nginx/nginx.conf
        ```
    """
    wish = Wish(
        running=True,
        enabled=enable,
        sig=sig,
        no_block=no_block,
        unmask=unmask,
        unmask_runtime=unmask_runtime,
        init_delay=init_delay,
    )
    return _brought(ctx, name, wish, Words("is running", "would be started", "was started"), rest)


@state
def dead(
    ctx: Context,
    /,
    name: str,
    *,
    enable: bool | None = None,
    sig: str | None = None,
    init_delay: float | None = None,
    no_block: bool = False,
    **rest: object,
) -> Result:
    """Make sure that a service does not run. One that does not exist does not run.

    Args:
        name: the service.
        enable: start it at boot (true), do not (false), or leave that alone (not given).
        sig: a pattern for the command line of its processes, for services without a status of their own.
        init_delay: seconds to wait after the stop, before looking again.
        no_block: do not wait until it has stopped.

    Example:
        ```yaml
        exim4:
          service.dead:
            - enable: false
        ```
    """
    wish = Wish(running=False, enabled=enable, sig=sig, no_block=no_block, init_delay=init_delay)
    return _brought(ctx, name, wish, Words("is not running", "would be stopped", "was stopped"), rest)


@state
def enabled(ctx: Context, /, name: str, **rest: object) -> Result:
    """Make sure that a service starts at boot. Whether it runs now is left alone.

    Args:
        name: the service.

    Example:
        ```yaml
        sshd:
          service.enabled: []
        ```
    """
    words = Words("is enabled", "would be enabled", "was enabled")
    return _brought(ctx, name, Wish(enabled=True), words, rest)


@state
def disabled(ctx: Context, /, name: str, **rest: object) -> Result:
    """Make sure that a service does not start at boot. Whether it runs now is left alone.

    Args:
        name: the service.

    Example:
        ```yaml
        apache2:
          service.disabled: []
        ```
    """
    words = Words("is disabled", "would be disabled", "was disabled")
    return _brought(ctx, name, Wish(enabled=False), words, rest)


# Accepted for trees written for Salt; they mean nothing here.
QUIETLY_UNUSED = frozenset({"provider", "timeout", "restart", "runlevels", "skip_verify"})


def _unused(rest: Mapping[str, object]) -> tuple[str, ...]:
    """Salt takes any argument here and forgets it; so do we, and say so."""
    known = schema_of(running.body, skip=2).params if rest else {}
    return tuple(
        f"argument {name!r} has no effect here" + (f"; {hint}" if hint else "")
        for name in rest
        if name not in QUIETLY_UNUSED
        for hint in (did_you_mean(name, known),)
    )


def _brought(ctx: Context, name: str, wish: Wish, words: Words, rest: Mapping[str, object]) -> Result:
    return replace(_settled(ctx, name, wish, words), warnings=_unused(rest))


def _settled(ctx: Context, name: str, wish: Wish, words: Words) -> Result:
    managing = manager(ctx)
    seen = managing.look(name)
    comments = _comments(name, wish, words, seen)
    if not seen.exists:
        return _missing(ctx, managing, name, wish)
    if seen.masked and wish.running and not (wish.unmask or wish.unmask_runtime):
        comment = f"Service {name} is {seen.masked}, so it cannot be started; set unmask"
        return Result(outcome=Outcome.FAILED, comment=comment, data=_facts(managing, seen))

    def now() -> Service:
        found = managing.look(name)
        return found if wish.sig is None else replace(found, running=bool(pids_of(wish.sig)))

    def act(changes: Changes) -> None:  # noqa: ARG001
        _act(ctx, managing, wish, now())

    def differs() -> Changes:
        return {name: True} if _wrong(now(), wish) else {}

    if wish.no_block and not ctx.test and differs():
        before = now()
        act({})
        return Result(
            outcome=Outcome.OK, comment=comments.done, changes={name: True}, data=_facts(managing, before)
        )
    result = bring(ctx, differs, act, facts=lambda: _facts(managing, now()), words=comments)
    if result.outcome is Outcome.FAILED and result.comment.startswith("acted, but"):
        return replace(result, comment=_complaint(name, wish, now()))
    return result


def _comments(name: str, wish: Wish, words: Words, seen: Service) -> Words:
    start = f"Service {name} "
    comments = Words(*(start + part for part in (words.already, words.would, words.done)))
    if wish.running is None or wish.running != seen.running or wish.enabled is None:
        return comments
    verb = "enabled" if wish.enabled else "disabled"  # it runs, or not, as it should: only this is left to do
    return Words(comments.already, f"{start}would be {verb}", f"{start}was {verb}")


def _missing(ctx: Context, managing: Manager, name: str, wish: Wish) -> Result:
    data: dict[str, object] = {**_facts(managing, Service(name=name, exists=False))}
    if not wish.running and not wish.enabled:
        return Result(outcome=Outcome.OK, comment=f"Service {name} does not exist", data=data)
    if ctx.test:
        return Result(
            outcome=Outcome.WOULD_CHANGE,
            comment=f"Service {name} does not exist yet; if an earlier state brings it, it would be set",
            changes={name: True},
            data=data,
        )
    comment = f"Service {name} does not exist; is its package installed, and the name right?"
    return Result(outcome=Outcome.FAILED, comment=comment, data=data)


def _facts(managing: Manager, seen: Service) -> dict[str, object]:
    return {**seen.asdict(), "provider": managing.kind}


def _wrong(seen: Service, wish: Wish) -> list[str]:
    """Which of the wishes are not fulfilled."""
    checks = {
        "running": wish.running is not None and seen.running != wish.running,
        "enabled": None not in (wish.enabled, seen.enabled) and seen.enabled != wish.enabled,
        "masked": _is_to_unmask(seen, wish),
    }
    return [what for what, wrong in checks.items() if wrong]


def _is_to_unmask(seen: Service, wish: Wish) -> bool:
    asked = {"masked": wish.unmask, "runtime masked": wish.unmask_runtime}
    return asked.get(seen.masked, False)


def _act(ctx: Context, managing: Manager, wish: Wish, seen: Service) -> None:
    """Unmask before a start, which would fail otherwise; enable after it, so that a broken one stays out."""
    wrong = _wrong(seen, wish)
    if "masked" in wrong:
        managing.unmask(seen.name, runtime=seen.masked == "runtime masked")
    if "running" in wrong:
        move = managing.start if wish.running else managing.stop
        move(seen.name, no_block=wish.no_block)
        if wish.init_delay:
            ctx.clock.sleep(wish.init_delay)
    if "enabled" in wrong or ("masked" in wrong and wish.enabled):
        (managing.enable if wish.enabled else managing.disable)(seen.name)


def _complaint(name: str, wish: Wish, seen: Service) -> str:
    verbs = {"running": "start" if wish.running else "stop", "enabled": "change at boot", "masked": "unmask"}
    failures = " and ".join(verbs[what] for what in _wrong(seen, wish))
    return f"Service {name} did not {failures}: it is {seen.detail}"


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
    return _masking(ctx, name, wanted=True, runtime=runtime)


@state
def unmasked(ctx: Context, name: str, *, runtime: bool = False) -> Result:
    """Make sure that a service is not masked.

    Args:
        name: the service.
        runtime: a mask that lasts until the next boot; without it, one that stays.

    Example:
        ```yaml
        cups:
          service.unmasked: []
        ```
    """
    return _masking(ctx, name, wanted=False, runtime=runtime)


def _masking(ctx: Context, name: str, *, wanted: bool, runtime: bool) -> Result:
    managing = manager(ctx)
    kind = "runtime masked" if runtime else "masked"

    def differs() -> Changes:
        is_so = managing.look(name).masked == kind
        return {} if is_so == wanted else {kind: {"old": is_so, "new": wanted}}

    verb = kind if wanted else kind.replace("masked", "unmasked")
    move: Callable[..., None] = managing.mask if wanted else managing.unmask
    if managing.kind != "systemd":
        move(name)  # refuses, in test mode as well
    return bring(
        ctx,
        differs,
        lambda _: move(name, runtime=runtime),
        facts=lambda: _facts(managing, managing.look(name)),
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
    **_: object,
) -> Result:
    """What a service does when something it watches has changed: restart, reload, or stop if dead."""
    if sfun not in ("running", "dead"):
        return failed(f"service.{sfun} cannot react to a watch; use service.running")
    managing = manager(ctx)
    seen = managing.look(name)
    runs = seen.running if sig is None else bool(pids_of(sig))
    if sfun == "dead" and not runs:
        return Result(
            outcome=Outcome.OK, comment=f"Service {name} is not running", data=_facts(managing, seen)
        )
    verb, moves = _reaction(managing, sfun, runs, reload=reload, full_restart=full_restart, force=force)
    if ctx.test:
        return Result(
            outcome=Outcome.WOULD_CHANGE,
            comment=f"Service {name} would be {verb}",
            changes={name: True},
            data=_facts(managing, seen),
        )
    return _reacted(
        ctx, managing, name, verb, moves, no_block=no_block, delay=init_delay, runs=sfun == "running"
    )


Moves = tuple[Callable[..., None], ...]


def _reaction(
    managing: Manager, sfun: str, runs: bool, *, reload: bool, full_restart: bool, force: bool
) -> tuple[str, Moves]:
    if sfun == "dead":
        return "stopped", (managing.stop,)
    if not runs:
        return "started", (managing.start,)
    if full_restart:
        return "stopped and started", (managing.stop, managing.start)
    if reload:
        return "reloaded", (managing.force_reload if force else managing.reload,)
    return "restarted", (managing.restart,)


def _reacted(
    ctx: Context,
    managing: Manager,
    name: str,
    verb: str,
    moves: Moves,
    *,
    no_block: bool,
    delay: float | None,
    runs: bool,
) -> Result:
    try:
        for move in moves:
            move(name, no_block=no_block)
    except Refused as problem:
        comment = f"Service {name} could not be {verb}: {problem}"
        return Result(outcome=Outcome.FAILED, comment=comment, data=_facts(managing, managing.look(name)))
    if delay:
        ctx.clock.sleep(delay)
    seen = managing.look(name)
    outcome = Outcome(no_block or seen.running == runs or seen.enabled is None)
    comment = f"Service {name} was {verb}" + (
        "" if outcome is Outcome.OK else f", but now it is {seen.detail}"
    )
    return Result(outcome=outcome, comment=comment, changes={name: True}, data=_facts(managing, seen))
