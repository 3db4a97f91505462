"""Unmask, start or stop, enable or disable a service; then check it."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from saltern.language.result import Outcome, Result, would_change
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.lib.services.manager import Manager, Service
from saltern.modules.lib.services.processes import pids_of
from saltern.modules.lib.services.providers import manager
from saltern.system.waits import report_wait

TRIES = 20


class DesiredService(Struct, frozen=True, kw_only=True):
    """The wanted state; None leaves a value unchanged."""

    running: bool | None = None
    enabled: bool | None = None
    sig: str | None = None
    no_block: bool = False
    unmask: bool = False
    unmask_runtime: bool = False
    init_delay: float | None = None


def settle(ctx: Context, name: str, want: DesiredService, words: Words) -> Result:
    managing = manager(ctx)
    if managing.kind == "offline" and want.running is not None:
        return _settle_offline(ctx, managing, name, want)
    seen = managing.look(name)
    comments = _comments(name, want, words, seen)
    if not seen.exists:
        return _missing_result(ctx, managing, seen, want)
    if seen.masked and want.running and not (want.unmask or want.unmask_runtime):
        comment = f"Service {name} is {seen.masked}, so it cannot be started; set unmask"
        return Result(outcome=Outcome.FAILED, comment=comment, data=facts(managing, seen))

    def now() -> Service:
        found = managing.look(name)
        return found if want.sig is None else replace(found, running=bool(pids_of(want.sig)))

    def act(changes: Changes) -> None:  # noqa: ARG001
        _act(ctx, managing, want, now())

    def differs() -> Changes:
        return {name: True} if _wrong(now(), want) else {}

    if want.no_block and not ctx.test and differs():
        before = now()
        act({})
        return Result(
            outcome=Outcome.OK, comment=comments.done, changes={name: True}, data=facts(managing, before)
        )
    return bring(
        ctx,
        differs,
        act,
        facts=lambda: facts(managing, now()),
        words=comments,
        why=lambda _: _complaint(name, want, now()),
    )


def _settle_offline(ctx: Context, managing: Manager, name: str, want: DesiredService) -> Result:
    """Enable or disable a service where no init runs; nothing is started or stopped."""
    from saltern.modules.lib.services.offline import NOTHING_TO_DO

    seen = managing.look(name)
    if want.enabled is None and not _is_to_unmask(seen, want):
        return Result(outcome=Outcome.OK, comment=NOTHING_TO_DO, data=facts(managing, seen))
    if not seen.exists:
        notes = (f"there is no unit file for {name}, so it cannot be enabled",) if want.enabled else ()
        return Result(outcome=Outcome.OK, comment=NOTHING_TO_DO, data=facts(managing, seen), warnings=notes)
    verb = "enabled" if want.enabled else "disabled" if want.enabled is False else "unmasked"
    words = Words(f"is {verb}", f"would be {verb}", f"was {verb}")
    result = settle(ctx, name, replace(want, running=None), words)
    if result.outcome is Outcome.OK and not result.changes:
        return replace(result, comment=NOTHING_TO_DO)
    return replace(result, comment=f"Running in OFFLINE mode. {result.comment}")


def _comments(name: str, want: DesiredService, words: Words, seen: Service) -> Words:
    start = f"Service {name} "
    comments = Words(*(start + part for part in (words.already, words.would, words.done)))
    if want.running is None or want.running != seen.running or want.enabled is None:
        return comments
    verb = "enabled" if want.enabled else "disabled"  # it already runs, or not, as wanted: only this is left
    return Words(comments.already, f"{start}would be {verb}", f"{start}was {verb}")


def _missing_result(ctx: Context, managing: Manager, seen: Service, want: DesiredService) -> Result:
    name = seen.name
    data = facts(managing, seen)
    if not want.running and not want.enabled:
        return Result(outcome=Outcome.OK, comment=f"Service {name} does not exist", data=data)
    if ctx.test:
        return would_change(
            f"Service {name} does not exist yet; it would be set if an earlier state installs it",
            {name: True},
            data,
        )
    reason = seen.detail if managing.kind == "none" else "is its package installed, and the name right?"
    comment = f"Service {name} does not exist; {reason}"
    return Result(outcome=Outcome.FAILED, comment=comment, data=data)


def facts(managing: Manager, seen: Service) -> dict[str, object]:
    return {**seen.asdict(), "provider": managing.kind}


def _wrong(seen: Service, want: DesiredService) -> list[str]:
    """The wanted values that differ."""
    checks = {
        "running": want.running is not None and seen.running != want.running,
        "enabled": None not in (want.enabled, seen.enabled) and seen.enabled != want.enabled,
        "masked": _is_to_unmask(seen, want),
    }
    return [what for what, wrong in checks.items() if wrong]


def _is_to_unmask(seen: Service, want: DesiredService) -> bool:
    asked = {"masked": want.unmask, "runtime masked": want.unmask_runtime}
    return asked.get(seen.masked, False)


def _act(ctx: Context, managing: Manager, want: DesiredService, seen: Service) -> None:
    """Unmask before starting, which would fail otherwise; enable afterwards, so that a broken service is
    not.
    """
    wrong = _wrong(seen, want)
    if "masked" in wrong:
        managing.unmask(seen.name, runtime=seen.masked == "runtime masked")
    if "running" in wrong:
        move = managing.start if want.running else managing.stop
        move(seen.name, no_block=want.no_block)
        if want.init_delay:
            report_wait(
                f"{want.init_delay:g} seconds until {seen.name} has settled (init_delay)",
                want.init_delay,
            )
            ctx.clock.sleep(want.init_delay)
        if want.sig is not None:
            _await_processes(ctx, want.sig, bool(want.running))
    if "enabled" in wrong or ("masked" in wrong and want.enabled):
        (managing.enable if want.enabled else managing.disable)(seen.name)


def _await_processes(ctx: Context, pattern: str, wanted: bool) -> None:
    """Wait for processes: they appear and end a moment after the script."""
    for _ in range(TRIES):
        if bool(pids_of(pattern)) == wanted:
            return
        ctx.clock.sleep(0.1)


def _complaint(name: str, want: DesiredService, seen: Service) -> str:
    verbs = {
        "running": "start" if want.running else "stop",
        "enabled": "change at boot",
        "masked": "unmask",
    }
    failures = " and ".join(verbs[what] for what in _wrong(seen, want))
    return f"Service {name} did not {failures}: it is {seen.detail}"
