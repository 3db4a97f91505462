"""A module that fails by a mistake of its own: where, is kept and shown; of a hidden state, nothing is."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.e2e.command import Place

OWN = """
from salt.exceptions import CommandExecutionError

def crashing(name, depth=0, word=""):
    if depth:
        return crashing(name, depth - 1, word)
    return {}[word or name]

def wrong(name):
    return int("x" + name)

def chained(name):
    try:
        wrong(name)
    except ValueError as problem:
        raise RuntimeError("on the way") from problem

def refused(name):
    raise CommandExecutionError("no, thank you")

def leaving(name):
    raise SystemExit(3)
"""
SECRET = "sw0rdf1sh"


def _applied(place: Place, sls: str, *words: str) -> str:
    place.write({"_states/own.py": OWN, "main.sls": sls})
    done = place.run("apply", "main", *words)
    assert done.code == 2, done.err
    return done.err


def _shown(place: Place, *words: str) -> str:
    done = place.run("show", "run", *words)
    assert done.code == 0, done.err
    return done.out


@pytest.mark.parametrize("parallel", ["False", "True"])
@pytest.mark.parametrize(
    ("fun", "said"),
    [
        ("crashing", ["in crashing", "return {}[word or name]", "KeyError: 'one'"]),
        ("wrong", ["in wrong", 'return int("x" + name)', "ValueError: "]),
        ("chained", ["direct cause of the following exception", "RuntimeError: on the way"]),
        ("leaving", ["raise SystemExit(3)", "SystemExit: 3"]),
    ],
)
def test_where_it_failed_is_in_the_journal_and_in_the_log(
    place: Place, fun: str, said: list[str], parallel: str
) -> None:
    log = _applied(place, f"one: {{own.{fun}: [{{parallel: {parallel}}}]}}", "--debug")
    shown = _shown(place)
    assert "Traceback: Traceback (most recent call last):" in shown
    for words in said:
        assert words in shown and words in log
    assert "attempt.py" not in shown, "what is ours is not where it failed"


def test_it_is_no_part_of_the_report_and_not_logged_unless_asked(place: Place) -> None:
    place.write({"_states/own.py": OWN, "main.sls": "one: own.crashing"})
    for form in ("highstate", "json", "yaml", "jsonl", "tree", "junit", "nested", "pprint"):
        done = place.run("apply", "main", "-v", "--out", form)
        assert "Traceback" not in done.out + done.err


def test_what_a_module_says_on_purpose_has_no_traceback(place: Place) -> None:
    _applied(place, "one: own.refused\ntwo: {file.managed: [{name: not/absolute}]}")
    assert "Traceback" not in _shown(place)


def test_a_deep_one_keeps_its_innermost_frames(place: Place) -> None:
    _applied(place, "one: {own.crashing: [{depth: 400}]}")
    shown = _shown(place)
    assert shown.count("in crashing") <= 30 and "KeyError: 'one'" in shown


@pytest.mark.parametrize(
    "more", ["", ", {register: it}", ", {delayed_render: [{block: after, when: always}]}"]
)
def test_a_hidden_state_keeps_none(place: Place, more: str) -> None:
    block = "#!delayed_block after\nlast: test.nop\n#!end_delayed_block\n" if "delayed" in more else ""
    sls = f"one: {{own.crashing: [{{word: {SECRET}}}, {{no_log: true}}{more}]}}\n{block}"
    log = _applied(place, sls, "--debug")
    assert SECRET not in log and SECRET not in _shown(place) and "Traceback" not in _shown(place)
    assert SECRET not in _kept(place.base / "runs")


def _kept(folder: Path) -> str:
    """Every byte of the state directory."""
    return "".join(one.read_bytes().decode("latin-1") for one in folder.rglob("*") if one.is_file())


def test_a_password_in_an_address_is_masked(place: Place) -> None:
    _applied(place, "one: {own.crashing: [{word: 'https://joe:sw0rdf1sh@host/x'}]}")
    assert SECRET not in _shown(place) and "KeyError" in _shown(place)
