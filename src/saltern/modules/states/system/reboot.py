"""``system.reboot``: reboot the machine during a run, and continue the run afterwards."""

# ruff: noqa: ARG001 - every state has a name; arguments are Salt's

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from saltern.language.result import Outcome, Result, would_change
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.params import Ignored
from saltern.modules.api.refused import Refused
from saltern.modules.lib.boots import checks as health
from saltern.modules.lib.boots import reboot_needed, units
from saltern.modules.lib.boots import scheduled_shutdown as foreign
from saltern.system.boot import has_rebooted
from saltern.system.reboot import Rebooter, current
from saltern.system.snapshots import is_inside, snapshots_state
from saltern.system.waits import report_wait

if TYPE_CHECKING:
    from saltern.language.barriers import Crossing


CHECKS = 600.0  # default seconds for the checks after the boot


class RebootRequest(Struct, frozen=True, kw_only=True):
    """The arguments of the reboot, and the reasons for it."""

    reasons: list[str]
    always: bool
    notice: float
    start_deadline: float
    force: bool
    return_deadline: float | None
    checks: list[object]
    stable: float
    failed_units: bool
    pending: str

    @property
    def changes(self) -> dict[str, object]:
        return {"reboot": {"old": self.reasons or ["asked for"], "new": "rebooted"}}


@state
def reboot(
    ctx: Context,
    /,
    name: str,
    *,
    only_on_pending_reboot: bool = True,
    notice: float = 0.0,
    start_deadline: float = 600.0,
    force: bool = False,
    return_deadline: float | None = None,
    checks: list[object] | None = None,
    stable: float = 0.0,
    failed_units: bool = False,
    pending_shutdown: str = "auto",
    timeout: float | None = None,
    in_seconds: bool = False,
    **_: Ignored,
) -> Result:
    """Reboot this machine if a reboot is due, and continue the run afterwards.

    The rest of the run is on disk before the machine goes down. That it was down is proven by the ID of
    its boot, never by a clock. `saltern install-service` installs a service that resumes the run at boot;
    without it, `saltern resume` does.

    A reboot is due if a package has requested it (`/run/reboot-required`), if a newer kernel is installed
    than is running, if process 1 uses libraries that were replaced, or if `needs-restarting` reports it. If a
    reason remains after the boot, the state fails: another reboot would not help. On machines whose
    root is a bootable snapshot, a snapshot that waits for a boot is a reason, too, and the state fails if
    another snapshot was booted: the machine has been rolled back.

    Args:
        name: any text.
        only_on_pending_reboot: reboot only if it is due; false: always.
        notice: seconds from the request to the reboot; users are notified unless it is 0.
        start_deadline: seconds after the notice within which the machine must go down; after that the
            state fails, and the run continues without a reboot.
        force: after the start deadline, reboot without an orderly shutdown, and fail only if even
            that does nothing.
        return_deadline: seconds within which the machine must be back, and then within which all checks must
            pass. By default an hour, and ten minutes for the checks; a controller knows how
            long the machine took before.
        checks: commands, and functions as in ``onlyif``, that must succeed after the boot.
        stable: seconds to wait after the boot; if the machine boots again in that time, the state fails.
        failed_units: fail if a systemd unit has failed after the boot that had not failed before.
        pending_shutdown: what to do about a shutdown that another program scheduled. ``auto`` cancels a
            reboot, since this one replaces it, and fails if the machine is to be powered off;
            ``replace`` cancels both, ``fail`` neither.
        timeout: the same as notice, in minutes.
        in_seconds: the timeout is in seconds.

    Example:
        ```yaml
        boot into the new kernel:
          system.reboot:
            - start_deadline: 300
            - checks:
              - test -d /proc/1
              - fun: test.true
        ```
    """
    if is_inside():
        raise Refused("a snapshot cannot be rebooted: put the state system.reboot after the transaction")
    if timeout is not None:
        notice = timeout if in_seconds else timeout * 60
    want = RebootRequest(
        reasons=reboot_needed.reasons(ctx),
        always=not only_on_pending_reboot,
        notice=_seconds(notice, "notice"),
        start_deadline=_seconds(start_deadline, "start_deadline"),
        force=force,
        return_deadline=None if return_deadline is None else _seconds(return_deadline, "return_deadline"),
        checks=health.read_checks(checks),
        stable=_seconds(stable, "stable"),
        failed_units=failed_units,
        pending=foreign.policy(pending_shutdown),
    )
    crossing = ctx.run.crossing
    if crossing is not None and crossing.kind == "reboot" and not ctx.test:
        return _after(ctx, want, crossing)
    return _before(ctx, want)


