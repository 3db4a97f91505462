"""Renders segments as SLS. Each action is a state that requires the one before it.

The next segment is recorded *before* the barrier that ends a segment, so that a machine that goes down at
once knows where to continue. If the barrier fails, the record is removed. The texts also run under a real
Salt, with the module from ``salt_module``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from saltern.chains.action_body import Call
from saltern.chains.actions import Safety
from saltern.chains.compile import LegPlan, Segment, state_id
from saltern.chains.document import Action
from saltern.language.late import escape_references
from saltern.modules.lib import chain_chunks
from saltern.system.keeper_process import TOKEN

PLAIN = "#!yaml\n"  # a command may contain any braces
SALT_NAMES = ("actionchains", "mgractionchain")  # the second is an alias
IDEMPOTENCY = "Idempotency-Key"
High = dict[str, dict[str, list[object]]]


def salt_module(name: str = SALT_NAMES[0]) -> str:
    """The text of the module of this name for a real Salt."""
    with open(os.path.abspath(chain_chunks.__file__), encoding="utf-8") as file:
        own = f'__virtualname__ = "{SALT_NAMES[0]}"'
        return file.read().replace(own, f'__virtualname__ = "{name}"')


def segment_text(plan: LegPlan, segment: Segment) -> str:
    """One segment as a file of its own, with the states that lead to the next."""
    title = (
        f"# Action chain {plan.chain.id} on {plan.system}, chunk {segment.number} of {len(plan.segments)}\n"
    )
    return PLAIN + title + _yaml(_whole(plan, segment))


def actions_text(actions: Sequence[Action], leg: str = "", *, last: bool = False) -> str:
    """Only the actions, for a run that the ``leg`` drives. The ``last`` ones do not require each other."""
    return PLAIN + _yaml(_chain_states(actions, salt=False, leg=leg, apart=last, handled=False))


def state_text(plan: LegPlan) -> str:
    """The whole leg as one SLS, with barriers as states."""
    title = f"# Action chain {plan.chain.id}, saved as a state\n"
    last = _chain_states(plan.finalizers, salt=False, apart=True)
    for body in last.values():
        for items in body.values():
            items.append({"order": "last"})
    return PLAIN + title + _yaml(_chain_states(plan.steps, salt=False) | last)


def _yaml(high: High) -> str:
    from saltern.report.yaml import dump

    return "\n".join(dump({name: body}) for name, body in high.items())


def _whole(plan: LegPlan, segment: Segment) -> High:
    high: High = {}
    if segment.number > 1:
        high |= _proof(plan.segments[segment.number - 2])
    before = _last(high)
    high |= _chain_states(segment.actions, salt=True, before=before)
    before = _required_state(segment.actions) or before
    if segment.number == len(plan.segments) and segment.barrier is None:
        high["finish_action_chain"] = _function("finish", {"chunk": segment.name}, before)
        return high
    assert segment.barrier is not None
    return high | _barrier_states(plan, segment, before)


def _barrier_states(plan: LegPlan, segment: Segment, before: tuple[str, str] | None) -> High:
    """Record the next segment, then the barrier, then remove the record if the barrier failed."""
    barrier = segment.barrier
    assert barrier is not None
    high: High = {}
    if segment.number < len(plan.segments):
        after = {"after": barrier.kind} if barrier.kind == "reboot" else {}
        high["next_chunk"] = _function("next", {"chunk": plan.segments[segment.number].name, **after}, before)
        before = ("module", "next_chunk")
    else:
        high["finish_action_chain"] = _function("finish", {"chunk": segment.name}, before)
        before = ("module", "finish_action_chain")
    high |= _chain_states((barrier,), salt=True, before=before)
    if "next_chunk" in high:
        forget = _function("finish", {"chunk": plan.segments[segment.number].name})
        forget["module.run"].append({"onfail": [{_module(barrier): state_id(barrier.id)}]})
        high["forget_next_chunk"] = forget
    return high


def _proof(before: Segment) -> High:
    """The state that checks after an update whether the wanted version runs."""
    barrier = before.barrier
    if barrier is None or barrier.kind != "agent":
        return {}
    version = barrier.body.version  # type: ignore[attr-defined]
    return {f"check_{barrier.id}": _function("updated", {"version": version})}


def _function(
    name: str, args: dict[str, object], before: tuple[str, str] | None = None
) -> dict[str, list[object]]:
    items: list[object] = [{f"actionchains.{name}": [{key: value} for key, value in args.items()]}]
    return {"module.run": [*items, *_require(before)]}


def _chain_states(
    actions: Iterable[Action],
    *,
    salt: bool,
    before: tuple[str, str] | None = None,
    leg: str = "",
    apart: bool = False,
    handled: bool = True,
) -> High:
    """Each state requires the nearest one before it whose failure ends the chain; none if they are ``apart``.
    ``handled``: includes the handlers of failures, which a leg runs separately."""
    high: High = {}
    for action in actions:
        call = _name_call(action.body.call(salt), leg, action)
        args = call.args if salt else literal_args(call.args)
        items: list[object] = [{name: value} for name, value in args.items()]
        items += [{name: value} for name, value in _policy(action, call, salt).items()]
        high[state_id(action.id)] = {call.function: [*items, *_require(before)]}
        high |= _handlers(action, salt=salt) if handled else {}
        if action.stops and not apart:
            before = (call.function.partition(".")[0], state_id(action.id))
    return high


def _handlers(action: Action, *, salt: bool) -> High:
    """The handlers of an action's failure, in order."""
    if not action.handlers:
        return {}
    high = _chain_states(action.handlers, salt=salt)
    failed = {"onfail": [{action.body.call(salt).function.partition(".")[0]: state_id(action.id)}]}
    for body in high.values():
        for items in body.values():
            items.append(failed)
    return high


