"""``check`` opens the templates that states name."""

from __future__ import annotations

import pytest
from tests.lint.checking import checked, places

STATE = "/x:\n  file.managed:\n    - source: salt://t.j2\n    - template: jinja\n"


def found(text: str, more: str = "", **options: object) -> list[str]:
    files = {"main.sls": STATE + more, "t.j2": text}
    return places(checked(files, **options))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "more", "expected"),
    [
        ("a\n{% if x %}\n", "", ["t.j2:2 source-template"]),
        ("a\nb {{ missing.thing }}\n", "", ["t.j2:2 source-template"]),
        ("{{ port }}\n", "", ["t.j2:1 source-template"]),
        ("{{ port }}\n", "    - context:\n        port: 1\n", []),
        ("{{ port }}\n", "    - defaults:\n        port: 1\n", []),
        ("{{ name }} {{ mode }}\n", "", []),
        ("{{ pillar['gone'] }}\n", "", ["t.j2:1 source-template"]),
        ("{{ 1 | no_such_filter }}\n", "", ["t.j2:1 source-template"]),
        ("#!/bin/sh\necho {{ salt['test.echo']('x') }} {% if %}\n", "", ["t.j2:2 source-template"]),
    ],
)
def test_a_mistake_is_reported_where_it_stands(text: str, more: str, expected: list[str]) -> None:
    assert found(text, more) == expected


@pytest.mark.parametrize(
    "text",
    ["{{ salt['user.info']('ada').home }}\n", "{{ accumulator['lines'] | join }}\n"],
)
def test_what_the_run_brings_is_not_guessed(text: str) -> None:
    assert found(text) == []


def test_python_is_never_run() -> None:
    files = {
        "main.sls": STATE.replace("jinja", "py"),
        "t.j2": "raise RuntimeError('it ran')\n",
    }
    assert places(checked(files)) == []


def test_a_file_that_is_no_text_is_left_alone() -> None:
    assert found("\udcff".encode("utf-8", "surrogateescape").decode("latin-1")) == []


def test_the_state_that_renders_it_is_named() -> None:
    (problem,) = checked({"main.sls": STATE, "t.j2": "{{ gone }}\n"}).problems
    assert [(note, mark.line) for note, mark in problem.also] == [("rendered by file.managed '/x'", 3)]


@pytest.mark.parametrize(
    "state",
    [
        "/x:\n  file.recurse:\n    - source: salt://t\n    - template: jinja\n",
        "x:\n  cron.file:\n    - name: salt://t/a.j2\n    - template: jinja\n",
        "x:\n  cmd.script:\n    - source: salt://t/a.j2\n    - template: jinja\n    - creates: /x\n",
        "x:\n  cmd.script:\n    - name: salt://t/a.j2\n    - template: jinja\n    - creates: /x\n",
        "x:\n  debconf.set_file:\n    - source: salt://t/a.j2\n    - template: jinja\n",
    ],
)
def test_templates_of_other_states_and_of_whole_directories_are_opened(state: str) -> None:
    assert places(checked({"main.sls": state, "t/a.j2": "\n{{ gone }}\n"})) == ["t/a.j2:2 source-template"]


@pytest.mark.parametrize("what", ["source: salt://t.j2", "contents: x"])
def test_an_engine_that_does_not_exist_is_reported_where_it_is_named(what: str) -> None:
    state = f"/x:\n  file.managed:\n    - {what}\n    - template: jinja2\n"
    outcome = checked({"main.sls": state, "t.j2": "x\n"})
    assert places(outcome) == ["main.sls:4 source-template"]
    assert outcome.problems[0].fix == "did you mean 'jinja'?"


def test_it_can_be_switched_off() -> None:
    files = {"main.sls": STATE, "t.j2": "{{ gone }}\n"}
    assert places(checked(files, ignore=["source-template"])) == []