def _before(ctx: Context, want: RebootRequest) -> Result:
    data: dict[str, object] = {"needed": want.reasons}
    if not (want.reasons or want.always):
        return Result(outcome=Outcome.OK, comment="No reboot is due", data=data)
    why = "; ".join(want.reasons) or "as the state says"
    if ctx.test:
        comment = f"The machine would be rebooted: {why}"
        return would_change(comment, want.changes, data)
    instead = foreign.make_way(_machine(ctx), want.pending)
    ask = {
        "when": "again",
        "notice": want.notice,
        "start_deadline": want.start_deadline,
        "force": want.force,
        **({} if want.return_deadline is None else {"return_deadline": want.return_deadline}),
        "reasons": want.reasons,
        "failed_units": units.failed_units(ctx) if want.failed_units else [],
        "instead": instead,
        "snapshot": snapshots_state()[1],
    }
    comment = "\n".join(part for part in (f"A reboot is due: {why}", instead) if part)
    return Result(outcome=Outcome.OK, comment=comment, data=data, extra={"reboot": ask})


def _after(ctx: Context, want: RebootRequest, crossing: Crossing) -> Result:
    """The result after the reboot: whether the machine is healthy, and the reasons are gone."""
    before = _texts(crossing, "reasons")
    data: dict[str, object] = {
        "needed": want.reasons,
        "before": dict(crossing.before),
        "now": dict(crossing.now),
    }
    changes: dict[str, object] = {"reboot": {"old": before or ["asked for"], "new": "rebooted"}}
    instead = str(crossing.ask.get("instead") or "")
    comments = ["The machine was rebooted", *([instead] if instead else [])]
    again = has_rebooted({key: str(part) for key, part in crossing.now.items()}, _machine(ctx).identity())
    if again:
        comments.append("It has booted again since then, although saltern did not request it")
    problems = list(_problems(ctx, want, crossing, again=again))
    outcome = Outcome.FAILED if problems else Outcome.OK
    return Result(outcome=outcome, comment="\n".join([*comments, *problems]), changes=changes, data=data)


def _problems(ctx: Context, want: RebootRequest, crossing: Crossing, *, again: bool) -> Iterator[str]:
    yield from _rolled_back(crossing)
    patience = CHECKS if want.return_deadline is None else want.return_deadline
    for check in health.failing_checks(ctx, want.checks, patience):
        yield f"the check still fails {patience:g} seconds after the boot: {check}"
    before = _texts(crossing, "reasons")
    old = reboot_needed.old_kernel(ctx)
    for reason in want.reasons:
        if reason in before or reason in old:
            yield f"still true after the boot: {reason}"
    if want.stable and again:
        yield f"not stable: the machine did not stay up for {want.stable:g} seconds"
    elif want.stable:
        report_wait(f"{want.stable:g} seconds for which the machine must stay up", want.stable)
        ctx.clock.sleep(want.stable)
    if want.failed_units:
        known = _texts(crossing, "failed_units")
        yield from (f"failed since the boot: {unit}" for unit in units.failed_units(ctx) if unit not in known)


def _rolled_back(crossing: Crossing) -> Iterator[str]:
    """A problem if the machine runs another snapshot than the one it was to boot."""
    expected, booted = str(crossing.ask.get("snapshot") or ""), snapshots_state()[0]
    if expected and booted and booted != expected:
        yield f"the machine runs snapshot {booted} instead of {expected}: it was rolled back"


def _texts(crossing: Crossing, name: str) -> list[str]:
    given = crossing.ask.get(name)
    return [str(one) for one in given] if isinstance(given, list) else []


def _machine(ctx: Context) -> Rebooter:
    return current(ctx.settings)


def _seconds(value: float, what: str) -> float:
    if value < 0:
        raise Refused(f"{what} cannot be negative: {value:g}")
    return value