def literal_args(args: Mapping[str, object]) -> Mapping[str, object]:
    """Arguments with references escaped: a chain has no registered returns, so ``${delayed:…}`` in a command
    belongs to the command."""
    found = escape_references(dict(args))
    assert isinstance(found, dict)
    return found


def _name_call(call: Call, leg: str, action: Action) -> Call:
    """The call with a name of its action that no retry and no crash changes: in the environment of a command,
    and in a header to a web server, so that they can recognise repetitions.
    """
    if leg and action.kind == "request":
        given = call.args.get("header_dict")
        headers = {IDEMPOTENCY: f"{leg}.{action.id}", **(given if isinstance(given, dict) else {})}
        return Call(call.function, {**call.args, "header_dict": headers})
    if leg and action.kind == "transaction":
        return Call(call.function, {**call.args, "token": f"{leg}.{action.id}"})
    if not leg or action.kind not in ("command", "script"):
        return call
    env = call.args.get("env")
    named = [*(env if isinstance(env, list) else []), {TOKEN: f"{leg}.{action.id}"}]
    return Call(call.function, {**call.args, "env": named})


def _policy(action: Action, call: Call, salt: bool) -> dict[str, object]:
    """The state options of an action. Salt has no ``resume``."""
    found: dict[str, object] = {}
    again = action.policy.retry
    if again is not None and "retry" not in call.args:
        found["retry"] = {"attempts": again.attempts, "interval": again.wait, "until": True}
        if not salt and again.backoff != 1:
            found["retry"] = {**found["retry"], "backoff": again.backoff}  # type: ignore[dict-item]
    if not salt and not action.row.barrier:
        verify = getattr(action.body, "verify", None)
        usual: object = "rerun" if action.row.safety is Safety.REPEATED else None
        usual = {"probe": verify} if verify else usual
        if how := action.policy.resume or usual:
            found["resume"] = how
    return found


def _require(before: tuple[str, str] | None) -> list[object]:
    return [{"require": [{before[0]: before[1]}]}] if before else []


def _required_state(actions: Sequence[Action]) -> tuple[str, str] | None:
    """The state that the continuation of the chain depends on."""
    stopping = [action for action in actions if action.stops]
    return (_module(stopping[-1]), state_id(stopping[-1].id)) if stopping else None


def _module(action: Action) -> str:
    return action.body.call(True).function.partition(".")[0]


def _last(high: High) -> tuple[str, str] | None:
    return next((("module", name) for name in reversed(high)), None)
