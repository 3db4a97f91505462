"""``file.symlink``, ``hardlink``, ``absent``, ``exists``, ``missing``, ``touch``, ``copy``, ``rename``."""

from __future__ import annotations

import grp
import os
import pwd
import time
from typing import TYPE_CHECKING

import pytest
from tests.modules.bench import needs_root

from saltern.language.result import Outcome
from saltern.modules.states.file.copies import copy, rename
from saltern.modules.states.file.links import hardlink, symlink
from saltern.modules.states.file.presence import absent, exists, missing
from saltern.modules.states.file.touch import touch

if TYPE_CHECKING:
    from tests.modules.file.conftest import Desk

ROOT = os.geteuid() == 0


def test_a_link_is_made_and_changed(desk: Desk) -> None:
    result = desk.change(symlink, desk.at("l"), target="/one")
    assert (result.changes, result.data["target"]) == ({"new": desk.at("l")}, "/one")
    desk.change(symlink, desk.at("l"), target="/two")
    assert os.readlink(desk.at("l")) == "/two"
    assert desk.names() == ["l"]


def test_a_link_needs_its_directory(desk: Desk) -> None:
    assert desk.foresee(symlink, desk.at("a/l"), target="/x").outcome is Outcome.WOULD_CHANGE
    assert "not present" in desk.refusal(symlink, desk.at("a/l"), target="/x")
    desk.change(symlink, desk.at("a/l"), target="/x", makedirs=True)


@pytest.mark.parametrize("inner", ["f", "f/inner"])
def test_what_is_in_the_way_of_a_link_is_refused_forced_or_renamed(desk: Desk, inner: str) -> None:
    desk.put(inner, "x")
    assert "exists where the symlink" in desk.refusal(symlink, desk.at("f"), target="/x")
    desk.change(symlink, desk.at("f"), target="/x", backupname="old")
    assert os.path.lexists(desk.at("old"))
    os.unlink(desk.at("f"))
    desk.put(inner, "x")
    assert "backup" in desk.refusal(symlink, desk.at("f"), target="/x", backupname="old")
    desk.change(symlink, desk.at("f"), target="/x", force=True)


def test_a_hard_link_never_replaces_a_directory(desk: Desk) -> None:
    desk.put("f", "x")
    desk.put("d/inner", "y")
    assert "directory" in desk.refusal(hardlink, desk.at("d"), target=desk.at("f"), force=True)
    assert desk.text("d/inner") == "y"


@pytest.mark.skipif(not ROOT, reason="needs root")
def test_a_copy_for_a_user_belongs_to_the_group_of_that_user(desk: Desk) -> None:
    desk.put("f", "x")
    user = pwd.getpwnam("nobody")
    desk.change(copy, desk.at("g"), source=desk.at("f"), user="nobody")
    made = os.stat(desk.at("g"))
    assert (made.st_uid, made.st_gid) == (user.pw_uid, user.pw_gid)
    desk.change(copy, desk.at("h"), source=desk.at("f"), user="nobody", group="daemon")
    assert os.stat(desk.at("h")).st_gid == grp.getgrnam("daemon").gr_gid


@pytest.mark.skipif(not ROOT, reason="needs root")
def test_the_owner_of_a_link_is_its_own(desk: Desk) -> None:
    desk.put("target")
    desk.change(symlink, desk.at("l"), target="target")
    result = desk.change(symlink, desk.at("l"), target="target", user="daemon", group="daemon")
    assert result.changes == {"ownership": "daemon:daemon"}
    assert os.stat(desk.at("target")).st_uid == 0


def test_a_hard_link_is_the_same_file(desk: Desk) -> None:
    desk.put("f", "x")
    desk.change(hardlink, desk.at("l"), target=desk.at("f"))
    assert os.path.samefile(desk.at("f"), desk.at("l"))
    desk.put("g", "other")
    assert "exists where" in desk.refusal(hardlink, desk.at("g"), target=desk.at("f"))
    desk.change(hardlink, desk.at("g"), target=desk.at("f"), force=True)
    assert "to link to does not exist" in desk.refusal(hardlink, desk.at("h"), target=desk.at("none"))
    assert "directory" in desk.refusal(hardlink, desk.at("h"), target=str(desk.scratch))


def test_absent_removes_files_directories_and_links_but_not_their_targets(desk: Desk) -> None:
    desk.put("f")
    desk.put("d/sub/x")
    os.symlink("d", desk.at("l"))
    assert desk.change(absent, desk.at("l")).changes == {"removed": desk.at("l")}
    assert "d/sub/x" in desk.names()
    desk.change(absent, desk.at("f"))
    desk.change(absent, desk.at("d"))
    desk.same(absent, desk.at("nothing/at/all"))
    assert desk.names() == []
    assert "not removed" in desk.refusal(absent, "/")
    assert "not removed" in desk.refusal(absent, "/usr/..")
    assert "absolute" in desk.refusal(absent, "f")


def test_exists_and_missing_only_look(desk: Desk) -> None:
    desk.put("f")
    assert desk.same(exists, desk.at("f")).data["type"] == "file"
    desk.same(missing, desk.at("g"))
    assert desk.refusal(exists, desk.at("g")) == f"Specified path {desk.at('g')} does not exist"
    assert desk.refusal(missing, desk.at("f")) == f"Specified path {desk.at('f')} exists"


def test_touch_creates_and_sets_times(desk: Desk) -> None:
    assert desk.foresee(touch, desk.at("f")).changes == {"new": desk.at("f")}
    assert desk.call(touch, desk.at("f")).changes == {"new": desk.at("f")}
    assert desk.call(touch, desk.at("f")).changes == {"touched": desk.at("f")}
    desk.change(touch, desk.at("f"), mtime=1000)
    assert os.stat(desk.at("f")).st_mtime == 1000
    desk.change(touch, desk.at("f"), mtime="2024-05-01 12:00")
    desk.change(touch, desk.at("a/f"), atime=5, makedirs=True)
    assert "makedirs" in desk.refusal(touch, desk.at("b/f"))
    assert "not a time" in desk.refusal(touch, desk.at("f"), mtime="yesterday")


