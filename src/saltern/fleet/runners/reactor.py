"""``reactor``: the map of the reactor, in the format of Salt's runners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from saltern.fleet.client.problems import ControllerError
from saltern.fleet.runners.ports import Around, runner_problem

REFUSED = "reactor-rule"


def list_(around: Around, saltenv: str = "base", test: object = None) -> list[dict[str, list[str]]]:  # noqa: ARG001
    """The rows of the map: a pattern of tags, with files."""
    return [{row["tag"]: list(row["sources"])} for row in around.ask.reactor.list()]


def add(
    around: Around,
    event: str,
    reactors: object,
    saltenv: str = "base",  # noqa: ARG001
    test: object = None,  # noqa: ARG001
) -> dict[str, Any]:
    """Add a row; there must be none for the same pattern."""
    if event in _patterns(around):
        return {"status": False, "comment": "Reactor already exists."}
    sources = reactors if isinstance(reactors, list) else [reactors]
    return _answer(lambda: around.ask.reactor.add(event, [str(one) for one in sources]), "Reactor added.")


def delete(
    around: Around,
    event: str,
    saltenv: str = "base",  # noqa: ARG001
    test: object = None,  # noqa: ARG001
) -> dict[str, Any]:
    """Remove a row that was added."""
    if event not in _patterns(around):
        return {"status": False, "comment": "Reactor does not exists."}
    return _answer(lambda: around.ask.reactor.remove(event), "Reactor deleted.")


def is_leader(around: Around) -> bool:  # noqa: ARG001
    """True: the fleet always reacts, on one controller at a time."""
    return True


def set_leader(around: Around, value: object = True) -> bool:  # noqa: ARG001
    """Accepted as in Salt, but a shared lease decides which controller reacts."""
    if not value:
        what = "the reactor cannot be handed to another controller: they agree on one by themselves"
        raise runner_problem(what, "to stop reactions, remove the rows of `reactor`: saltern reactor list")
    return True


def _patterns(around: Around) -> set[str]:
    return {str(row["tag"]) for row in around.ask.reactor.list()}


def _answer(work: Callable[[], object], done: str) -> dict[str, Any]:
    try:
        work()
    except ControllerError as problem:
        if problem.code != REFUSED:
            raise
        return {"status": False, "comment": problem.diagnostics[0].what}
    return {"status": True, "comment": done}


RUNNERS: dict[str, Callable[..., object]] = {
    "reactor.list": list_,
    "reactor.add": add,
    "reactor.delete": delete,
    "reactor.is_leader": is_leader,
    "reactor.set_leader": set_leader,
}
