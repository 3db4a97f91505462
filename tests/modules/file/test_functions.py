"""Execution functions of ``file``."""

from __future__ import annotations

import hashlib
import os
import time
from typing import TYPE_CHECKING, Any

import pytest

from saltern.modules.api.params import BadArgument
from saltern.modules.api.registry import Registry
from saltern.modules.functions import file

if TYPE_CHECKING:
    from tests.modules.file.conftest import Desk

REGISTRY = Registry()


def call(desk: Desk, name: str, /, *args: object, **kwargs: object) -> Any:
    found = REGISTRY.function(f"file.{name}")
    assert found is not None, name
    return found(desk.context(), *args, **kwargs)


def test_every_name_of_the_table_is_a_function_with_a_manual() -> None:
    for name in file.LAZY:
        found = REGISTRY.function(f"file.{name}")
        assert found is not None, name
        assert found.doc


def test_looking_at_paths(desk: Desk) -> None:
    path = desk.put("d/f", "x", mode=0o640)
    os.symlink("f", desk.at("d/l"))
    answers = {
        ("file_exists", path): True,
        ("file_exists", desk.at("d")): False,
        ("directory_exists", desk.at("d")): True,
        ("path_exists_glob", desk.at("d/*")): True,
        ("path_exists_glob", desk.at("q*")): False,
        ("is_link", desk.at("d/l")): True,
        ("readlink", desk.at("d/l")): "f",
        ("get_mode", path): "0640",
        ("get_uid", path): os.getuid(),
        ("basename", path): "f",
        ("dirname", path): desk.at("d"),
        ("normpath", "/a/../b"): "/b",
        ("readdir", desk.at("d")): [".", "..", "f", "l"],
        ("get_hash", path): hashlib.sha256(b"x").hexdigest(),
        ("user_to_uid", "root"): 0,
        ("user_to_uid", "no-such-user"): "",
        ("lstat", desk.at("none")): {},
    }
    assert {key: call(desk, *key) for key in answers} == answers
    assert call(desk, "join", "/a", "b") == "/a/b"
    assert call(desk, "check_hash", path, f"sha256={hashlib.sha256(b'x').hexdigest()}")
    assert call(desk, "access", path, "r")
    assert call(desk, "stats", path)["type"] == "file"


def test_searching_in_files(desk: Desk) -> None:
    path = desk.put("f", "port=80\n# note\n")
    assert call(desk, "read", path) == "port=80\n# note\n"
    assert call(desk, "search", path, r"^port=\d+$")
    assert not call(desk, "search", desk.at("none"), "x", ignore_if_missing=True)
    assert call(desk, "contains", path, "note")
    assert not call(desk, "contains", desk.at("none"), "note")
    assert call(desk, "contains_regex", path, "^note", lchar="# ")
    assert call(desk, "grep", path, "port")["stdout"] == "port=80"
    assert call(desk, "get_diff", path, path) == ""


def test_finding_files(desk: Desk) -> None:
    desk.put("d/a.conf", "x" * 2000)
    desk.put("d/s/b.conf", "yes")
    desk.put("d/s/c.txt")
    found = [os.path.relpath(path, desk.scratch) for path in call(desk, "find", desk.at("d"), name="*.conf")]
    assert found == ["d/a.conf", "d/s/b.conf"]
    assert call(desk, "find", desk.at("d"), type="f", size="+1k") == [desk.at("d/a.conf")]
    assert call(desk, "find", desk.at("d"), type="f", maxdepth=1) == [desk.at("d/a.conf")]
    assert call(desk, "find", desk.at("d"), type="d", mindepth=1) == [desk.at("d/s")]
    assert call(desk, "find", desk.at("d"), grep="^yes$", owner=str(os.getuid())) == [desk.at("d/s/b.conf")]
    now = time.time()
    os.utime(desk.at("d/s/c.txt"), (now - 7200, now - 7200))
    assert call(desk, "find", desk.at("d"), name="c*", mtime="-1d") == [desk.at("d/s/c.txt")]
    assert call(desk, "find", desk.at("d"), name="c*", mtime="-1h") == []
    assert call(desk, "find", desk.at("d"), name="c*", mtime="1h") == [desk.at("d/s/c.txt")]
    assert call(desk, "find", desk.at("d"), regex="[ab].conf$", type="f", maxdepth=1) == [desk.at("d/a.conf")]
    with pytest.raises(BadArgument, match="find knows"):
        call(desk, "find", desk.at("d"), colour="red")


