"""``ini``: options and sections change, comments and order stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.modules.functions import ini as functions
from saltern.modules.lib.ini.text import IniText
from saltern.modules.states.ini.options import options_absent, options_present
from saltern.modules.states.ini.sections import sections_absent, sections_present

if TYPE_CHECKING:
    from tests.modules.file.conftest import Desk

TEXT = """\
# about
top = 1

[main]
; the port
port = 80
name=app
long = first
    second

[other]
flag
x = y
"""


def test_options_change_in_place_and_the_rest_stays(desk: Desk) -> None:
    path = desk.put("f.ini", TEXT)
    result = desk.change(
        options_present,
        path,
        sections={"main": {"port": 8080, "name": "app", "new": True}, "top": 2, "fresh": {"a": None}},
    )
    assert result.changes == {
        "main": {"port": {"before": "80", "after": "8080"}, "new": {"before": None, "after": "True"}},
        "top": {"before": "1", "after": "2"},
        "fresh": {"before": None, "after": {"a": ""}},
    }
    expected = TEXT.replace("port = 80", "port = 8080").replace("top = 1", "top = 2")
    expected = expected.replace("    second\n", "    second\nnew = True\n") + "\n[fresh]\na =\n"
    assert desk.text("f.ini") == expected
    assert result.data == {"path": path, "sections": ["main", "other", "fresh"]}


def test_a_missing_file_is_made(desk: Desk) -> None:
    desk.change(options_present, desk.at("new.ini"), sections={"a": {"b": "c"}})
    assert desk.text("new.ini") == "[a]\nb = c\n"
    assert "Parent directory" in desk.refusal(options_present, desk.at("x/n.ini"), sections={"a": {"b": 1}})


def test_strict_removes_all_other_options_and_sections(desk: Desk) -> None:
    path = desk.put("f.ini", TEXT)
    result = desk.change(options_present, path, sections={"other": {"x": "y"}}, strict=True)
    assert result.changes == {
        "top": {"before": "1", "after": None},
        "main": {"before": {"port": "80", "name": "app", "long": "first\nsecond"}, "after": None},
        "other": {"flag": {"before": "", "after": None}},
    }
    assert desk.text("f.ini") == "# about\n\n[other]\nx = y\n"


def test_other_separators_and_tight_writing(desk: Desk) -> None:
    path = desk.put("f.ini", "[a]\nx: 1\n")
    desk.change(options_present, path, sections={"a": {"x": 2, "y": 3}}, separator=":", no_spaces=True)
    assert desk.text("f.ini") == "[a]\nx:2\ny:3\n"


def test_options_and_sections_go(desk: Desk) -> None:
    path = desk.put("f.ini", TEXT)
    result = desk.change(options_absent, path, sections={"main": ["long", "none"], "top": None})
    assert result.changes == {"main": {"long": "first\nsecond"}, "top": "1"}
    result = desk.change(sections_absent, path, sections=["other", "none"])
    assert result.changes == {"other": {"flag": "", "x": "y"}}
    assert desk.text("f.ini") == "# about\n\n[main]\n; the port\nport = 80\nname=app\n\n"
    desk.same(options_absent, desk.at("none.ini"), sections={"a": ["b"]})
    desk.same(sections_absent, desk.at("none.ini"), sections=["a"])


def test_sections_come(desk: Desk) -> None:
    path = desk.put("f.ini", "[a]\nx = 1")
    result = desk.change(sections_present, path, sections=["a", "b"])
    assert result.changes == {"b": {"before": None, "after": {}}}
    assert desk.text("f.ini") == "[a]\nx = 1\n\n[b]\n"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({}, "'sections' is missing"),
        ({"sections": {"a": {"b": ["c"]}}}, "one value"),
        ({"sections": {"a": {"b": "c"}}, "separator": ""}, "separator"),
        ({"sections": {"a": {"b": "c"}}, "encoding": "nonsense"}, "no encoding"),
    ],
)
def test_bad_input_is_reported_plainly(desk: Desk, args: dict[str, object], words: str) -> None:
    assert words in desk.refusal(options_present, desk.put("f.ini"), **args)


def test_bad_paths_and_lists_are_reported_plainly(desk: Desk) -> None:
    assert "absolute" in desk.refusal(options_present, "f.ini", sections={"a": {"b": "c"}})
    assert "list of names" in desk.refusal(sections_present, desk.put("f.ini"), sections=5)
    assert "list of options" in desk.refusal(options_absent, desk.put("f.ini"), sections={"a": 5})


def test_functions_read_and_write(desk: Desk) -> None:
    ctx, path = desk.context(), desk.put("f.ini", TEXT)
    assert functions.get_option(ctx, path, "main", "port") == "80"
    assert functions.get_section(ctx, path, "other") == {"flag": "", "x": "y"}
    assert list(functions.get_ini(ctx, path)) == ["", "main", "other"]
    assert functions.set_option(ctx, path, {"main": {"port": 81}}) == {
        "main": {"port": {"before": "80", "after": "81"}}
    }
    assert functions.remove_option(ctx, path, "main", "port") == "81"
    assert functions.remove_section(ctx, path, "main") == {"name": "app", "long": "first\nsecond"}
    assert functions.get_ini(ctx, desk.at("none")) == {}


words = st.text("abcxyz", min_size=1, max_size=4)
texts = st.lists(
    st.one_of(words.map("[{}]".format), st.tuples(words, words).map(" = ".join), st.just("# c"), st.just("")),
    max_size=8,
).map(lambda rows: "".join(f"{row}\n" for row in rows))


@given(texts, words, words, words)
def test_what_was_set_is_read_and_nothing_else_changes(
    text: str, section: str, option: str, value: str
) -> None:
    ini = IniText(text)
    before = {name: ini.options(name) for name in ("", *ini.sections())}
    ini.set(section, option, value)
    after = IniText(str(ini))
    assert after.options(section)[option] == value
    before.setdefault(section, {})[option] = value
    assert {name: after.options(name) for name in ("", *after.sections())} == before


@given(texts)
def test_text_that_is_not_changed_stays_the_same(text: str) -> None:
    assert str(IniText(text)) == text
