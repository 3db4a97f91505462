"""Runs that are named ``last``, habits of Salt's command line, outputs that cannot be written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.command import SALTERN, Place

STATES = {
    "web.sls": "a:\n  test.nop: []\nb:\n  test.fail_without_changes: []\n",
}


@pytest.fixture
def site(place: Place) -> Place:
    place.write(STATES)
    assert place.run("apply", "web").code == 2
    return place


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["show", "run", "last"], 0),
        (["report", "last"], 0),
        (["report", "last", "--html"], 0),
        (["graph", "--run", "last", "--format", "dot"], 0),
        (["apply", "--failed-from", "last"], 2),
        (["resume", "last"], 0),
    ],
)
def test_last_names_a_run_everywhere(site: Place, words: list[str], code: int) -> None:
    done = site.run(*words)
    assert done.code == code, done.err
    assert "'last'" not in done.err


@pytest.mark.parametrize(
    "words", [["show", "run"], ["show", "run", "last"], ["report"], ["graph", "--run", "last"]]
)
def test_without_any_run_that_is_said(place: Place, words: list[str]) -> None:
    done = place.run(*words)
    assert done.code == 1
    assert "there are no runs yet [runs-none]" in done.err


def test_show_run_takes_the_options_of_a_report(site: Place) -> None:
    assert (
        " Name: b - Function: test.fail_without_changes - Result: Failed"
        in site.run("show", "run", "--state-output", "terse").out
    )
    assert "ID: a" not in site.run("show", "run", "--state-output=changes").out
    assert site.run("show", "run", "last", "--sub-states", "count", "--expand").code == 0


@pytest.mark.parametrize("command", ["apply", "plan", "graph"])
@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("test=True", "write --test"),
        ("pillar={}", "write --pillar"),
        ("saltenv=x", "write --saltenv ENV"),
        ("mods=a,b", "name the SLS as words"),
        ("queue=True", "write --queue SECONDS"),
        ("nonsense=1", "options begin with two dashes"),
    ],
)
def test_keywords_of_salt_call_say_what_to_write(place: Place, command: str, word: str, hint: str) -> None:
    done = place.write(STATES).run(command, "web", word)
    assert done.code == 1
    assert repr(word) in done.err
    assert hint in done.err
    assert done.out == ""


def test_all_keywords_are_reported_at_once(place: Place) -> None:
    done = place.write(STATES).run("apply", "web", "test=True", "pillar={}")
    assert "--test" in done.err
    assert "--pillar" in done.err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["apply", "--local"], "saltern always works on this machine"),
        (["apply", "web", "--retcode-passthrough"], "leave it out"),
        (["apply", "web", "-c", "/etc/salt"], "write --config FILE"),
        (["apply", "web", "--out-indent=4"], "leave it out"),
        (["state.apply", "web"], "write 'saltern apply'"),
        (["grains.items"], "write 'saltern show grains'"),
        (["test.ping"], "write 'saltern call test.ping'"),
        (["*", "state.apply"], "leave the target out"),
    ],
)
def test_other_habits_say_what_to_write(place: Place, words: list[str], hint: str) -> None:
    done = place.write(STATES).run(*words)
    assert done.code == 1
    assert hint in done.err


def test_names_with_an_equals_sign_of_single_and_call_are_left_alone(place: Place) -> None:
    assert place.run("call", "test.echo", "text=test=True").code == 0
    assert place.run("single", "test.nop", "name=a", "test=x").code == 0


# -- pictures ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["x.png", "x.PNG", "x.pdf", "x.jpeg"])
def test_a_picture_of_another_format_says_which_there_are(site: Place, name: str) -> None:
    done = site.run("graph", "web", "-o", name)
    assert done.code == 1
    assert "a graph is html, svg, dot, mermaid [graph-format]" in done.err
    assert f"rsvg-convert FILE.svg -o FILE{Path(name).suffix.lower()}" in done.err
    assert not (site.base / name).exists()


def test_a_format_that_is_named_may_go_into_any_file(site: Place) -> None:
    assert site.run("graph", "web", "--format", "svg", "-o", "x.foo").code == 0
    assert site.run("graph", "web", "-o", "plain").code == 0


# -- surroundings --------------------------------------------------------------------------------------


def ended(place: Place, *words: str, where: str | None = None, **files: object) -> tuple[int, str]:
    """The real program: what it leaves behind at its very end counts."""
    done = subprocess.run(
        [*SALTERN, *words],
        cwd=where or place.base,
        env={**os.environ, "SALTERN_STATE_DIR": str(place.base / "kept"), "TMPDIR": str(place.base)},
        check=False,
        text=True,
        stderr=files.pop("stderr", subprocess.PIPE),  # type: ignore[call-overload]
        **files,
    )
    return done.returncode, done.stderr or ""


def no_crash(place: Place) -> bool:
    return not list(place.base.glob("saltern-crash-*"))


@pytest.mark.parametrize(
    "words",
    [
        ["apply", "web"],
        ["apply", "web", "--out", "json"],
        ["apply", "web", "--out", "jsonl"],
        ["runs"],
        ["show", "grains"],
        ["show", "order", "web"],
        ["graph", "web"],
        ["check", "web"],
        ["docs", "test"],
        ["call", "test.ping"],
        ["--help"],
        ["apply", "--help"],
        ["--version"],
    ],
)
def test_an_output_that_is_full_is_no_mistake_of_ours(place: Place, words: list[str]) -> None:
    place.write(STATES)
    if words[0] in ("apply", "show", "graph", "check") and "--help" not in words:
        words = [*words, "--file-root", str(place.base / "states")]
    with open("/dev/full", "w", encoding="utf-8") as full:
        code, told = ended(place, *words, stdout=full)
    assert code == 1, told
    assert "the output cannot be written: No space left on device" in told
    assert "bug in saltern" not in told
    assert "Traceback" not in told
    assert no_crash(place)


def test_both_outputs_may_be_full(place: Place) -> None:
    place.write(STATES)
    with open("/dev/full", "w", encoding="utf-8") as full:
        code, _ = ended(place, "apply", "nothing", stdout=full, stderr=full)
    assert code == 1
    assert no_crash(place)


@pytest.mark.parametrize("option", ["--log-level", "-l"])
def test_an_option_before_the_command_is_reported_as_that(place: Place, option: str) -> None:
    done = place.run(option, "debug", "check")
    assert (done.code, done.err.splitlines()[0]) == (
        1,
        f"saltern: {option!r} stands before the command: write saltern COMMAND {option}",
    )


@pytest.mark.parametrize("words", [["apply", "web"], ["check"], ["runs"], ["show", "top"], ["--help"]])
def test_a_current_directory_that_is_gone_is_no_mistake_of_ours(place: Place, words: list[str]) -> None:
    place.write(STATES)
    gone = place.base / "gone"
    gone.mkdir()
    line = " ".join([f'"{sys.executable}"', "-m", "saltern", *words])
    code, told = subprocess.getstatusoutput(f"cd {gone} && rmdir {gone} && TMPDIR={place.base} {line}")
    assert code in (0, 1, 3), told
    assert "bug in saltern" not in told
    assert "Traceback" not in told
    if code == 1 and "apply" in words:
        assert "the current directory does not exist any more: change to another one" in told
    assert no_crash(place)
