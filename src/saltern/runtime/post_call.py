"""What the options of a chunk request once it has answered: events, and refreshes."""

from __future__ import annotations

from saltern.language.events import Answer, Fired
from saltern.language.hidden import shown_chunk
from saltern.language.result import Outcome
from saltern.plan.plan import Plan
from saltern.runtime.answers import Answers


def events(answer: Answer, *, every: bool) -> list[Fired]:
    """The events of ``fire_event`` of the state, and of ``state_events`` of the configuration."""
    chunk, result = shown_chunk(answer.chunk), answer.result
    label = chunk.args.get("fire_event") if "fire_event" in chunk.words else None
    if not label and not every:
        return []
    data: dict[str, object] = {
        "result": result.outcome.value,
        "changes": result.changes,
        "comment": result.comment,
    }
    fired = []
    if label:
        name = label if isinstance(label, str) else chunk.name
        fired.append(Fired(f"salt/state_result/local/{chunk.id}/{name}", data))
    if every:
        fired.append(Fired(f"salt/job/local/prog/{chunk.id}/{answer.number}", data))
    return fired


def reloads(answer: Answer, *, modules: bool) -> frozenset[str]:
    """What must be collected again: ``grains``, ``pillar``, ``modules``.

    ``modules``: the state may have installed a module.
    """
    args = answer.chunk.args
    changed = bool(answer.result.changes)
    asked = bool(args.get("reload_modules")) or modules
    wanted = {
        "grains": bool(args.get("reload_grains")),
        "pillar": bool(args.get("reload_pillar")),
        "modules": (changed and asked) or bool(args.get("force_reload_modules")),
    }
    return frozenset(what for what, yes in wanted.items() if yes)


def forgiven_failures(plan: Plan, answers: Answers) -> frozenset[int]:
    """The numbers of failures that a handler with ``onfail_stop: False`` has handled."""
    numbers: set[int] = set()
    for index, chunk in enumerate(plan.chunks):
        if "onfail_stop" not in chunk.words or chunk.args["onfail_stop"] is not False:
            continue
        answer = answers.of[index]
        if answer is None or not answer.result.ran or answer.result.outcome is Outcome.FAILED:
            continue
        for need in plan.needs.get(index, ()):
            if need.kind.name.startswith("onfail"):
                for one in answers.failed_behind(need.on):
                    failed = answers.of[one]
                    numbers.update([failed.number] if failed else [])
                    numbers.update(inner.number for inner in answers.below.get(one, []))
    return frozenset(numbers)
