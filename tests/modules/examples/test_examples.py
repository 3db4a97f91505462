"""Every built-in function shows an example, and every example does what its page says.

Each is run for real, in a throw-away copy of this machine (``sandbox``), prepared for it (``world``).
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.modules.examples.exceptions import (
    ALWAYS,
    ELSEWHERE,
    FAILS,
    LOOKS,
    NO_DATA,
    NOT_CALLED,
    REFUSED,
    UNFORESEEN,
)
from tests.modules.examples.reading import Example, agrees, examples
from tests.modules.examples.world import LAYERS, NEEDS, SCRIPTS, missing_for
from tests.modules.examples.zygote import Client, elsewhere

EXAMPLES = examples()
STATES = [one for one in EXAMPLES.values() if one.kind == "states"]
FUNCTIONS = [one for one in EXAMPLES.values() if one.kind == "functions"]
Answers = dict[str, dict[str, object]]


def key(example: Example) -> str:
    return example.key


def test_no_function_lacks_an_example() -> None:
    assert [one.key for one in EXAMPLES.values() if not one.blocks] == []


def test_every_row_of_a_table_belongs_to_an_example() -> None:
    states, functions = ({one.name for one in some} for some in (STATES, FUNCTIONS))
    rows = ALWAYS.keys() | UNFORESEEN.keys() | LOOKS.keys() | FAILS | ELSEWHERE.keys()
    assert rows - states - {name.partition(".")[0] for name in states} == set()
    modules = {name.partition(".")[0] for name in functions}
    assert (NOT_CALLED.keys() | REFUSED.keys()) - functions - modules == set()
    keys = EXAMPLES.keys() | {one.key.rpartition(".")[0] for one in EXAMPLES.values()}
    assert (SCRIPTS.keys() | NEEDS.keys()) - keys == set()
    assert {name for names in NEEDS.values() for name in names} - LAYERS.keys() == set()


@pytest.mark.machine
@pytest.mark.parametrize("example", STATES, ids=key)
def test_a_state_foretells_what_it_does_does_it_and_does_it_once(example: Example, zygote: Client) -> None:
    answer = _asked(example.key, zygote)
    passes: list[Answers] = answer["passes"]  # type: ignore[assignment]
    known = elsewhere(example.name)
    problems = list(_elsewhere(example.name, known, *passes) if known else _problems(example.name, *passes))
    assert not problems, "\n".join(problems)


def _asked(key: str, zygote: Client) -> dict[str, object]:
    if why := missing_for(key):
        pytest.skip(why)
    answer = zygote.ask(key)
    assert "problem" not in answer, answer["problem"]
    return answer


def _elsewhere(name: str, known: tuple[bool | None, str, str], foretold: Answers) -> Iterator[str]:
    outcome, words, _ = known
    for tag, answer in foretold.items():
        if not tag:
            yield f"it does not compile: {answer['comment']}"
        if answer.get("function") == name and (
            answer["outcome"] is not outcome or words not in str(answer["comment"])
        ):
            yield f"{tag}: {answer['outcome']}, {answer['comment']}"


def _problems(name: str, foretold: Answers, done: Answers, again: Answers) -> Iterator[str]:
    """What is wrong with three passes over an example: test mode, the run, the run once more."""
    usual = name not in ALWAYS and name not in FAILS
    for tag, now in done.items():
        told, later = foretold.get(tag, {}), again.get(tag, {})
        if now["outcome"] is not (name not in FAILS):
            yield f"the run: {tag}: {now['comment']}"
        if usual and told.get("outcome") is not (None if now.get("changes") else True):
            yield f"test mode says {told.get('outcome')} of {tag}: {told.get('comment')}"
        if name not in UNFORESEEN and told.get("changes") != now.get("changes"):
            yield f"{tag}: foretold {told.get('changes')}, done {now.get('changes')}"
        if usual and (later.get("outcome") is not True or later.get("changes")):
            yield f"the second run: {tag}: {later.get('changes')} {later.get('comment')}"
        if any(map(_unknown, (told, now, later))):
            yield f"{tag} has no data"
    if not any(now.get("changes") for now in done.values()) and name not in LOOKS and name not in FAILS:
        yield "the example changes nothing"


def _unknown(answer: dict[str, object]) -> bool:
    """Whether a state that ran does not say what it knows of its thing."""
    module = str(answer.get("function")).partition(".")[0]
    return bool(answer.get("ran")) and not answer.get("data") and module not in NO_DATA


@pytest.mark.machine
@pytest.mark.parametrize("example", FUNCTIONS, ids=key)
def test_a_function_answers_as_its_page_says(example: Example, zygote: Client) -> None:
    if example.name in NOT_CALLED:
        pytest.skip(NOT_CALLED[example.name])
    answer = _asked(example.key, zygote)
    last = answer["steps"][-1]  # type: ignore[index]
    if known := REFUSED.get(example.name):
        assert last["code"] and known[0] in last["told"]
    elif not (last["code"] and example.name.partition(".")[0] in REFUSED):
        _compare(answer["steps"])  # type: ignore[arg-type]


def _compare(steps: list[dict[str, object]]) -> None:
    for step in steps:
        said, printed = str(step["said"]), str(step["printed"])
        assert not step["code"], f"{step['command']}: {step['told']}{printed}"
        assert agrees(said, printed), f"{step['command']} printed:\n{printed}"
