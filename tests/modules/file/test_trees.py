"""Whole directories: what several sources make together, what a clean-up spares, what is empty."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest
from tests import kit

from saltern.language.result import Outcome
from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument
from saltern.modules.functions.file.edit import replace as replaced
from saltern.modules.functions.file.make import rmdir
from saltern.modules.states.file.accumulated import accumulated
from saltern.modules.states.file.blocks import blockreplace
from saltern.modules.states.file.directory import directory
from saltern.modules.states.file.managed import managed
from saltern.modules.states.file.recurse import recurse

if TYPE_CHECKING:
    from tests.modules.file.conftest import Desk


def link(desk: Desk, name: str, target: str) -> None:
    path = desk.states / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


def test_an_excluded_directory_is_spared_and_not_what_is_in_it(desk: Desk) -> None:
    for name in ("keep/stray", "keep/kept", "gone/x", "file"):
        desk.put(f"d/{name}")
    args = {"clean": True, "exclude_pat": "E@^keep(|/kept)$"}
    result = desk.change(directory, desk.at("d"), **args)
    assert sorted(result.changes) == [desk.at(f"d/{name}") for name in ("file", "gone", "keep/stray")]
    assert desk.names() == ["d", "d/keep", "d/keep/kept"]


def test_what_is_excluded_keeps_the_directories_above_it(desk: Desk) -> None:
    desk.put("d/a/b/kept")
    desk.put("d/a/other")
    desk.change(directory, desk.at("d"), clean=True, exclude_pat="a/b/kept")
    assert desk.names() == ["d", "d/a", "d/a/b", "d/a/b/kept"]


def test_files_get_the_mode_of_directories_if_they_have_none_of_their_own(desk: Desk) -> None:
    desk.put("d/f", mode=0o600)
    desk.change(directory, desk.at("d"), dir_mode="0755", recurse=["mode"])
    assert desk.mode("d/f") == 0o755
    desk.change(directory, desk.at("d"), dir_mode="0755", file_mode="0640", recurse=["mode"])
    assert desk.mode("d/f") == 0o640


def test_a_backup_and_what_was_there_instead_are_both_told(desk: Desk) -> None:
    desk.put("d")
    desk.put("old")
    result = desk.change(directory, desk.at("d"), backupname="old", force=True)
    assert result.changes.keys() == {"backup", "forced", desk.at("d")}


def test_cleaning_replaces_files_by_directories_and_the_other_way_round(desk: Desk) -> None:
    desk.source("t/dir/f", "1")
    desk.source("t/file", "2")
    desk.put("d/dir", "a file")
    desk.put("d/file/x", "a directory")
    assert "where a directory should be" in desk.call(recurse, desk.at("d"), source="salt://t").comment
    desk.call(recurse, desk.at("e"), source="salt://t")
    foreseen = desk.foresee(recurse, desk.at("d"), source="salt://t", clean=True)
    assert foreseen.outcome is Outcome.WOULD_CHANGE, foreseen.comment
    result = desk.call(recurse, desk.at("d"), source="salt://t", clean=True)
    assert result.outcome is Outcome.OK, result.comment
    assert (desk.text("d/dir/f"), desk.text("d/file")) == ("1", "2")
    desk.same(recurse, desk.at("d"), source="salt://t", clean=True)


@pytest.mark.parametrize("keep", [False, True])
def test_the_first_source_wins_whatever_kind_the_others_have(desk: Desk, keep: bool) -> None:
    desk.source("one/a", "first")
    desk.source("one/b/c", "first")
    desk.source("two/a/x", "second")
    desk.source("two/b", "second")
    desk.source("two/only", "second")
    link(desk, "one/l", "b")
    desk.source("two/l", "second")
    args = {"source": ["salt://one", "salt://two"], "merge": True, "keep_symlinks": keep}
    desk.change(recurse, desk.at("d"), **args)
    assert (desk.text("d/a"), desk.text("d/b/c"), desk.text("d/only")) == ("first", "first", "second")
    assert (os.path.islink(desk.at("d/l")), desk.text("d/l/c")) == (keep, "first")


def test_links_that_lead_nowhere_are_kept_as_links(desk: Desk) -> None:
    desk.source("t/f", "1")
    link(desk, "t/broken", "../none")
    link(desk, "t/sub/loop", "loop")
    desk.change(recurse, desk.at("d"), source="salt://t", keep_symlinks=True)
    assert (os.readlink(desk.at("d/broken")), os.readlink(desk.at("d/sub/loop"))) == ("../none", "loop")
    desk.change(recurse, desk.at("e"), source="salt://t")
    assert os.listdir(desk.at("e")) == ["f"]


def test_a_link_to_an_empty_directory_comes_with_it_only(desk: Desk) -> None:
    (desk.states / "t/empty").mkdir(parents=True)
    desk.source("t/f")
    link(desk, "t/l", "empty")
    desk.call(recurse, desk.at("d"), source="salt://t", keep_symlinks=True)
    assert os.listdir(desk.at("d")) == ["f"]
    desk.change(recurse, desk.at("d"), source="salt://t", keep_symlinks=True, include_empty=True)
    assert os.path.isdir(desk.at("d/l"))


def nested(desk: Desk) -> str:
    for number in range(4):
        os.makedirs(desk.at(f"d/m{number}/empty"))
        desk.put(f"d/m{number}/full/x")
    return desk.at("d")


def test_empty_directories_are_removed_by_the_function(desk: Desk) -> None:
    path, ctx = nested(desk), desk.context()
    assert rmdir(ctx, path) is False
    told = rmdir(ctx, path, recurse=True, verbose=True)
    assert isinstance(told, dict)
    assert (told["result"], len(told["deleted"]), len(told["errors"])) == (False, 4, 9)  # type: ignore[arg-type]
    os.makedirs(desk.at("e/f"))
    old = time.time() - 3 * 86400
    os.utime(desk.at("e/f"), (old, old))
    assert rmdir(ctx, desk.at("e"), recurse=True, verbose=True, older_than=5) == {
        "result": True,
        "deleted": [],
        "errors": [],
    }
    assert rmdir(ctx, desk.at("e"), recurse=True, older_than=1) is True
    assert os.listdir(desk.at("e")) == []
    assert rmdir(ctx, desk.at("e")) is True
    with pytest.raises(BadArgument, match="not a directory"):
        rmdir(ctx, desk.at("e"))


@pytest.mark.parametrize(("inside", "end"), [("\r\n", "\n"), ("\n", "\r\n")])
def test_a_block_ends_its_lines_as_the_file_does(desk: Desk, inside: str, end: str) -> None:
    path = desk.at("f")
    with open(path, "w", newline="") as file:
        file.write(f"one{inside}two{inside}")
    args = {"content": f"a{end}b{end}", "marker_start": "# s", "marker_end": "# e", "backup": False}
    desk.change(blockreplace, path, append_if_not_found=True, **args)
    with open(path, newline="") as file:
        assert file.read() == inside.join(["one", "two", "# s", "a", "b", "# e", ""])
    desk.change(blockreplace, path, **{**args, "content": f"c{end}"})
    with open(path, newline="") as file:
        assert file.read() == inside.join(["one", "two", "# s", "c", "# e", ""])


def test_a_block_gets_the_accumulators_that_name_it(desk: Desk) -> None:
    path = desk.put("f")
    first = kit.chunk("first", state="file", fun="accumulated", name="first")
    second = kit.chunk("second", state="file", fun="accumulated", name="second")
    orphan = kit.chunk("orphan", state="file", fun="accumulated", name="orphan")
    blocks = [
        kit.chunk(name, state="file", fun="blockreplace", name=path, requisites=[("require", "file", of)])
        for name, of in (("block1", "first"), ("block2", "second"))
    ]
    desk.run.chunks = (first, second, orphan, *blocks)
    for chunk, text in ((first, "1"), (second, "2")):
        accumulated(Context(desk.run, chunk=chunk), chunk.name, filename=path, text=text)
    for chunk in blocks:
        marks = {"marker_start": f"#{chunk.id}", "marker_end": f"#/{chunk.id}", "append_if_not_found": True}
        blockreplace(Context(desk.run, chunk=chunk), path, backup=False, **marks)  # type: ignore[arg-type]
    assert desk.text("f") == "#block1\n1\n#/block1\n#block2\n2\n#/block2\n"
    result = accumulated(Context(desk.run, chunk=orphan), "orphan", filename=path, text="3")
    assert result.outcome is Outcome.FAILED
    assert "require_in" in result.comment


def test_text_in_latin_1_is_shown_as_it_reads(desk: Desk) -> None:
    desk.put("f", "old\n")
    (desk.states / "new").write_bytes("räksmörgås\n".encode("latin-1"))
    result = desk.change(managed, desk.at("f"), source="salt://new")
    assert "+räksmörgås" in str(result.changes["diff"])


def test_other_encodings_are_edited(desk: Desk) -> None:
    path = desk.at("f")
    with open(path, "w", encoding="utf-16") as file:
        file.write("port = 1\n")
    replaced(desk.context(), path, "port = .*", "port = 2", encoding="utf-16", backup=False)
    with open(path, encoding="utf-16") as file:
        assert file.read() == "port = 2\n"


def test_a_file_without_content_is_reported_as_such(desk: Desk) -> None:
    result = desk.change(managed, desk.at("f"), mode="0440")
    assert result.changes == {"new": f"file {desk.at('f')} created", "mode": "0440"}
