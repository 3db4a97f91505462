"""``file.directory`` and ``file.recurse``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tests.modules.bench import needs_root

from saltern.language.result import Outcome
from saltern.modules.states.file.directory import directory
from saltern.modules.states.file.recurse import recurse

if TYPE_CHECKING:
    from tests.modules.file.conftest import Desk

ROOT = os.geteuid() == 0


def test_a_directory_is_made_with_all_above_it(desk: Desk) -> None:
    result = desk.change(directory, desk.at("a/b"), makedirs=True, mode="0700")
    assert result.changes == {desk.at("a/b"): {"directory": "new"}}
    assert (desk.mode("a"), desk.mode("a/b")) == (0o700, 0o700)
    assert result.data["type"] == "directory"


def test_without_makedirs_a_run_fails_and_a_test_waits(desk: Desk) -> None:
    assert desk.foresee(directory, desk.at("a/b")).outcome is Outcome.WOULD_CHANGE
    assert "makedirs: True" in desk.refusal(directory, desk.at("a/b"))


def test_modes_reach_what_is_inside_as_deep_as_asked(desk: Desk) -> None:
    desk.put("d/one")
    desk.put("d/sub/two")
    args = {"dir_mode": "0700", "file_mode": "0600", "recurse": ["mode"]}
    assert desk.change(directory, desk.at("d"), **args, max_depth=0).changes == {
        desk.at("d"): {"mode": "0700"}
    }
    assert set(desk.change(directory, desk.at("d"), **args, max_depth=1).changes) == {
        desk.at("d/one"),
        desk.at("d/sub"),
    }
    assert desk.change(directory, desk.at("d"), **args).changes == {desk.at("d/sub/two"): {"mode": "0600"}}
    desk.put("d/three")
    assert desk.change(directory, desk.at("d"), **(args | {"recurse": ["mode", "silent"]})).changes == {
        "recursion": "Changes silenced"
    }


@pytest.mark.parametrize("depth", [0, 1, 7])
def test_a_depth_does_not_bound_what_is_cleaned_so_both_are_refused(desk: Desk, depth: int) -> None:
    desk.put("d/sub/two")
    args: dict[str, object] = {"clean": True, "max_depth": depth}
    assert "cannot be combined" in desk.refusal(directory, desk.at("d"), **args)
    assert desk.text("d/sub/two") is not None


def test_files_or_directories_can_be_left_out(desk: Desk) -> None:
    desk.put("d/sub/one")
    args = {"dir_mode": "0700", "file_mode": "0600", "children_only": True}
    desk.change(directory, desk.at("d"), **args, recurse=["mode", "ignore_files"])
    assert (desk.mode("d"), desk.mode("d/sub"), desk.mode("d/sub/one")) == (0o755, 0o700, 0o644)
    desk.change(directory, desk.at("d"), **args, recurse=["mode", "ignore_dirs"])
    assert desk.mode("d/sub/one") == 0o600


def test_cleaning_spares_what_is_excluded_and_never_follows_links(desk: Desk) -> None:
    for name in ("d/a", "d/sub/deep/b", "d/keep/c", "outside/precious"):
        desk.put(name)
    os.symlink(desk.at("outside"), desk.at("d/link"))
    result = desk.change(directory, desk.at("d"), clean=True, exclude_pat=["keep*", "E@deep/b$"])
    assert set(result.changes) == {desk.at("d/a"), desk.at("d/link")}
    assert desk.names() == [
        *("d", "d/keep", "d/keep/c", "d/sub", "d/sub/deep", "d/sub/deep/b", "outside", "outside/precious"),
    ]


@pytest.mark.skipif(not ROOT, reason="needs root")
def test_recursing_changes_links_not_what_they_lead_to(desk: Desk) -> None:
    desk.put("outside/precious")
    desk.put("d/x")
    os.symlink(desk.at("outside"), desk.at("d/link"))
    os.symlink(desk.at("outside/precious"), desk.at("d/file"))
    desk.change(directory, desk.at("d"), user="daemon", mode="0750", recurse=["user", "mode"])
    assert os.stat(desk.at("outside/precious")).st_uid == 0
    assert desk.mode("outside/precious") == 0o644
    assert os.lstat(desk.at("d/link")).st_uid != 0


def test_something_in_the_way_is_refused_forced_or_renamed(desk: Desk) -> None:
    desk.put("f", "x")
    desk.put("g", "x")
    assert desk.refusal(directory, desk.at("f")) == f"Specified location {desk.at('f')} exists and is a file"
    desk.change(directory, desk.at("f"), force=True)
    desk.change(directory, desk.at("g"), backupname="g.old")
    assert desk.names() == ["f", "g", "g.old"]


def test_a_link_is_taken_for_a_directory_unless_told_otherwise(desk: Desk) -> None:
    desk.put("real/x")
    os.symlink("real", desk.at("link"))
    desk.same(directory, desk.at("link"), mode="0700")
    assert "a symlink" in desk.refusal(directory, desk.at("link"), allow_symlink=False)
    desk.same(directory, desk.at("link"))
    desk.change(directory, desk.at("link"), force=True)
    assert desk.names() == ["link", "real", "real/x"]


def test_an_unknown_recurse_word_is_reported(desk: Desk) -> None:
    assert "not owner" in desk.refusal(directory, desk.at("d"), recurse=["owner"])


# -- recurse -----------------------------------------------------------------------------------


def test_a_tree_is_copied_with_modes(desk: Desk) -> None:
    desk.source("tree/a", "a\n")
    desk.source("tree/sub/run", "b\n", mode=0o755)
    result = desk.change(recurse, desk.at("d"), source="salt://tree", file_mode="keep", dir_mode="0700")
    assert result.comment == f"Recursively updated {desk.at('d')}"
    assert (desk.text("d/sub/run"), desk.mode("d/sub/run"), desk.mode("d/sub")) == ("b\n", 0o755, 0o700)
    desk.source("tree/a", "changed\n")
    assert set(desk.change(recurse, desk.at("d"), source="salt://tree").changes) == {desk.at("d/a")}


def test_a_tree_is_filtered_and_rendered(desk: Desk) -> None:
    desk.source("tree/a.j", "{{ x }}")
    desk.source("tree/skip/b", "")
    desk.source("tree/deep/er/c", "")
    args = {
        "source": "salt://tree",
        "exclude_pat": "skip/*",  # a directory is not excluded by its bare name, as in Salt
        "maxdepth": 1,
        "template": "jinja",
        "context": {"x": 1},
    }
    desk.change(recurse, desk.at("d"), **args)
    assert (desk.names(), desk.text("d/a.j")) == (["d", "d/a.j"], "1")


def test_cleaning_a_tree_leaves_only_what_the_source_has(desk: Desk) -> None:
    desk.source("tree/sub/a", "a\n")
    for name in ("d/extra/x", "d/sub/old", "d/keep", "outside/precious"):
        desk.put(name)
    os.symlink(desk.at("outside"), desk.at("d/link"))
    result = desk.change(recurse, desk.at("d"), source="salt://tree", clean=True, exclude_pat="keep")
    assert result.changes["removed"] == [desk.at("d/extra"), desk.at("d/link"), desk.at("d/sub/old")]
    assert desk.names() == ["d", "d/keep", "d/sub", "d/sub/a", "outside", "outside/precious"]


def test_links_stay_links_if_asked(desk: Desk) -> None:
    desk.source("tree/a", "a\n")
    os.symlink("a", desk.states / "tree/link")
    desk.change(recurse, desk.at("files"), source="salt://tree")
    desk.change(recurse, desk.at("links"), source="salt://tree", keep_symlinks=True)
    assert not os.path.islink(desk.at("files/link"))
    assert os.readlink(desk.at("links/link")) == "a"


def test_empty_directories_are_made_if_asked(desk: Desk) -> None:
    desk.source("tree/a", "")
    (desk.states / "tree/empty").mkdir()
    desk.change(recurse, desk.at("d"), source="salt://tree", include_empty=True)
    assert desk.names() == ["d", "d/a", "d/empty"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"source": "salt://none"}, "no directory of the state tree"),
        ({"source": "http://x/tree"}, "salt://"),
        ({"source": "salt://tree", "mode": "0600"}, "file_mode"),
    ],
)
def test_bad_input_to_recurse_is_reported(desk: Desk, args: dict[str, object], said: str) -> None:
    desk.source("tree/a", "")
    assert said in desk.refusal(recurse, desk.at("d"), **args)


def test_a_file_where_a_directory_should_be_fails(desk: Desk) -> None:
    desk.source("tree/sub/a", "")
    desk.put("d", "file")
    desk.put("e/sub", "file")
    assert "where a directory should be" in desk.refusal(recurse, desk.at("d"), source="salt://tree")
    assert "where a directory should be" in desk.refusal(recurse, desk.at("e"), source="salt://tree")


@needs_root()
def test_a_link_that_is_not_followed_gets_the_owner_itself(desk: Desk) -> None:
    desk.put("real/x", "x")
    os.symlink("real", desk.at("link"))
    desk.change(directory, desk.at("link"), user="daemon", mode="0700")
    assert os.lstat(desk.at("link")).st_uid == 1
    assert os.stat(desk.at("link")).st_uid == 0
