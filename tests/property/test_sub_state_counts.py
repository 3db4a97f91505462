"""Random trees of sub states, odd ones among them: all outputs count the same, and every key is right."""

from __future__ import annotations

import json
import re
import tempfile
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.e2e.command import Place

from saltern.config.settings import Settings
from saltern.journal.report import report_of
from saltern.journal.runs import Runs
from saltern.report.outputs import OutputOptions, write
from saltern.views.run_page import run_data
from saltern.views.run_picture import of_run

THING = '''
"""Several things at a time."""

def many(name, steps=(), changed=False):
    changes = {"it": 1} if changed else {}
    return {"name": name, "result": True, "changes": changes, "comment": "many", "sub_state_run": steps}
'''
MISSING = "missing"
Entry = dict[str, Any]


def _maybe(key: str, values: list[object]) -> st.SearchStrategy[Entry]:
    return st.sampled_from([MISSING, *values]).map(lambda value: {} if value == MISSING else {key: value})


# The names are those of the real states, too: a sub state may be called as it likes.
lows = st.fixed_dictionaries(
    {"name": st.sampled_from(["s0", "s1", "x"]), "__id__": st.sampled_from(["s0", "s1", "x", "x#2"])},
    optional={"state": st.sampled_from(["thing", "disk"]), "fun": st.sampled_from(["many", "present"])},
)
right = st.fixed_dictionaries(
    {
        "low": lows,
        "result": st.sampled_from([True, True, False, None]),
        "changes": st.sampled_from([{}, {"x": 1}]),
        "comment": st.sampled_from(["", "said", ["one", "two"], None]),
    }
)
times = st.tuples(
    _maybe("duration", [None, 0, 0.5, "0.25", -1, "soon"]),
    _maybe("start_time", [None, 1_700_000_000.5, "12:13:14.5", "never"]),
).map(lambda both: {**both[0], **both[1]})
odd = st.builds(
    lambda *parts: {key: value for part in parts for key, value in part.items()},
    right,
    _maybe("result", ["yes", 1, []]),
    _maybe("changes", [[], None, "text"]),
    _maybe("comment", [7, {"a": 1}]),
)
flat = st.one_of(right, right, odd, st.just({}), st.just("text"), st.none())


