"""States that change a part of a file."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest

from saltern.language.result import Outcome
from saltern.modules.states.file.accumulated import accumulated
from saltern.modules.states.file.append import append, prepend
from saltern.modules.states.file.blocks import blockreplace
from saltern.modules.states.file.comment import comment, uncomment
from saltern.modules.states.file.keyvalue import keyvalue
from saltern.modules.states.file.line import line
from saltern.modules.states.file.replace import replace

if TYPE_CHECKING:
    from tests.modules.file.conftest import Desk

BLOCK = "#-- start managed zone --\n{}\n#-- end managed zone --\n"


@pytest.mark.parametrize(
    ("old", "text", "new"),
    [
        ("start\n", "added", "start\nadded\n"),
        ("no newline", "added", "no newline\nadded\n"),
        ("have\n", ["one", "have", "two"], "have\none\ntwo\n"),
        ("foobar\n", "foo", "foobar\nfoo\n"),
        ("x\ny\n", ["x\nz", "q"], "x\ny\nx\nz\nq\n"),
        ("1\n", "a\n\nb", "1\na\n\nb\n"),
        ("1\n", 5, "1\n5\n"),
        ("a\n", "b\n\n", "a\nb\n\n"),
    ],
)
def test_append_adds_what_is_missing(desk: Desk, old: str, text: object, new: str) -> None:
    desk.put("f", old, mode=0o640)
    desk.change(append, desk.at("f"), text=text)
    assert (desk.text("f"), desk.mode("f")) == (new, 0o640)


def test_append_ignores_white_space_unless_told(desk: Desk) -> None:
    desk.put("f", "  a   b\n")
    desk.same(append, desk.at("f"), text="a b")
    assert (
        desk.change(append, desk.at("f"), text="a b", ignore_whitespace=False).comment == "Appended 1 lines"
    )


def test_blank_lines_of_a_text_to_append_do_not_count(desk: Desk) -> None:
    desk.put("f", "a\nb\n")
    desk.same(append, desk.at("f"), text="a\n\n")
    desk.same(append, desk.at("f"), text="a\n\nb")
    desk.same(append, desk.at("f"), text=["\n", "  "])
    desk.same(prepend, desk.at("f"), text="\n")


def test_append_creates_the_file_from_sources(desk: Desk) -> None:
    sources = [desk.source("one", "{{ x }}\n"), desk.source("two", "2\n")]
    desk.change(append, desk.at("a/f"), sources=sources, context={"x": 1}, makedirs=True)
    assert desk.text("a/f") == "1\n2\n"
    assert "makedirs" in desk.refusal(append, desk.at("b/f"), text="x")
    assert "give one of" in desk.refusal(append, desk.at("f"))
    assert "indentation" in desk.refusal(append, desk.at("f"), text=[{"a": 1}])


def test_prepend_puts_text_first(desk: Desk) -> None:
    desk.put("f", "a\nx\n")
    desk.change(prepend, desk.at("f"), text=["new", "a"])
    assert desk.text("f") == "new\na\nx\n"
    desk.change(prepend, desk.at("f"), text=["a", "x"], header=True)
    assert desk.text("f") == "a\nx\nnew\na\nx\n"


def test_bytes_that_are_no_text_survive_an_edit(desk: Desk) -> None:
    (desk.scratch / "f").write_bytes(b"\xff\xfe\r\nport=1\r\n")
    desk.change(replace, desk.at("f"), pattern="port=1", repl="port=2", backup=False)
    assert (desk.scratch / "f").read_bytes() == b"\xff\xfe\r\nport=2\r\n"


def test_replace_uses_groups_counts_and_flags(desk: Desk) -> None:
    desk.put("f", "left-right up-down\n")
    desk.call(replace, desk.at("f"), pattern=r"(\w+)-(\w+)", repl=r"\2-\1", count=1, backup=False)
    assert desk.text("f") == "right-left up-down\n"
    desk.put("g", "A\nb\nc\n")
    desk.change(replace, desk.at("g"), pattern="a.*c", repl="x", flags=["DOTALL", "ignorecase"])
    assert (desk.text("g"), desk.text("g.bak")) == ("x\n", "A\nb\nc\n")
    desk.change(replace, desk.at("g"), pattern="x", repl=r"\1", backslash_literal=True)
    assert desk.text("g") == "\\1\n"


@pytest.mark.parametrize(
    ("args", "new"),
    [
        ({"append_if_not_found": True}, "a=1\nb=2\n"),
        ({"prepend_if_not_found": True}, "b=2\na=1"),
        ({"append_if_not_found": True, "not_found_content": "b=3"}, "a=1\nb=3\n"),
        ({"append_if_not_found": True, "not_found_content": "b=3\n"}, "a=1\nb=3\n\n"),
        ({"prepend_if_not_found": True, "not_found_content": "b=3\n"}, "b=3\n\na=1"),
    ],
)
def test_replace_adds_what_it_does_not_find(desk: Desk, args: dict[str, object], new: str) -> None:
    desk.put("f", "a=1")
    desk.change(replace, desk.at("f"), pattern="^b=(?!2|3).*", repl="b=2", backup=False, **args)
    assert desk.text("f") == new


def test_replace_tells_bad_patterns_and_missing_files(desk: Desk) -> None:
    desk.put("f", "x")
    assert "regular expression" in desk.refusal(replace, desk.at("f"), pattern="(", repl="")
    assert "backslash_literal" in desk.refusal(replace, desk.at("f"), pattern="x", repl=r"\1")
    both = {"append_if_not_found": True, "prepend_if_not_found": True}
    assert "cannot be combined" in desk.refusal(replace, desk.at("f"), pattern="y", repl="z", **both)
    assert "no flag" in desk.refusal(replace, desk.at("f"), pattern="x", repl="", flags=["NOPE"])
    assert desk.refusal(replace, desk.at("g"), pattern="x", repl="") == f"{desk.at('g')}: file not found"
    desk.same(replace, desk.at("g"), pattern="x", repl="", ignore_if_missing=True)
    assert "a directory" in desk.refusal(replace, str(desk.scratch), pattern="x", repl="")


@pytest.mark.parametrize(
    ("old", "args", "new"),
    [
        (
            "a\n" + BLOCK.format("old") + "z\n",
            {"content": "new\nmore"},
            "a\n" + BLOCK.format("new\nmore") + "z\n",
        ),
        (BLOCK.format("old") * 2, {"content": "new\n"}, BLOCK.format("new") * 2),
        ("a", {"content": "new", "append_if_not_found": True}, "a\n" + BLOCK.format("new")),
        ("a\n", {"content": "new", "prepend_if_not_found": True}, BLOCK.format("new") + "a\n"),
        ("a\nb\n", {"content": "new", "insert_before_match": "^b"}, "a\n" + BLOCK.format("new") + "b\n"),
        ("a\nb", {"content": "new", "insert_after_match": "^b"}, "a\nb\n" + BLOCK.format("new")),
        (
            "S\nolder\nS\nold\nE",
            {"content": "n", "marker_start": "S", "marker_end": "E"},
            "S\nS\nn\nE\n",
        ),
        (
            "a\nS\r\nold\r\nE\r\n",
            {"content": "n", "marker_start": "S", "marker_end": "E"},
            "a\nS\r\nn\nE\n",
        ),
        (
            "S tail\nold\n  E tail\n",
            {"content": "n", "marker_start": "S", "marker_end": "E"},
            "S tail\nn\n  E tail\n",
        ),
        (
            "S\nold\nE\n",
            {"content": "n", "marker_start": "S", "marker_end": "E", "append_newline": False},
            "S\nnE\n",
        ),
    ],
)
def test_blockreplace_manages_what_is_between_markers(
    desk: Desk, old: str, args: dict[str, object], new: str
) -> None:
    (desk.scratch / "f").write_bytes(old.encode())
    desk.change(blockreplace, desk.at("f"), backup=False, **args)
    assert (desk.scratch / "f").read_bytes().decode() == new


def test_a_block_takes_sources_and_accumulated_texts(desk: Desk) -> None:
    desk.put("f", BLOCK.format("old"))
    desk.call(accumulated, "acc", filename=desk.at("f"), text="collected")
    desk.change(blockreplace, desk.at("f"), content="own", backup=False)
    assert desk.text("f") == BLOCK.format("own\ncollected")
    desk.put("g", BLOCK.format("old"))
    url = desk.source("t", "{{ x }}\n")
    desk.change(blockreplace, desk.at("g"), source=url, context={"x": 1})
    assert (desk.text("g"), desk.text("g.bak")) == (BLOCK.format("1"), BLOCK.format("old"))


def test_blocks_that_cannot_be_are_reported(desk: Desk) -> None:
    desk.put("f", "a\n")
    desk.put("g", "#-- start managed zone --\n")
    assert "append_if_not_found" in desk.refusal(blockreplace, desk.at("f"))
    assert "not terminated" in desk.refusal(blockreplace, desk.at("g"))
    two = {"append_if_not_found": True, "insert_after_match": "x"}
    assert "only one" in desk.refusal(blockreplace, desk.at("f"), **two)
    assert "not found" in desk.refusal(blockreplace, desk.at("none"))


@pytest.mark.parametrize(
    ("old", "regex", "new"),
    [
        ("a=1\n  b=2\n", "^a", "#a=1\n  b=2\n"),
        ("a=1\n  b=2\n", "b=.*", "a=1\n  #b=2\n"),
        ("a\nab\n", "^a$", "#a\nab\n"),
        ("a=1\r\n", "a", "#a=1\r\n"),
    ],
)
def test_comment_and_uncomment_are_each_others_way_back(desk: Desk, old: str, regex: str, new: str) -> None:
    (desk.scratch / "f").write_bytes(old.encode())
    desk.change(comment, desk.at("f"), regex=regex, backup=False)
    assert (desk.scratch / "f").read_bytes() == new.encode()
    desk.change(uncomment, desk.at("f"), regex=regex, backup=False)
    assert (desk.scratch / "f").read_bytes() == old.encode()


@pytest.mark.parametrize("regex", ["[ab]", "^[ab]"])
def test_uncomment_takes_the_sign_and_leaves_the_white_space_behind_it(desk: Desk, regex: str) -> None:
    desk.put("f", "#  a\n#\tb\n")
    desk.change(uncomment, desk.at("f"), regex=regex, backup=False)
    assert desk.text("f") == "  a\n\tb\n"


def test_lines_to_comment_must_be_there(desk: Desk) -> None:
    desk.put("f", "a\n")
    assert "no line matches" in desk.refusal(comment, desk.at("f"), regex="^q")
    desk.same(comment, desk.at("f"), regex="^q", ignore_missing=True)
    assert "no line matches" in desk.refusal(uncomment, desk.at("f"), regex="q")
    assert "regular expression" in desk.refusal(comment, desk.at("f"), regex="(")


@pytest.mark.parametrize(
    ("old", "args", "new"),
    [
        ("alpha\nbeta\n", {"mode": "ensure", "after": "alpha"}, "alpha\nx\nbeta\n"),
        ("alpha\nbeta\n", {"mode": "ensure", "before": "beta"}, "alpha\nx\nbeta\n"),
        ("a\nold\nc\n", {"mode": "ensure", "after": "a", "before": "c"}, "a\nx\nc\n"),
        ("a\nc\n", {"mode": "ensure", "after": "a", "before": "c"}, "a\nx\nc\n"),
        ("a\nb", {"mode": "insert", "location": "end"}, "a\nb\nx\n"),
        ("a\nb\n", {"mode": "insert", "location": "start"}, "x\na\nb\n"),
        ("", {"mode": "insert", "location": "end"}, "x\n"),
        ("a\n  b\nc\n", {"mode": "insert", "after": "b"}, "a\n  b\n  x\nc\n"),
        ("a\n  b\nc\n", {"mode": "insert", "before": "b", "indent": False}, "a\nx\n  b\nc\n"),
        ("a\nq\nc\n", {"mode": "insert", "after": "a", "before": "c"}, "a\nq\nx\nc\n"),
        ("  a=1\nb\n", {"mode": "replace", "match": "a=1"}, "  x\nb\n"),
        ("a=1\na=2\nb\n", {"mode": "delete", "match": "a=", "content": None}, "b\n"),
        ("  a\n", {"mode": "insert", "location": "start", "content": "\ty "}, "\ty\n  a\n"),
        ("[x\ny\n", {"mode": "delete", "match": "[x", "content": None}, "y\n"),
        ("a\nb\n", {"mode": "delete", "match": "b", "content": None, "before": "q", "after": "b"}, "a\n"),
        ("a\nb\n", {"mode": "insert", "location": "start", "before": "b", "after": "q"}, "x\na\nb\n"),
        ("a\nb\n", {"mode": "insert", "before": "b", "after": "q"}, "a\nx\nb\n"),
        ("a\nb\n", {"mode": "ensure", "before": "q", "after": "a"}, "a\nx\nb\n"),
        ("a\n  b\n", {"mode": "ensure", "before": "b"}, "a\nx\n  b\n"),
        ("a\nb\n", {"mode": "ensure", "before": "b", "content": ""}, "a\n\nb\n"),
        ("a\nb\n", {"mode": "replace", "match": "b", "content": ""}, "a\n\n"),
        ("a\nc\n", {"mode": "ensure", "after": "a", "content": "x\n  y\n"}, "a\nx\n  y\nc\n"),
        ("a\n  b\nc", {"mode": "replace", "match": "b", "content": "x\ny"}, "a\n  x\ny\nc"),
        ("a\r\nc\r\n", {"mode": "replace", "match": "c"}, "a\r\nx\r\n"),
        ("a\r\nc\r\n", {"mode": "ensure", "before": "c"}, "a\r\nx\r\nc\r\n"),
        ("a\r\nc", {"mode": "insert", "after": "c"}, "a\r\nc\r\nx\n"),
        ("a\r\n", {"mode": "insert", "location": "end"}, "a\r\nx\r\n"),
        ("a\r\n", {"mode": "insert", "before": "a"}, "x\r\na\r\n"),
    ],
)
def test_line_works_in_each_mode(desk: Desk, old: str, args: dict[str, object], new: str) -> None:
    (desk.scratch / "f").write_bytes(old.encode())
    desk.change(line, desk.at("f"), **({"content": "x"} | args))
    assert (desk.scratch / "f").read_bytes().decode() == new


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"content": "x"}, "mode is missing"),
        ({"content": "x", "mode": "put"}, "no mode"),
        ({"mode": "insert", "location": "end"}, "empty"),
        ({"content": "x", "mode": "insert"}, "location"),
        ({"content": "x", "mode": "insert", "after": "a"}, "2 lines match"),
        ({"content": "x", "mode": "ensure", "after": "q"}, "no line matches"),
        ({"content": "x", "mode": "ensure"}, "before, after"),
        ({"content": "x", "mode": "insert", "location": "top"}, "no location"),
        ({"mode": "delete"}, "needs match"),
    ],
)
def test_line_tells_what_it_cannot_do(desk: Desk, args: dict[str, object], said: str) -> None:
    desk.put("f", "a\na\n")
    assert said in desk.refusal(line, desk.at("f"), **args)


def test_line_creates_a_file_if_asked(desk: Desk) -> None:
    args = {"content": "x", "mode": "insert", "location": "end"}
    assert "not found" in desk.refusal(line, desk.at("f"), **args)
    desk.same(line, desk.at("f"), **args, quiet=True)
    desk.change(line, desk.at("f"), **args, create=True, file_mode="0600")
    assert (desk.text("f"), desk.mode("f")) == ("x\n", 0o600)


def test_line_sets_the_mode_of_a_file_that_is_there(desk: Desk) -> None:
    desk.put("f", "a\n", mode=0o644)
    args = {"content": "x", "mode": "ensure", "after": "a"}
    assert set(desk.change(line, desk.at("f"), **args, file_mode="0600").changes) == {"diff", "mode"}
    assert (desk.text("f"), desk.mode("f")) == ("a\nx\n", 0o600)
    assert desk.change(line, desk.at("f"), **args, file_mode="0640").changes == {"mode": "0640"}
    assert (desk.text("f"), desk.mode("f")) == ("a\nx\n", 0o640)


def test_a_line_looks_for_its_content_only_without_before_and_after(desk: Desk) -> None:
    desk.put("f", "x\n")
    desk.same(line, desk.at("f"), mode="replace", content="x y", match="q")
    desk.same(line, desk.at("f"), mode="delete", content="x", before="q")
    desk.same(line, desk.at("f"), mode="replace", content="y", after="x")


def test_line_keeps_a_copy_with_the_date_in_its_name(desk: Desk) -> None:
    desk.put("f", "a\n")
    desk.call(line, desk.at("f"), content="x", mode="insert", location="end", backup=True)
    (copy,) = [name for name in os.listdir(desk.scratch) if name.startswith("f.")]
    assert re.fullmatch(r"f\.\d{4}(-\d\d){5}", copy) and desk.text(copy) == "a\n"


@pytest.mark.parametrize(
    ("old", "args", "new"),
    [
        ("a=1\nb=2\n", {"key": "a", "value": "5"}, "a=5\nb=2\n"),
        ("  a=1 # note\n", {"key": "a", "value": 5}, "  a=5\n"),
        (
            "a=1\n#c=3\n",
            {"key_values": {"a": "5", "c": "4", "d": "9"}, "uncomment": "#", "append_if_not_found": True},
            "a=5\nc=4\nd=9\n",
        ),
        ("#a=0\na=1\n", {"key": "a", "value": "5", "uncomment": "#"}, "#a=0\na=5\n"),
        ("a=1", {"key": "b", "value": "5", "append_if_not_found": True}, "a=1\nb=5\n"),
        ("a=1\n", {"key": "b", "value": "5", "prepend_if_not_found": True}, "b=5\na=1\n"),
        ("a   1\n", {"key": "a", "value": "5", "separator": " "}, "a 5\n"),
        (
            "# A yes\n",
            {"key": "a", "value": "no", "separator": " ", "uncomment": "#", "key_ignore_case": True},
            "A no\n",
        ),
        ("a=1\na=2\n", {"key": "a", "value": "5"}, "a=5\n"),
        ("a=1\na=2\n", {"key": "a", "value": "5", "count": -1}, "a=5\na=5\n"),
        ("a=1\nb=2\n# c\n", {"key_values": {"a": "1"}, "prune": True}, "a=1\n"),
        (
            "a=1\nb=2\na=3\n",
            {"key_values": {"a": "1", "c": "4"}, "count": 0, "append_if_not_found": True},
            "b=2\n",
        ),
    ],
)
def test_keyvalue_sets_pairs(desk: Desk, old: str, args: dict[str, object], new: str) -> None:
    desk.put("f", old)
    desk.change(keyvalue, desk.at("f"), **args)
    assert desk.text("f") == new


def test_keyvalue_makes_a_file_that_holds_the_pairs(desk: Desk) -> None:
    desk.change(keyvalue, desk.at("f"), key_values={"a": 1, "b": "2"}, create_if_missing=True)
    assert desk.text("f") == "a=1\nb=2\n"
    desk.same(keyvalue, desk.at("f"), key="c", value="3", create_if_missing=True)


def test_keyvalue_only_looks_if_asked(desk: Desk) -> None:
    desk.put("f", "a=YES\n")
    desk.same(keyvalue, desk.at("f"), key="a", value="yes", value_ignore_case=True, search_only=True)
    assert "search_only" in desk.refusal(keyvalue, desk.at("f"), key="a", value="no", search_only=True)
    desk.same(keyvalue, desk.at("f"), key="b", value="x")
    desk.same(keyvalue, desk.at("g"), key="b", value="x", ignore_if_missing=True)
    assert "not found" in desk.refusal(keyvalue, desk.at("g"), key="b", value="x")
    assert "give key and value" in desk.refusal(keyvalue, desk.at("f"))
    assert "either" in desk.refusal(keyvalue, desk.at("f"), key="a", value="b", key_values={"c": "d"})


def test_an_edit_through_a_link_keeps_the_link(desk: Desk) -> None:
    desk.put("real", "a\n", mode=0o600)
    os.symlink("real", desk.at("link"))
    desk.change(append, desk.at("link"), text="b")
    assert (os.readlink(desk.at("link")), desk.text("real"), desk.mode("real")) == ("real", "a\nb\n", 0o600)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_an_edit_through_a_planted_link_is_refused(desk: Desk) -> None:
    victim = desk.put("victim", "a\n")
    desk.put("open/x")
    os.chmod(desk.at("open"), 0o1777)
    os.symlink(victim, desk.at("open/link"))
    os.chown(desk.at("open/link"), 65534, 65534, follow_symlinks=False)
    assert "not followed" in desk.refusal(append, desk.at("open/link"), text="b")
    assert desk.foresee(append, desk.at("open/link"), text="b").outcome is Outcome.FAILED


def test_what_begins_with_the_comment_sign_is_a_comment_whatever_the_regex(desk: Desk) -> None:
    desk.put("f", "#foo\n")
    assert "no line matches" in desk.refusal(comment, desk.at("f"), regex="^#foo")
    assert desk.text("f") == "#foo\n"


def test_pairs_are_put_first_one_after_the_other(desk: Desk) -> None:
    desk.put("f", "x=1\n")
    desk.change(keyvalue, desk.at("f"), key_values={"a": "1", "b": "2"}, prepend_if_not_found=True)
    assert desk.text("f") == "b=2\na=1\nx=1\n"
