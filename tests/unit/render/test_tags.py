"""The tags and global names of state files."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from jinja2 import (
    DictLoader,
    StrictUndefined,
    TemplateNotFound,
    TemplateRuntimeError,
    TemplateSyntaxError,
    UndefinedError,
)
from jinja2.sandbox import SandboxedEnvironment

from saltern.render.filters import LazyFilters, LazyTests
from saltern.render.tags import GLOBALS, Serializer

FILES = {
    "d/x.yaml": "{% set port = 5 %}who: {{ who | default('nobody') }}\nsite: {{ site }}\n",
    "d/x.json": '{"p": {{ 1 + 1 }}}\n',
    "d/x.txt": "text {{ 3 }}\n",
    "d/bad.yaml": "a: [1\n",
    "d/empty.yaml": "",
    "lib.jinja": (
        "{% import_yaml 'd/x.yaml' as conf %}{% load_yaml as own %}k: 1{% endload %}"
        "{% import_text 'd/x.txt' as text %}{% profile as 'p' %}{% set late = 2 %}{% endprofile %}"
    ),
}


def environment() -> SandboxedEnvironment:
    made = SandboxedEnvironment(
        undefined=StrictUndefined,
        extensions=[Serializer],
        loader=DictLoader(FILES),
        keep_trailing_newline=True,
    )
    made.filters = LazyFilters(made.filters)
    made.tests = LazyTests(made.tests)
    made.globals.update(GLOBALS, site="north")
    return made


def render(text: str, **values: Any) -> str:
    return environment().from_string(text).render(**values)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("{% load_yaml as x %}\na: {{ 1 + 1 }}\nb: [c]\n{% endload %}{{ x.a }}{{ x.b }}", "2['c']"),
        ('{% load_json as x %}{"a": [1]}{% endload %}{{ x.a[0] }}', "1"),
        ("{% load_text as x %} hi {{ 1 + 1 }} {% endload %}[{{ x }}]", "[ hi 2 ]"),
        ("{% load_yaml as x %}{% endload %}{{ x }}", "None"),
        ("{% if true %}{% load_yaml as x %}a: 1{% endload %}{% endif %}{{ x.a }}", "1"),
        ("{% for i in [1, 2] %}{% load_yaml as x %}a: {{ i }}{% endload %}{{ x.a }}{% endfor %}", "12"),
        ("{% macro m(v) %}{% load_yaml as x %}a: {{ v }}{% endload %}{{ x.a }}{% endmacro %}{{ m(3) }}", "3"),
        (
            "{% load_yaml as x %}a: 1{% endload %}{% load_yaml as y %}a: 2{% endload %}{{ x.a }}{{ y.a }}",
            "12",
        ),
        ("{% import_yaml 'd/x.yaml' as x %}{{ x.who }} {{ x.site }}", "nobody north"),
        ("{% set who = 'me' %}{% import_yaml 'd/x.yaml' as x %}{{ x.who }}", "nobody"),
        ("{% set who = 'me' %}{% import_yaml 'd/x.yaml' as x with context %}{{ x.who }}", "me"),
        ("{% import_yaml 'd/x.yaml' as x without context %}{{ x.who }}", "nobody"),
        ("{% set n = 'x' %}{% import_json 'd/' ~ n ~ '.json' as x %}{{ x.p }}", "2"),
        ("{% import_text 'd/x.txt' as x %}[{{ x }}]", "[text 3]"),
        ("{% import_yaml 'd/empty.yaml' as x %}{{ x }}", "None"),
        ("{% for i in [1] %}{% import_json 'd/x.json' as x %}{{ x.p }}{% endfor %}", "2"),
        ("{% macro m() %}{% import_json 'd/x.json' as x %}{{ x.p }}{% endmacro %}{{ m() }}", "2"),
        (
            "{% from 'lib.jinja' import conf, own, text, late %}{{ conf.site, own.k, text, late }}",
            "('north', 1, 'text 3', 2)",
        ),
        ("{% import 'lib.jinja' as lib %}{{ lib.conf.who }}{{ lib.own.k }}", "nobody1"),
        ("{% profile as 'x' %}{% set a = 1 %}body{% endprofile %}{{ a }}", "body1"),
    ],
)
def test_a_tag_does_as_in_salt(text: str, printed: str) -> None:
    assert render(text) == printed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "one\n{% load_yaml as x %}\na: 1\na: 2\n{% endload %}",
            r"^load_yaml at line 2: .*\(line 3, column 1 of the block\)",
        ),
        (
            "one\n{% load_json as x %}\n{a\n{% endload %}",
            r"^load_json at line 2: not JSON: .*\(line 2, column 2 of the block\)",
        ),
        (
            "\n\n{% import_yaml 'd/bad.yaml' as x %}",
            r"^not YAML",
        ),
        ("{% import_yaml 5 + 1 as x %}", "import_yaml: the path must be text, not int"),
        ("{{ raise('stop here') }}", "^stop here$"),
    ],
)
def test_a_problem_says_what_and_where(text: str, message: str) -> None:
    with pytest.raises(TemplateRuntimeError, match=message):
        render(text)


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("{% import_yaml 'd/none.yaml' as x %}", TemplateNotFound, "none.yaml"),
        ("{% import_yaml nothing as x %}", UndefinedError, "'nothing' is undefined"),
        ("{% import_yaml 'd/x.yaml' %}", TemplateSyntaxError, "expected token 'as'"),
        ("{% load_yaml x %}{% endload %}", TemplateSyntaxError, "expected token 'as'"),
        ("{% load_yaml as x %}a: 1", TemplateSyntaxError, "'endload'"),
        ("{% profile 'x' %}{% endprofile %}", TemplateSyntaxError, "expected token 'as'"),
    ],
)
def test_a_mistake_in_a_tag_is_one_of_jinja(text: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        render(text)


def test_profile_logs_how_long_it_took(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        render("{% profile as label %}{% endprofile %}", label="slow part")
    assert "template block 'slow part' took 0.0" in caplog.text


def test_the_full_context_is_what_the_template_knows() -> None:
    text = (
        "{% load_yaml as x %}a: 1{% endload %}{{ show_full_context().keys() | reject('in', globals) | list }}"
    )
    known = render(text, given=1, globals=list(environment().globals))
    assert sorted(known.strip("[]").split(", ")) == ["'given'", "'globals'", "'x'"]


def test_odict_keeps_the_order_it_is_given() -> None:
    assert render("{{ odict([('b', 1), ('a', 2)]) }}") == "{'b': 1, 'a': 2}"


def test_compiled_templates_with_our_tags_can_be_kept(tmp_path: Path) -> None:
    from jinja2 import FileSystemBytecodeCache

    for _ in range(2):
        made = environment()
        made.bytecode_cache = FileSystemBytecodeCache(str(tmp_path))
        assert made.get_template("lib.jinja").module.own == {"k": 1}  # type: ignore[attr-defined]
