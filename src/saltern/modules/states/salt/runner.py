"""``salt.runner`` and ``salt.wheel``: functions of the controller."""

from __future__ import annotations

from saltern.language.result import Outcome, Result, would_change
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.orchestration import RunnerReturn
from saltern.modules.lib.orchestration.calls import next_token, orchestration_of


@state
def runner(ctx: Context, /, name: str, **kwargs: object) -> Result:
    """Run a runner on the controller. Its value is in ``changes`` under ``return``.

    Your own runners are Python files in ``_runners`` of the tree. An orchestration that
    ``state.orchestrate`` runs has its states as sub states. In test mode only such an orchestration runs,
    also in test mode.

    Args:
        name: the runner, such as ``manage.up``; ``saltern runner --list`` lists them.
        arg: its arguments, as a list.
        kwarg: its keywords, as a mapping.
        **kwargs: further keywords.

    Example:
        ```yaml
        second part:
          salt.runner:
            - name: state.orchestrate
            - mods: orch.second
            - pillar:
                version: 7
        ```
    """
    if ctx.test and name not in ORCHESTRATE:
        return would_change(f"Runner function '{name}' would be executed.")
    args, keywords = arguments(kwargs)
    if ctx.test:
        keywords["test"] = True
    found = orchestration_of(ctx).runner(name, args, keywords, next_token(ctx))
    return _result(ctx, "Runner", name, found)


@state
def wheel(ctx: Context, /, name: str, **kwargs: object) -> Result:
    """Call a wheel function of the controller, such as ``key.accept``. In test mode it is not called.

    Args:
        name: the function.
        arg: its arguments, as a list.
        kwarg: its keywords, as a mapping.
        **kwargs: further keywords.

    Example:
        ```yaml
        new system:
          salt.wheel:
            - name: key.accept
            - match: web7
        ```
    """
    if ctx.test:
        return would_change(f"Wheel function '{name}' would be executed.")
    args, keywords = arguments(kwargs)
    return _result(ctx, "Wheel", name, orchestration_of(ctx).wheel(name, args, keywords))


ORCHESTRATE = frozenset({"state.orchestrate", "state.orch", "state.sls"})


def arguments(given: dict[str, object]) -> tuple[list[object], dict[str, object]]:
    """``arg``, and ``kwarg`` together with the other keywords."""
    keywords = {key: value for key, value in given.items() if key not in ("arg", "kwarg")}
    arg, kwarg = given.get("arg"), given.get("kwarg")
    args = list(arg) if isinstance(arg, list | tuple) else [] if arg is None else [arg]
    return args, {**(kwarg if isinstance(kwarg, dict) else {}), **keywords}


def _result(ctx: Context, kind: str, name: str, found: RunnerReturn) -> Result:
    comment = f"{kind} function '{name}' {'executed' if found.is_ok else 'failed'}."
    if not found.is_ok and isinstance(found.value, str):
        comment = f"{comment}\n{found.value}"
    for step in found.steps:
        if ctx.emit is not None:
            ctx.emit(step)
    outcome = Outcome.OK if found.is_ok else Outcome.FAILED
    if ctx.test and found.is_ok:
        outcome = Outcome.WOULD_CHANGE
    return Result(
        outcome=outcome,
        comment=comment,
        changes={"return": found.value},
        data={"jid": found.jid} if found.jid else {},
        sub=() if ctx.emit is not None else found.steps,
        extra={"__jid__": found.jid} if found.jid else {},
    )
