"""``event``: what is sent in a run reaches those who listen to the run."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests import kit
from tests.modules.bench import Bench

from saltern.language.events import ChunkFinished, ChunkStarted, Fired
from saltern.language.result import Outcome
from saltern.modules.functions import event as functions
from saltern.modules.states import event


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, event, functions={"event": functions})


def fired(text: str, *, test: bool = False) -> list[Fired]:
    files = {"main.sls": text}
    with kit.tree(files) as made:
        outcome = kit.attempt(made, kit.request_for(files), test=test)
    assert outcome.report is not None, outcome.texts
    assert [
        answer.result.comment for answer in outcome.answers if answer.result.outcome is Outcome.FAILED
    ] == []
    return [one for one in outcome.events if isinstance(one, Fired)]


SEND = "a/b:\n  event.send:\n    - data: {x: 1}\n"


def test_an_event_is_reported_between_the_start_and_the_end_of_its_state() -> None:
    with kit.tree({"main.sls": SEND}) as made:
        told = kit.attempt(made, kit.request_for({"main.sls": SEND})).events
    assert [type(one) for one in told[1:4]] == [ChunkStarted, Fired, ChunkFinished]
    assert told[2] == Fired("a/b", {"x": 1})


def test_a_test_sends_nothing() -> None:
    assert fired(SEND, test=True) == []


def test_wait_sends_when_something_watched_has_changed() -> None:
    wait = "told:\n  event.wait:\n    - data: {{y: 2}}\n    - watch: [{{test: {what}}}]\n"
    text = "{what}:\n  test.{what}: []\n" + wait
    assert fired(text.format(what="succeed_with_changes")) == [Fired("told", {"y": 2})]
    assert fired(text.format(what="succeed_without_changes")) == []


def test_a_state_beside_the_others_brings_its_events_home() -> None:
    one = "one:\n  event.send:\n    - parallel: true\n"
    two = "two:\n  event.send:\n    - parallel: true\n    - data: {z: 3}\n"
    assert sorted(fired(one + two), key=lambda one: one.tag) == [Fired("one", {}), Fired("two", {"z": 3})]


def test_functions_send_as_well() -> None:
    text = "it:\n  module.run:\n    - event.send:\n      - tag: a/c\n      - data: {x: 1}\n      - more: 2\n"
    assert fired(text) == [Fired("a/c", {"x": 1, "more": 2})]


def test_surroundings_are_part_of_it_only_if_asked_for(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[object] = []
    bench.run.outbox.listen(heard.append)
    bench.run.pillar.update({"deep": {"secret": 1}, "plain": 2})
    monkeypatch.setenv("SALTERN_T", "x")
    asked = {"with_env": ["SALTERN_T", "SALTERN_T_NOT"], "with_grains": True, "with_pillar": ["plain"]}
    done = bench.call("send", "tag", data={"a": 1}, preload={"b": 2}, more=3, test=False, **asked)
    assert done.changes == {"tag": "tag", "data": {"a": 1, "more": 3}}
    assert heard == [
        Fired(
            "tag",
            {
                "b": 2,
                "environ": {"SALTERN_T": "x"},
                "grains": {"id": "here", "os": "Debian", "os_family": "Debian"},
                "pillar": {"plain": 2},
                "a": 1,
                "more": 3,
            },
        )
    ]
    bench.salt["event.send"]("t", with_env_opts=True)
    assert heard[1] == Fired("t", {"saltenv": "base", "pillarenv": None})


def test_what_is_foretold_is_what_is_done_each_time(bench: Bench) -> None:
    foretold = bench.call("send", "tag", test=True, data={"a": 1})
    done = bench.call("send", "tag", data={"a": 1})
    assert foretold.outcome is Outcome.WOULD_CHANGE
    assert done.changes == foretold.changes == done.data == {"tag": "tag", "data": {"a": 1}}
    quiet = bench.call("send", "tag", show_changed=False)
    assert (quiet.outcome, quiet.changes, quiet.data["tag"]) == (Outcome.OK, {}, "tag")


def test_functions_say_whether_anybody_listens(bench: Bench) -> None:
    assert bench.salt["event.fire"]({"a": 1}, "tag") is False
    heard: list[object] = []
    bench.run.outbox.listen(heard.append)
    assert bench.salt["event.fire"]({"a": 1}, "tag") is True
    assert bench.salt["event.fire_master"]({"a": 1}, "tag", preload={"p": 1}) is True
    assert heard == [Fired("tag", {"a": 1}), Fired("tag", {"p": 1, "a": 1})]


def test_what_cannot_be_is_refused_in_words(bench: Bench) -> None:
    assert "needs a mapping" in bench.refusal("send", "tag", data="text")
    assert "cannot be the tag" in bench.refusal("send", " ")
    assert "cannot react" in bench.react("nothing", "tag").comment
    assert "needs a mapping" in bench.react("wait", "tag", data=[1]).comment
