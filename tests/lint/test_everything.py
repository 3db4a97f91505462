"""All problems of all files and stages are told, each once, and none that only follows from another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from tests import kit
from tests.conformance.cases import Case
from tests.lint.checking import checked, codes, places
from tests.property.test_garbage import files as garbage

from saltern.language.diagnostics import PillarError
from saltern.lint.check import check
from saltern.lint.choices import choose
from saltern.lint.rules import usual

CASES = [
    case
    for path in sorted((Path(__file__).parent.parent / "conformance" / "cases").rglob("*.case"))
    if "errors" in (case := Case(path)).sections and case.options.keys().isdisjoint({"id", "sls", "template"})
]


def test_problems_of_several_files_and_stages_are_reported_together() -> None:
    found = checked(
        {
            "broken.sls": "a: [\n",
            "undefined.sls": "a: {{ gone }}\n",
            "shape.sls": "b:\n  test.nop:\n",
            "requisite.sls": "c:\n  test.nop:\n    - require:\n      - test: gone\n    - retry: soon\n",
            "cycle.sls": "d:\n  test.nop:\n    - require:\n      - test: d\n    - mood: bad\n",
            "fine.sls": "e:\n  test.nop: []\n",
        }
    )
    assert places(found) == [
        "broken.sls:1 yaml-syntax",
        "cycle.sls:4 requisite-cycle",
        "requisite.sls:4 requisite-unknown",
        "requisite.sls:5 keyword-shape",
        "shape.sls:2 short-form-colon",
        "undefined.sls:1 template-undefined",
    ]
    assert found.files == 6


def test_what_follows_from_a_broken_file_is_not_told() -> None:
    tree = {
        "main.sls": "include: [broken]\na:\n  test.nop:\n    - require:\n      - test: b\n",
        "broken.sls": "b: [\n",
    }
    assert codes(tree) == ["yaml-syntax"]


def test_a_file_that_is_part_of_several_runs_is_reported_once() -> None:
    tree = {
        "top.sls": "base:\n  '*': [one, two]\n  'other': [two]\n",
        "one.sls": "include: [shared]\n",
        "two.sls": "include: [shared]\n",
        "shared.sls": "a:\n  test.nop:\n    - require:\n      - test: gone\n",
    }
    assert codes(tree) == ["requisite-unknown"]


def test_every_target_of_the_top_file_is_compiled_whoever_it_matches() -> None:
    tree = {
        "top.sls": "base:\n  'nobody': [one, two]\n",
        "one.sls": "a:\n  test.nop: []\n",
        "two.sls": "a:\n  test.nop: []\n",
    }
    assert codes(tree) == ["id-conflict"]
    assert codes({**tree, "top.sls": "base:\n  'x': [one]\n  'y': [two]\n"}) == []


def test_a_missing_file_of_the_top_file_is_reported_at_its_line() -> None:
    found = checked({"top.sls": "base:\n  'nobody':\n    - gone\n", "main.sls": "a:\n  test.nop: []\n"})
    assert places(found) == ["top.sls:3 sls-not-found"]


def test_an_unknown_target_that_another_file_declares_is_reported_with_that_file() -> None:
    tree = {
        "main.sls": "a:\n  test.nop:\n    - require:\n      - test: b\n",
        "other.sls": "x:\n  test.nop: []\n\nb:\n  test.nop: []\n",
    }
    (problem,) = checked(tree).problems
    assert problem.fix == "it is declared in 'other' (other.sls:4): include that file"


def test_grains_and_pillar_that_are_given_count() -> None:
    text = "{{ pillar['name'] }}-{{ grains['kind'] }}:\n  test.nop:\n    - require:\n      - test: c\n"
    found = checked({"main.sls": text}, pillar={"name": "a"}, grains={"kind": "b"})
    assert [one.what for one in found.problems] == [
        "'require' of 'a-b' names test 'c', which no SLS of this run declares"
    ]


def test_a_pillar_that_does_not_compile_ends_the_check() -> None:
    with pytest.raises(PillarError):
        checked({"main.sls": "", "pillar/top.sls": "base:\n  '*': [gone]\n"})


# -- what is rendered later ---------------------------------------------------------------------------


def test_a_file_that_asks_for_a_return_is_only_read() -> None:
    tree = {
        "main.sls": "a:\n  test.nop:\n    - delayed_render:\n      - sls: later\n",
        "later.sls": "b:\n  test.nop:\n    - comment: {{ prev_ret.data.gone.too | tojson }}\n",
    }
    assert codes(tree) == []
    assert codes({**tree, "later.sls": "{% if prev_ret %}\n"}) == ["template-syntax"]


def test_a_tag_of_a_delayed_file_that_has_no_effect_hides_no_mistake() -> None:
    assert codes({"a.sls": "x:\n  test.nop: []\n#!delayed_sls\n@later\n"}) == ["yaml-syntax"]


def test_a_file_that_gets_its_names_from_an_entry_is_rendered_with_them() -> None:
    tree = {
        "main.sls": "a:\n  test.nop:\n    - delayed_render:\n      - {sls: later, context: {zone: x}}\n",
        "later.sls": "{{ zone }}:\n  test.nop:\n    - require:\n      - test: gone\n",
    }
    assert codes(tree) == ["requisite-unknown"]


def test_a_block_that_asks_for_nothing_is_compiled_at_its_place() -> None:
    text = (
        "a:\n  test.nop:\n    - delayed_render:\n      - block: after\n"
        "#!delayed_block after\nb:\n  alias.present:\n    - mood: bad\n#!end_delayed_block\n"
    )
    assert places(checked({"main.sls": text})) == [
        "main.sls:7 argument-missing",
        "main.sls:8 argument-unknown",
    ]


def test_a_block_that_asks_the_machine_is_only_read() -> None:
    text = (
        "a:\n  test.nop:\n    - delayed_render:\n      - block: after\n"
        "#!delayed_block after\nb:\n  test.nop:\n    - comment: {{ salt['file.read']('/gone') }}\n"
        "#!end_delayed_block\n"
    )
    assert codes({"main.sls": text}) == []
    assert codes({"main.sls": text.replace("') }}", "' }}")}) == ["template-syntax"]


def test_blocks_that_nest_and_call_themselves_are_looked_at_once() -> None:
    text = (
        "a:\n  test.nop:\n    - delayed_render:\n      - block: again\n"
        "#!delayed_block again delayed_repeat_limit=None\nb:\n  test.nop:\n    - delayed_render:\n"
        "      - block: again\n      - block: inner\n"
        "#!delayed_block inner\nc:\n  test.nop:\n    - delayed_render:\n      - block: gone\n"
        "#!end_delayed_block\n#!end_delayed_block\n"
    )
    assert places(checked({"main.sls": text})) == ["main.sls:15 delayed-unknown"]


def test_a_file_with_broken_tags_is_reported_by_them() -> None:
    text = "a:\n  test.nop: []\n#!delayed_block x\n{{ prev_ret | tojson }}\n"
    assert codes({"main.sls": text}) == ["delayed-no-end"]


def test_a_python_file_with_blocks_is_run_as_far_as_they_are_not() -> None:
    text = (
        "#!py\n@delayed_block('after')\ndef after(prev_ret):\n    return prev_ret['gone']\n"
        "def run():\n    return {'a': {'test.nop': [{'delayed_render': [{'block': 'aftr'}]}]}}\n"
    )
    assert codes({"main.sls": text}) == ["delayed-unknown"]
    assert codes({"main.sls": text.replace("aftr", "after")}) == []


# -- in general ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.path.stem)
def test_what_keeps_a_run_from_beginning_is_found_by_a_check(case: Case) -> None:
    given = {name: case.data(name) for name in ("config", "grains", "pillar")}
    with kit.tree(case.files, **given) as made:
        wanted = kit.attempt(made, kit.request_for(case.files, case.options))
        session = made.session()
        try:
            found = {one.code for one in check(session, [], choose({}, [], [])).problems}
        except PillarError as problem:
            found = {one.code for one in problem.diagnostics}
    tabs = {"yaml-syntax"} if "tab-indent" in found else set()
    assert {one.code for one in wanted.problems} - tabs <= found


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(garbage, garbage)
def test_whatever_the_files_hold_a_check_comes_to_its_end(main: object, other: object) -> None:
    tree = {"main.sls": json.dumps(main), "other.sls": json.dumps(other), "top.sls": "base: {'*': ['o*']}\n"}
    with kit.tree(tree) as made:
        found = check(made.session(), [], usual()).problems
        wrong = {problem.code for problem in kit.attempt(made, kit.request_for({"main.sls": ""})).problems}
    assert bool(wrong) <= any(one.severity.value == "error" for one in found)