def test_find_removes_what_it_found_and_never_where_it_began(desk: Desk) -> None:
    desk.put("d/a.old")
    desk.put("d/s/b.old")
    desk.put("d/keep")
    gone = [desk.at("d/a.old"), desk.at("d/s/b.old")]
    assert call(desk, "find", desk.at("d"), name="*.old", delete="f") == gone
    assert os.path.exists(desk.at("d/keep"))
    assert not any(map(os.path.exists, gone))
    with pytest.raises(BadArgument, match="mindepth=1"):
        call(desk, "find", desk.at("d"), delete="d")
    assert call(desk, "find", desk.at("d"), delete="d", mindepth=1) == [desk.at("d/s")]


def test_numbers_without_a_name_stay_numbers(desk: Desk) -> None:
    for function in ("uid_to_user", "gid_to_group"):
        assert [call(desk, function, value) for value in (0, "root", 99999, "none-such")] == [
            "root",
            "root",
            99999,
            "",
        ]


def test_changing_files(desk: Desk) -> None:
    path = desk.at("f")
    assert call(desk, "write", path, "one", "two") == f"{path}: wrote 2 lines"
    call(desk, "append", path, args=["three"])
    call(desk, "prepend", path, "zero")
    assert desk.text("f") == "zero\none\ntwo\nthree\n"
    assert "+2" in call(desk, "replace", path, "two", "2", backup=False)
    assert call(desk, "replace", path, "three", "3", search_only=True)
    assert "-zero" in call(desk, "line", path, match="zero", mode="delete")
    call(desk, "comment", path, "^one")
    assert desk.text("f") == "#one\n2\nthree\n"
    assert call(desk, "set_mode", path, "0600") == "0600"
    call(desk, "copy", path, desk.at("g"))
    assert desk.mode("g") == 0o600
    assert call(desk, "move", desk.at("g"), desk.at("h"))["result"] is True
    call(desk, "symlink", path, desk.at("l"))
    call(desk, "makedirs", desk.at("a/b") + "/", mode="0700")
    assert desk.mode("a/b") == 0o700
    call(desk, "mkdir", desk.at("a/c"), user=os.geteuid(), mode=750)  # as YAML reads them at the prompt
    assert desk.mode("a/c") == 0o750
    assert call(desk, "remove", desk.at("a")) is True
    assert call(desk, "remove", desk.at("a")) is False
    assert desk.names() == ["f", "f.bak", "h", "l"]


@pytest.mark.parametrize(
    ("name", "args", "said"),
    [
        ("read", ("/nowhere",), "no such file"),
        ("get_mode", ("/nowhere",), "does not exist"),
        ("readdir", ("/nowhere",), "No such file"),
        ("write", ("relative", "x"), "absolute"),
        ("remove", ("/",), "not removed"),
        ("search", ("/etc/passwd", "("), "regular expression"),
        ("set_mode", ("/etc/passwd", "rw"), "octal"),
        ("chown", ("/etc/passwd", "no-such-user", ""), "not available"),
        ("check_hash", ("/etc/passwd", "abc"), "is not a checksum"),
    ],
)
def test_what_cannot_be_is_reported(desk: Desk, name: str, args: tuple[object, ...], said: str) -> None:
    with pytest.raises(BadArgument, match=said):
        call(desk, name, *args)