def _deeper(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    below = st.one_of(st.lists(inner, max_size=3), st.lists(inner, max_size=3), st.just("text"))
    return st.builds(lambda one, when, sub: {**one, **when, "sub_state_run": sub}, right, times, below)


entries = st.recursive(flat, _deeper, max_leaves=8)
trees = st.lists(st.tuples(st.lists(entries, max_size=4), st.booleans()), min_size=1, max_size=3)


def counted(entry: object) -> tuple[int, int, int]:
    """How many results, failures and changes an entry stands for."""
    if not isinstance(entry, dict) or not _is_right(entry):
        return 1, 1, 0
    below = entry.get("sub_state_run", [])
    inner = [counted(one) for one in below] if isinstance(below, list) else [(1, 1, 0)]
    own = (1, int(entry["result"] is False), int(bool(entry["changes"])))
    return tuple(sum(one) for one in zip(own, *inner, strict=True))


def _is_right(entry: Entry) -> bool:
    comment = entry.get("comment", 0)
    lines = comment if isinstance(comment, list) else [comment]
    return (
        isinstance(entry.get("changes"), dict)
        and entry.get("result", "") in (True, False, None)
        and entry.get("result", "").__class__ in (bool, type(None))
        and all(line is None or isinstance(line, str) for line in lines)
    )


class Told:
    """One run, and all that is said of it."""

    def __init__(self, states: list[tuple[list[object], bool]], base: Path) -> None:
        self.ids = [f"s{at}" for at in range(len(states))]
        tree = {
            id_: {"thing.many": [{"steps": steps}, {"changed": changed}]}
            for id_, (steps, changed) in zip(self.ids, states, strict=True)
        }
        self.place = Place(base).write({"_states/thing.py": THING, "main.sls": "#!json\n" + json.dumps(tree)})
        self.ran = self.place.run("apply", "main", "--out", "jsonl")
        self.lines = self.ran.lines()
        (journal,) = [one for one in base.rglob("runs/*") if one.suffix == ".run" and one.is_file()]
        self.runs = Runs(Settings(state_dir=str(journal.parent.parent)))
        self.state = self.runs.state(self.runs.jids()[0])

    def shown(self, out: str) -> str:
        text = StringIO()
        write(report_of(self.state), text, OutputOptions(label="local"), out)
        return text.getvalue()


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(trees)
def test_every_output_counts_the_same(states: list[tuple[list[object], bool]]) -> None:
    parts = [counted(entry) for steps, _ in states for entry in steps]
    total = len(states) + sum(one[0] for one in parts)
    failed = sum(one[1] for one in parts)
    changed = sum(own for _, own in states) + sum(one[2] for one in parts)
    with tempfile.TemporaryDirectory(prefix="saltern-test-") as base:
        told = Told(states, Path(base))
        assert told.ran.code == (2 if failed else 0)
        _check_lines(told, total, failed, changed)
        _check_dictionary(told, total, failed, changed)
        _check_texts(told, total, failed, changed)
        (row,) = told.runs.summaries()
        assert (row.done, row.failed, row.changed) == (total, failed, changed)
        assert row.status == ("failed" if failed else "succeeded")
        _check_views(told, states, total, failed, changed)


def _check_lines(told: Told, total: int, failed: int, changed: int) -> None:
    ended = [line for line in told.lines if line["event"] == "chunk-finished"]
    keys = [line["tag"] for line in ended]
    assert len(keys) == len(set(map(str, keys))) == total
    _check_keys({str(line["tag"]): line["return"] for line in ended}, told.ids)  # type: ignore[misc]
    begun = [line["tag"] for line in told.lines if line["event"] == "chunk-started"]
    assert set(map(str, begun)) <= set(map(str, keys))
    totals: Any = told.lines[-1]["totals"]
    assert (totals["total"], totals["failed"], totals["changed"]) == (total, failed, changed)


def _check_dictionary(told: Told, total: int, failed: int, changed: int) -> None:
    shaped = json.loads(told.shown("json"))["local"]
    assert yaml.safe_load(told.shown("yaml"))["local"] == shaped
    _check_keys(shaped, told.ids)
    assert len(shaped) == total
    assert sum(one["result"] is False for one in shaped.values()) == failed
    assert sum(bool(one["changes"]) for one in shaped.values()) == changed


def _check_keys(shaped: dict[str, Entry], ids: list[str]) -> None:
    """Real states have their own tags; everybody else has a parent, one level up, which is there."""
    real = {key for key, one in shaped.items() if "__parent__" not in one}
    assert real == {f"thing_|-{id_}_|-{id_}_|-many" for id_ in ids}
    for key in shaped.keys() - real:
        parent = shaped[shaped[key]["__parent__"]]
        assert shaped[key]["__depth__"] == parent.get("__depth__", 0) + 1
        assert parent["__run_num__"] < shaped[key]["__run_num__"]


def _check_texts(told: Told, total: int, failed: int, changed: int) -> None:
    suites = ElementTree.fromstring(told.shown("junit"))
    assert len(list(suites.iter("testcase"))) == total
    assert len(list(suites.iter("failure"))) == failed
    text = told.shown("highstate")
    assert re.search(rf"^Succeeded: +{total - failed}\b", text, re.MULTILINE)
    assert re.search(rf"^Failed: +{failed}$", text, re.MULTILINE)
    assert re.search(rf"^Total states run: +{total}$", text, re.MULTILINE)
    if changed:
        assert f"changed={changed}" in text


def _check_views(
    told: Told, states: list[tuple[list[object], bool]], total: int, failed: int, changed: int
) -> None:
    data: Any = run_data(told.state, report_of(told.state))
    totals = data["totals"]
    assert (totals["total"], totals["failed"], totals["changed"]) == (total, failed, changed)
    assert len(data["rows"]) == total
    drawn = {item.title: item.status for item in of_run(told.state).items}
    rows = {row["title"]: row["status"] for row in data["rows"] if row["kind"] == "state"}
    for id_, (steps, own) in zip(told.ids, states, strict=True):
        parts = [counted(entry) for entry in steps]
        if any(one[1] for one in parts):
            expected = {"failed"}
        elif own or any(one[2] for one in parts):
            expected = {"changed", "would"}
        else:
            expected = {"ok", "would"}
        assert drawn[id_] in expected
        assert rows[id_] == drawn[id_]
