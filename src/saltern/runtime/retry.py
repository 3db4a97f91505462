"""``retry``: repeat the whole call until it gives the wanted result or the attempts are used up."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from saltern.language.result import Outcome, Result
from saltern.system.clock import Clock
from saltern.system.waits import report_wait


class Retry(Struct, frozen=True):
    attempts: int = 2
    until: bool = True
    interval: float = 30
    splay: float = 0
    backoff: float = 1  # the factor by which each wait grows


def read(value: object) -> Retry:
    """The value as written: true, false, or a mapping. Its shape was checked by the compiler."""
    if value is True:
        return Retry()
    if not isinstance(value, Mapping):
        return Retry(attempts=1)
    given = {key: value[key] for key in ("attempts", "interval", "splay", "backoff") if key in value}
    return Retry(
        until=bool(value.get("until", True)),
        **{
            key: int(float(str(number))) if key == "attempts" else float(str(number))
            for key, number in given.items()
        },  # type: ignore[arg-type]
    )


def run_with_retry(once: Callable[[], Result], rule: Retry, clock: Clock) -> Result:
    """Call ``once`` until its outcome is the wanted one. The comment lists earlier attempts."""
    wanted = Outcome.OK if rule.until else Outcome.FAILED
    attempts: list[str] = []
    for attempt in range(1, max(rule.attempts, 1) + 1):
        result = once()
        if result.outcome is wanted or attempt >= rule.attempts:
            break
        attempts.append(f'attempt {attempt}: {_word(result)}, with the comment: "{result.comment}"')
        pause = rule.interval * rule.backoff ** (attempt - 1) + _random(rule.splay)
        report_wait(f"attempt {attempt + 1} of {rule.attempts}, in {pause:g} seconds", pause)
        clock.sleep(pause)
    if not attempts:
        return result
    return replace(result, comment="\n".join([*attempts, result.comment]))


def _word(result: Result) -> str:
    return {Outcome.OK: "succeeded", Outcome.FAILED: "failed", Outcome.WOULD_CHANGE: "would change"}[
        result.outcome
    ]


def _random(splay: float) -> float:
    if not splay:
        return 0.0
    from random import uniform

    return uniform(0, splay)