def test_a_copy_is_made_once_and_kept(desk: Desk) -> None:
    desk.put("f", "one", mode=0o640)
    result = desk.change(copy, desk.at("g"), source=desk.at("f"))
    assert result.changes == {desk.at("g"): desk.at("f")}
    assert (desk.text("g"), desk.mode("g")) == ("one", 0o640)
    desk.put("f", "two")
    desk.same(copy, desk.at("g"), source=desk.at("f"))
    desk.change(copy, desk.at("g"), source=desk.at("f"), force=True, mode="0600")
    assert (desk.text("g"), desk.mode("g")) == ("two", 0o600)


def test_directories_are_copied_whole_and_links_as_links(desk: Desk) -> None:
    desk.put("d/sub/x", "x")
    os.symlink("/etc", desk.at("d/link"))
    desk.change(copy, desk.at("e"), source=desk.at("d"))
    assert os.readlink(desk.at("e/link")) == "/etc"
    desk.put("f", "f")
    desk.change(copy, desk.at("e"), source=desk.at("f"), subdir=True)
    assert desk.text("e/f") == "f"


def test_a_copy_needs_source_and_directory(desk: Desk) -> None:
    assert "does not exist" in desk.refusal(copy, desk.at("g"), source=desk.at("none"))
    assert "absolute" in desk.refusal(copy, desk.at("g"), source="none")
    desk.put("f")
    assert "makedirs" in desk.refusal(copy, desk.at("a/g"), source=desk.at("f"))
    desk.change(copy, desk.at("a/g"), source=desk.at("f"), makedirs=True)


@pytest.mark.parametrize("preserve", [True, False])
def test_directories_of_a_private_copy_are_private(desk: Desk, preserve: bool) -> None:
    desk.put("f", "x", mode=0o600)
    desk.change(copy, desk.at("a/g"), source=desk.at("f"), makedirs=True, preserve=preserve)
    assert (desk.mode("a"), desk.mode("a/g")) == (0o700, 0o600)


def test_rename_moves_once(desk: Desk) -> None:
    desk.put("f", "x")
    desk.change(rename, desk.at("a/g"), source=desk.at("f"), makedirs=True)
    assert desk.names() == ["a", "a/g"]
    desk.put("f", "y")
    desk.same(rename, desk.at("a/g"), source=desk.at("f"))
    desk.change(rename, desk.at("a/g"), source=desk.at("f"), force=True)
    assert desk.text("a/g") == "y"


@pytest.mark.parametrize("follow", [True, False])
def test_a_link_that_leads_nowhere_is_replaced(desk: Desk, follow: bool) -> None:
    desk.put("f")
    os.symlink(desk.at("none"), desk.at("l"))
    desk.change(symlink, desk.at("l"), target=desk.at("f"), follow_symlinks=follow, atomic=True)
    assert os.readlink(desk.at("l")) == desk.at("f")


def test_a_path_is_never_replaced_by_a_link_to_itself(desk: Desk) -> None:
    desk.put("d/kept", "x")
    assert "to itself" in desk.refusal(symlink, desk.at("d"), target=desk.at("d"), force=True)
    assert "to itself" in desk.refusal(symlink, desk.at("d"), target="d", force=True)
    assert desk.text("d/kept") == "x"


@needs_root()
def test_a_link_belongs_to_the_user_who_runs_this_if_no_other_is_named(desk: Desk) -> None:
    os.symlink("x", desk.at("l"))
    os.lchown(desk.at("l"), 1, 1)
    desk.change(symlink, desk.at("l"), target="y", inherit_user_and_group=True)
    assert owner(desk.at("l")) == (1, 1)
    assert desk.change(symlink, desk.at("l"), target="y").changes == {"ownership": "root:root"}
    assert owner(desk.at("l")) == (0, 0)
    desk.change(symlink, desk.at("l"), target="y", user="daemon")
    assert owner(desk.at("l")) == (1, 1)  # with the group of that user


@needs_root()
def test_a_copied_directory_belongs_to_the_given_user_as_a_whole(desk: Desk) -> None:
    desk.put("d/sub/f", "x")
    desk.change(copy, desk.at("e"), source=desk.at("d"), user="daemon")
    assert {owner(desk.at(f"e{name}")) for name in ("", "/sub", "/sub/f")} == {(1, 1)}


def test_what_is_preserved_comes_before_a_given_mode(desk: Desk) -> None:
    desk.put("f", "x", mode=0o640)
    desk.change(copy, desk.at("g"), source=desk.at("f"), preserve=True, mode="0600")
    assert desk.mode("g") == 0o640


@pytest.mark.parametrize("preserve", [False, True])
def test_directories_above_a_copy_are_as_closed_as_the_source(desk: Desk, preserve: bool) -> None:
    desk.put("f", "x", mode=0o600)
    desk.change(copy, desk.at("a/g"), source=desk.at("f"), makedirs=True, preserve=preserve)
    assert desk.mode("a") == 0o700


def test_a_time_that_is_not_given_is_now(desk: Desk) -> None:
    before = time.time()
    desk.call(touch, desk.at("f"), atime=1000)
    found = os.stat(desk.at("f"))
    assert found.st_atime == 1000
    assert found.st_mtime > before - 10


def owner(path: str) -> tuple[int, int]:
    found = os.lstat(path)
    return found.st_uid, found.st_gid
