"""``check`` opens the templates that file states name."""

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


def test_it_can_be_switched_off() -> None:
    files = {"main.sls": STATE, "t.j2": "{{ gone }}\n"}
    assert places(checked(files, ignore=["source-template"])) == []
