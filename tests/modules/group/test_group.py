"""``group`` on this machine, with groups that are called ``saltern-t-…`` and go away again."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.modules.apart import apart
from tests.modules.bench import Bench, alone, needs_root

from saltern.modules.functions import group as group_functions
from saltern.modules.states import group

NAME = "saltern-t-group"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with alone():
        yield Bench(tmp_path, group, functions={"group": group_functions})
        if os.geteuid() == 0:
            subprocess.run(["groupdel", NAME], check=False, capture_output=True)


@needs_root("groupadd")
def test_a_group_is_made_with_its_members(bench: Bench) -> None:
    done = bench.change("present", NAME, gid=7878, members=["games", "daemon"])
    assert done.changes == {"name": NAME, "gid": 7878, "members": ["daemon", "games"]}
    assert done.data == {"name": NAME, "exists": True, "gid": 7878, "members": ["daemon", "games"]}
    assert bench.change("present", NAME, gid=7879).changes == {"gid": 7879}


@needs_root("groupadd")
def test_members_come_and_go_one_by_one_or_all_at_once(bench: Bench) -> None:
    bench.change("present", NAME, addusers=["games"], system=True)
    done = bench.change("present", NAME, addusers=["games", "daemon"], delusers=["bin"])
    assert done.changes == {"addusers": ["daemon"]}
    assert bench.change("present", NAME, delusers=["games"]).changes == {"delusers": ["games"]}
    assert bench.change("present", NAME, members=[]).changes == {"members": []}


@needs_root("groupadd")
def test_a_group_is_removed_once(bench: Bench) -> None:
    bench.change("present", NAME)
    assert bench.change("absent", NAME).changes == {NAME: ""}


@needs_root("groupadd")
def test_a_member_that_is_no_user_fails_in_words(bench: Bench) -> None:
    result = bench.call("present", NAME, addusers=["saltern-t-nobody"])
    assert result.outcome.value is False
    assert "saltern-t-nobody" in result.comment
    assert result.changes == {"name": NAME}


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"members": ["a"], "addusers": ["b"]}, "members excludes addusers and delusers"),
        ({"addusers": ["a"], "delusers": ["a"]}, "a: both in addusers and in delusers"),
        ({"gid": 0}, "the gid 0 belongs to the group 'root'"),
        ({"gid": "many"}, "needs a number"),
        ({"addusers": ["-x"]}, "cannot be the name of a user"),
    ],
)
def test_what_cannot_be_is_refused_in_words(bench: Bench, args: dict[str, object], words: str) -> None:
    assert words in bench.refusal("present", NAME, **args)


@needs_root("groupadd")
def test_the_primary_group_of_a_user_is_not_removed(bench: Bench) -> None:
    assert "primary group" in bench.refusal("absent", "root")


@needs_root("groupadd")
def test_functions_change_groups_as_well(bench: Bench) -> None:
    salt = bench.salt
    assert salt["group.add"](NAME, gid=7880)
    assert salt["group.adduser"](NAME, "games")
    assert salt["group.deluser"](NAME, "nobody")
    assert salt["group.members"](NAME, "daemon,games")
    found = salt["group.info"](NAME)
    assert isinstance(found, dict) and sorted(found["members"]) == ["daemon", "games"]
    assert salt["group.delete"](NAME)


@needs_root("groupadd")
@apart
def test_a_group_that_shares_its_number_already_is_as_it_should_be(bench: Bench) -> None:
    bench.change("present", f"{NAME}2", gid=7902)
    bench.change("present", NAME, gid=7902, non_unique=True)
    bench.same("present", NAME, gid=7902)
    assert bench.change("present", NAME, gid=7902, addusers=["games"]).changes == {"addusers": ["games"]}
    bench.change("present", NAME, gid=7903)
    refused = bench.call("present", NAME, gid=7902)
    assert f"the gid 7902 belongs to the group '{NAME}2'" in refused.comment
