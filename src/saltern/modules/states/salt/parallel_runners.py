"""``salt.parallel_runners``: several runners at the same time."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from msgspec import Struct

from saltern.language.result import Outcome, Result, SubResult, failed, would_change
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.orchestration import RunnerReturn
from saltern.modules.api.params import Ignored
from saltern.modules.lib.orchestration.calls import next_token, orchestration_of


class Wanted(Struct, frozen=True, kw_only=True):
    """A runner to run. ``token`` is a permanent name for its calls."""

    id: str
    name: str
    kwargs: dict[str, object]
    token: str


@state
def parallel_runners(ctx: Context, /, name: str, *, runners: object, **_: Ignored) -> Result:  # noqa: ARG001
    """Run several runners at the same time. Each is a sub state. In test mode none is run.

    Args:
        name: any name.
        runners: a mapping from any name to the ``name`` of the runner and its ``kwarg``.

    Example:
        ```yaml
        both parts:
          salt.parallel_runners:
            - runners:
                first:
                  - name: state.orchestrate
                  - kwarg:
                      mods: orch.first
                second:
                  - name: state.orchestrate
                  - kwarg:
                      mods: orch.second
        ```
    """
    given = {runners: None} if isinstance(runners, str) else runners
    if not isinstance(given, Mapping):
        return failed("The runners parameter must be a string or dict.")
    if ctx.test:
        listed = ", ".join(map(str, given))
        return would_change(f"Runners {listed} would be executed.")
    wanted = [_read_runner(ctx, str(key), value) for key, value in given.items()]
    fleet = orchestration_of(ctx)
    with ThreadPoolExecutor(max_workers=max(1, len(wanted))) as pool:
        work = [pool.submit(fleet.runner, one.name, [], one.kwargs, one.token) for one in wanted]
        found = {one.id: done.result() for one, done in zip(wanted, work, strict=True)}
    return _conclude(ctx, found)


def _read_runner(ctx: Context, id_: str, given: object) -> Wanted:
    """The runner from its options, which Salt's files write as a list of mappings with one key."""
    rows = given if isinstance(given, list) else [given or {}]
    options = {key: value for row in rows if isinstance(row, Mapping) for key, value in row.items()}
    kwargs = options.get("kwarg")
    return Wanted(
        id=id_,
        name=str(options.get("name", id_)),
        kwargs=dict(kwargs) if isinstance(kwargs, Mapping) else {},
        token=next_token(ctx),
    )


def _conclude(ctx: Context, found: Mapping[str, RunnerReturn]) -> Result:
    steps = tuple(_step(id_, one) for id_, one in found.items())
    for step in steps:
        if ctx.emit is not None:
            ctx.emit(step)
    bad = [id_ for id_, one in found.items() if not one.is_ok]
    comment = "All runner functions executed successfully."
    if bad:
        comment = f"Runner {bad[0]} failed." if len(bad) == 1 else f"Runners {', '.join(bad)} failed."
    return Result(
        outcome=Outcome.FAILED if bad else Outcome.OK,
        comment=comment,
        changes={"ret": {id_: one.value for id_, one in found.items()}},
        sub=() if ctx.emit is not None else steps,
    )


def _step(id_: str, one: RunnerReturn) -> SubResult:
    return SubResult(
        name=id_,
        id=id_,
        outcome=Outcome.OK if one.is_ok else Outcome.FAILED,
        comment="" if one.is_ok or not isinstance(one.value, str) else one.value,
        sub=one.steps,
    )
