"""Answers of many systems, for scripts and for people."""

from __future__ import annotations

import io
import json
import xml.etree.ElementTree as ET

import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.fleet.view.samples import answered, body, state

from saltern.fleet.view.details import plan_groups
from saltern.fleet.view.formats import FORMATS, write
from saltern.fleet.view.outcomes import Answered, Outcome, outcome
from saltern.report.outputs import OutputOptions

APPLY = "state.apply"


def value(system: str, given: object, function: str = "grains.get") -> Outcome:
    return outcome(function, Answered(system=system, status="returned", body=given, has_body=True))


def written(name: str, function: str, *outcomes: Outcome) -> str:
    out = io.StringIO()
    write(name, function, outcomes, out, OutputOptions())
    return out.getvalue()


def plan(system: str, diff: str, kind: str = "change") -> Outcome:
    row = {
        "path": "motd",
        "tag": "t",
        "kind": kind,
        "function": "file.managed",
        "id": "motd",
        "name": "/etc/motd",
    }
    rows = [{**row, "where": f"/cache/{system}/web.sls:3", "changes": {"diff": diff} if diff else {}}]
    given = {"local": {"asked": {}, "totals": {}, "states": rows}}
    return value(system, given, "saltern.plan")


FAILED = outcome(APPLY, answered("web7", state("nginx", 0, False, "unit not found")))
FINE = outcome(APPLY, answered("web1", state("nginx", 0, changes={"a": 1})))
GONE = outcome(APPLY, Answered(system="web9", status="expired", why="too late"))


def test_json_has_per_system_what_one_machine_prints() -> None:
    found = json.loads(written("json", APPLY, FAILED, FINE, GONE))
    assert list(found) == ["web1", "web7", "web9"]
    assert found["web7"] == body(state("nginx", 0, False, "unit not found"))["local"]
    assert found["web9"] == "expired: too late"


def test_yaml_says_the_same() -> None:
    assert yaml.safe_load(written("yaml", APPLY, FAILED, FINE, GONE)) == json.loads(
        written("json", APPLY, FAILED, FINE, GONE)
    )


def test_highstate_is_printed_for_each_system_as_salt_does() -> None:
    text = written("highstate", APPLY, FAILED, FINE, GONE)
    assert text.index("web1:\n") < text.index("Summary for web1") < text.index("web7:\n")
    assert "     Comment: unit not found" in text
    assert "       Where: web/init.sls:14" in text
    assert "web9:\n    expired: too late" in text


def test_junit_is_one_document() -> None:
    suites = ET.fromstring(written("junit", APPLY, FAILED, FINE, GONE))
    assert [suite.get("name") for suite in suites] == ["web1: web", "web7: web", "web9"]
    assert [len(suite.findall("testcase/failure")) for suite in suites] == [0, 1, 0]
    assert suites[2].find("testcase/error") is not None


def test_equal_values_are_printed_once() -> None:
    text = written("grouped", "grains.get", value("b", "Debian"), value("a", "Debian"), value("c", "RedHat"))
    assert text == "a, b (2 systems):\n    Debian\nc:\n    RedHat\n"


def test_a_value_that_looks_labelled_stays_as_it_is() -> None:
    assert json.loads(written("json", "grains.get", value("a", {"local": 1}))) == {"a": {"local": 1}}


def test_equal_diffs_are_printed_once() -> None:
    text = written("grouped", "saltern.plan", plan("a", "-x\n+y"), plan("b", "-x\n+y"), plan("c", "-x\n+z"))
    assert text.count("+y") == text.count("+z") == 1
    assert "a, b (2 systems):" in text
    assert text.endswith("3 systems: 3 would change\n")


def test_diffs_that_differ_in_the_own_name_are_equal() -> None:
    found = plan_groups([plan(one, f"-\n+I am {one}") for one in ("web1", "web2")])
    assert [group.systems for group in found] == [("web1", "web2")]
    text = written("grouped", "saltern.plan", *(plan(one, f"-\n+I am {one}") for one in ("web1", "web2")))
    assert "(as it is for web1)" in text


def test_a_plan_with_nothing_to_do_is_counted() -> None:
    assert (
        written("grouped", "saltern.plan", plan("a", "", "keep"))
        == "1 unchanged (a)\n1 system: 1 unchanged\n"
    )


def test_a_plan_of_another_version_is_shown_as_data() -> None:
    strange = {"local": {"states": [{"kind": "change", "id": "x", "function": "new.thing"}]}}
    assert "new.thing" in written("grouped", "saltern.plan", value("a", strange, "saltern.plan"))


data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


functions = st.sampled_from([APPLY, "saltern.plan", "saltern.runs", "grains.items"])


@given(st.sampled_from(sorted(FORMATS)), functions, st.lists(data, max_size=4))
def test_any_answer_can_be_written(name: str, function: str, bodies: list[object]) -> None:
    outcomes = [value(f"s{number}", given, function) for number, given in enumerate(bodies)]
    text = written(name, function, *outcomes)
    if name == "json":
        assert len(json.loads(text)) == len(bodies)
    if name == "junit":
        ET.fromstring(text)
