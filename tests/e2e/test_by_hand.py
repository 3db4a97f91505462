"""What is typed by hand: one state, one function, one file, and what they leave behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import kit
from tests.e2e.command import Place

from saltern.cli.single import main as run_single
from saltern.engine.single import single
from saltern.language.diagnostics import CompileError
from saltern.language.requisites import REQUISITE_WORDS
from saltern.language.result import Outcome


def test_single_takes_conditions_and_requisites_and_names() -> None:
    with kit.tree({}) as made:
        skipped = single(made.session(), "test.succeed_with_changes", "a", {"onlyif": "false"})
        assert not skipped.answers[0].result.changed
        report = single(
            made.session(),
            "test.succeed_with_changes",
            "a",
            {"require": [{"test": "nobody"}], "names": ["one", "two"], "order": "last", "check_cmd": "false"},
        )
    assert [one.chunk.name for one in report.answers] == ["one", "two"]
    assert {one.result.outcome for one in report.answers} == {Outcome.FAILED}


@given(st.sets(st.sampled_from(sorted(REQUISITE_WORDS)), min_size=1, max_size=4))
def test_single_reports_every_requisite(words: set[str]) -> None:
    with kit.tree({}) as made:
        report = single(made.session(), "test.nop", "a", {word: [{"test": "b"}] for word in words})
    (told,) = report.warnings
    assert told.code == "single-requisite"
    assert all(word in told.what for word in words)
    assert [one.result.outcome for one in report.answers] == [Outcome.OK]


def test_single_reports_nothing_without_requisites() -> None:
    with kit.tree({}) as made:
        assert single(made.session(), "test.nop", "a", {"onlyif": "true", "order": 3}).warnings == []


def test_the_command_shows_what_is_reported(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_single(["test.nop", "x", "require=[{test: y}]", "--file-root", "/nonexistent-root"]) == 0
    shown = capfd.readouterr()
    assert "[single-requisite]" in shown.err
    assert "Succeeded: 1" in shown.out


def test_single_refuses_words_of_the_wrong_shape() -> None:
    with kit.tree({}) as made, pytest.raises(CompileError) as problem:
        single(made.session(), "test.nop", "a", {"retry": {"attemps": 2}})
    assert problem.value.diagnostics[0].code == "keyword-shape"


def test_single_takes_files_of_the_saltenv_that_is_named(tmp_path: Path) -> None:
    files = {"base.txt": "", "dev=only.txt": "of dev\n"}
    target = tmp_path / "made"
    with kit.tree(files) as made:
        report = single(made.session(), "file.managed", str(target), {"source": "salt://only.txt"}, "dev")
        assert report.answers[0].result.outcome is Outcome.OK
        assert target.read_text() == "of dev\n"
        asks = {"contents": "{{ opts.saltenv }}", "template": "jinja"}
        single(made.session(), "file.managed", str(target), asks, "dev")
        assert target.read_text() == "dev\n"
        single(made.session(), "file.managed", str(target), {**asks, "saltenv": "base"})
        assert target.read_text() == "base\n"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_missing_pillar_key_is_no_missing_function(place: Place) -> None:
    place.write({"etc/saltern.yaml": "pillar_raise_on_missing: true\npillarenv_from_saltenv: true\n"})
    done = place.run("call", "pillar.get", "gone", "--config", str(place.base / "etc/saltern.yaml"))
    assert "[function-failed]" in done.err
    assert "Pillar key not found: gone" in done.err
    assert "unused-configuration" not in done.err
    assert "[function-unknown]" in place.run("call", "pillar.got", "gone").err
    place.write({"asks.sls": "x:\n  test.nop:\n    - text: {{ salt['pillar.get']('gone') }}\n"})
    asked = place.run("apply", "asks", "--config", str(place.base / "etc/saltern.yaml"))
    assert "asks.sls:3: Pillar key not found: gone (KeyError) [template-failed]" in asked.err


def test_a_function_that_refuses_says_only_why(place: Place) -> None:
    done = place.run("call", "x509.read_certificate", "mine.crt")
    assert done.err.startswith(
        "x509.read_certificate failed: certificate: certificate must be the absolute path"
    )


def test_what_data_keeps_outlives_the_run(place: Place) -> None:
    assert place.run("call", "data.update", "port", "8080").code == 0
    assert "8080" in place.run("call", "data.get", "port").out
    assert "8080" in place.run("call", "data.pop", "port").out
    assert "8080" not in place.run("call", "data.get", "port").out


def test_render_of_a_path_knows_its_place_in_the_tree(place: Place) -> None:
    text = "{{ tpldir }} {{ tplfile }} {{ sls }} {{ slspath }} {{ tpldot }}\n"
    place.write({"web/sub/init.sls": text})
    wanted = "web/sub web/sub/init.sls web.sub web/sub web.sub\n"
    for name in (str(place.states / "web/sub/init.sls"), "salt://web/sub/init.sls"):
        assert place.run("render", "--text", name).out == wanted


@pytest.mark.parametrize("header", ["{trim_blocks: true}", "[1]", '{"trim_blocks": true'])
def test_a_wrong_header_of_a_template_is_reported(header: str) -> None:
    (problem,) = kit.errors({"main.sls": f"#jinja2: {header}\na:\n  test.nop:\n    - x: {{{{ 1 }}}}\n"})
    assert problem.startswith("main.sls:1: ")
    assert "[template-header]" in problem


def test_pillar_comes_in_the_order_of_the_environments() -> None:
    files = {
        "main.sls": "x:\n  test.nop:\n    - text: {{ pillar['who'] }}\n",
        "pillar/base=top.sls": "base: {'*': [p]}\n",
        "pillar/base=p.sls": "who: base\n",
        "pillar/dev=top.sls": "dev: {'*': [p]}\n",
        "pillar/dev=p.sls": "who: dev\n",
    }
    for order in (["base", "dev"], ["dev", "base"]):
        config = {"env_order": order}
        assert kit.low(files, config=config, request={"sls": ["main"]})[0]["text"] == order[-1]
