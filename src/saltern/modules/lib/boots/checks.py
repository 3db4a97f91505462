"""Health checks of the machine: commands and functions that must all succeed within a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from saltern.modules.api.commands import run_guard
from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused
from saltern.system.waits import report_wait

PAUSE = 2.0


def read_checks(given: object) -> list[object]:
    """The checks, normalized. Raises ``Refused`` for an invalid one."""
    checks = list(given) if isinstance(given, list | tuple) else [] if given is None else [given]
    for check in checks:
        if isinstance(check, str) or (isinstance(check, Mapping) and isinstance(check.get("fun"), str)):
            continue
        raise Refused(f"a check is a command, or a mapping with 'fun' and its arguments, not {check!r}")
    return checks


def describe_check(check: object) -> str:
    return (
        check if isinstance(check, str) else str(check["fun"]) if isinstance(check, Mapping) else str(check)
    )


def failing_checks(ctx: Context, checks: Sequence[object], within: float) -> list[str]:
    """The checks that still fail after ``within`` seconds; each is repeated until it succeeds."""
    end = ctx.clock.tick() + within
    left = list(checks)
    reported = False
    while left:
        left = [check for check in left if not _holds(ctx, check)]
        if not left or ctx.clock.tick() + PAUSE > end:
            break
        if not reported:
            report_wait(
                f"checks after the boot, at most {within:g} seconds: {', '.join(map(describe_check, left))}"
            )
            reported = True
        ctx.clock.sleep(PAUSE)
    return [describe_check(check) for check in left]


def _holds(ctx: Context, check: object) -> bool:
    if isinstance(check, str):
        return run_guard(ctx, check, {}) == 0
    assert isinstance(check, Mapping)
    fun, args = str(check["fun"]), check.get("args") or []
    named = {str(key): value for key, value in check.items() if key not in ("fun", "args")}
    try:
        return bool(ctx.functions[fun](*(args if isinstance(args, list) else [args]), **named))
    except Exception:  # an exception while the machine comes up means "not yet"
        return False
