"""``user`` on this machine, with users that are called ``saltern-t-…`` and go away again."""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.modules.apart import apart
from tests.modules.bench import Bench, alone, needs_root

from saltern.language.result import Outcome
from saltern.modules.functions import shadow as shadow_functions
from saltern.modules.functions import user as user_functions
from saltern.modules.lib.accounts.passwords import crypt_password
from saltern.modules.lib.accounts.records import shadow
from saltern.modules.states import user

NAME = "saltern-t-user"
HASH = "$6$saltsalt$qFmFH.bQmmtXzyBY0s9v7Oicd2z4XSIecDzlB5KiA2/jctKu9YterLp8wwnSq.qc.eoxqOmSuNp2xS0ktL3nh/"
OTHER = "$6$othersal$vfTjYcq3ISLt9pBLQhPQqxCMLXyWJEv4Lc7jGAaZ0zC6gDu4o3VJS8yWuGzIgfXN1mJvHMgVKB8RvnSDNNj.L1"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with alone():
        yield Bench(tmp_path, user, functions={"user": user_functions, "shadow": shadow_functions})
        for name in (NAME, f"{NAME}2") if os.geteuid() == 0 else ():
            subprocess.run(["userdel", "-f", "-r", name], check=False, capture_output=True)
            subprocess.run(["groupdel", name], check=False, capture_output=True)


@needs_root("useradd")
def test_a_user_is_made_once_and_as_described(bench: Bench, tmp_path: Path) -> None:
    home = tmp_path / "home"
    done = bench.change(
        "present", NAME, shell="/bin/sh", home=str(home), groups=["games"], fullname="Tess T", uid=7777
    )
    assert done.changes == {
        "name": NAME,
        "home": str(home),
        "shell": "/bin/sh",
        "uid": 7777,
        "fullname": "Tess T",
        "groups": sorted(["games", NAME]),
    }
    assert done.data["uid"] == 7777 and done.data["exists"] is True
    assert pwd.getpwnam(NAME).pw_gecos == "Tess T"
    assert home.is_dir() and home.stat().st_uid == 7777


@needs_root("useradd")
def test_every_attribute_of_a_user_can_be_changed_later(bench: Bench, tmp_path: Path) -> None:
    bench.change("present", NAME, createhome=False, home=str(tmp_path / "a"))
    done = bench.change(
        "present",
        NAME,
        createhome=False,
        home=str(tmp_path / "b"),
        shell="/bin/false",
        fullname="New",
        homephone=12,
        groups=["games"],
        optional_groups=["no-such-group"],
        mindays=1,
        maxdays=90,
        warndays=5,
        inactdays=3,
        expire="2030-01-01",
        date=19000,
    )
    assert done.changes == {
        "home": str(tmp_path / "b"),
        "shell": "/bin/false",
        "fullname": "New",
        "homephone": "12",
        "groups": sorted(["games", NAME]),
        "mindays": 1,
        "maxdays": 90,
        "warndays": 5,
        "inactdays": 3,
        "expire": 21915,
        "date": 19000,
    }
    assert bench.change("present", NAME, createhome=False, expire=-1).changes == {"expire": -1}


@needs_root("useradd")
def test_groups_not_listed_are_left_only_if_told(bench: Bench) -> None:
    bench.change("present", NAME, createhome=False, groups=["games", "users"])
    bench.same("present", NAME, createhome=False, groups=["games"], remove_groups=False)
    done = bench.change("present", NAME, createhome=False, groups=["games"])
    assert done.changes == {"groups": sorted(["games", NAME])}
    assert bench.change("present", NAME, createhome=False, groups=[]).changes == {"groups": [NAME]}


@needs_root("useradd")
def test_a_password_is_set_and_never_shown(bench: Bench) -> None:
    done = bench.change("present", NAME, createhome=False, password=HASH)
    assert HASH not in repr(done) and done.changes["password"] == "XXX-REDACTED-XXX"
    have = shadow(bench.context(), NAME)
    assert have is not None and have.passwd == HASH
    assert bench.change("present", NAME, createhome=False, password=OTHER).changes == {
        "passwd": "XXX-REDACTED-XXX"
    }
    bench.same("present", NAME, createhome=False, password=HASH, enforce_password=False)
    subprocess.run(["chage", "-d", "19000", NAME], check=True)
    locked = bench.change("present", NAME, createhome=False, password_lock=True)
    assert OTHER not in repr(locked)
    have = shadow(bench.context(), NAME)
    assert have is not None and have.date == 19000, "the password itself is the same as before"
    bench.same("present", NAME, createhome=False, password=OTHER, password_lock=True)
    bench.change("present", NAME, createhome=False, password=OTHER, password_lock=False)
    bench.change("present", NAME, createhome=False, empty_password=True)
    have = shadow(bench.context(), NAME)
    assert have is not None and have.passwd == ""


@needs_root("useradd")
def test_a_password_that_is_not_enforced_is_set_where_there_is_none(bench: Bench) -> None:
    bench.change("present", NAME, createhome=False)
    bench.change("present", NAME, createhome=False, password=HASH, enforce_password=False)
    bench.same("present", NAME, createhome=False, password=OTHER, enforce_password=False)
    bench.change("present", NAME, createhome=False, empty_password=True, enforce_password=False)


@needs_root("useradd")
def test_a_plain_password_becomes_a_hash_and_is_recognised(bench: Bench) -> None:
    secret = "pass word;$(id)"
    done = bench.change("present", NAME, createhome=False, password=secret, hash_password=True)
    assert secret not in repr(done)
    have = shadow(bench.context(), NAME)
    assert have is not None and have.passwd.startswith("$6$")
    bench.change("present", NAME, createhome=False, password="another", hash_password=True)


@needs_root("useradd")
def test_a_missing_home_is_made_for_a_user_that_exists(bench: Bench, tmp_path: Path) -> None:
    home = str(tmp_path / "deep" / "home")
    bench.change("present", NAME, createhome=False, home=home)
    assert bench.change("present", NAME).changes == {"homeDoesNotExist": home}
    assert os.stat(home).st_uid == pwd.getpwnam(NAME).pw_uid


@needs_root("useradd")
def test_a_home_moves_with_its_content(bench: Bench, tmp_path: Path) -> None:
    bench.change("present", NAME, home=str(tmp_path / "a"))
    (tmp_path / "a" / "kept").write_text("x")
    assert bench.change("present", NAME, home=str(tmp_path / "b"), persist_home=True).changes == {
        "home": str(tmp_path / "b")
    }
    assert (tmp_path / "b" / "kept").read_text() == "x"


@needs_root("useradd")
def test_numbers_change_only_if_that_is_allowed(bench: Bench) -> None:
    bench.change("present", NAME, createhome=False, uid=7777, gid="games")
    assert "set allow_uid_change" in bench.refusal("present", NAME, createhome=False, uid=7778)
    assert "set allow_gid_change" in bench.refusal("present", NAME, createhome=False, gid="users")
    done = bench.change(
        "present",
        NAME,
        createhome=False,
        uid=7778,
        gid="users",
        allow_uid_change=True,
        allow_gid_change=True,
    )
    assert done.changes == {"uid": 7778, "gid": 100, "groups": ["games", "users"]}


@needs_root("useradd")
def test_a_user_is_removed_with_its_group_and_home(bench: Bench, tmp_path: Path) -> None:
    bench.change("present", NAME, home=str(tmp_path / "home"))
    done = bench.change("absent", NAME, purge=True)
    assert done.changes == {f"{NAME} group": "removed", NAME: "removed"}
    assert done.data == {"name": NAME, "exists": False}
    assert not (tmp_path / "home").exists()


@needs_root("useradd")
def test_a_group_that_others_use_stays(bench: Bench) -> None:
    bench.change("present", NAME, createhome=False)
    bench.change("present", f"{NAME}2", createhome=False, groups=[NAME])
    assert bench.change("absent", NAME).changes == {NAME: "removed"}


@needs_root("useradd")
def test_a_system_user_gets_a_number_of_that_range(bench: Bench) -> None:
    done = bench.change("present", NAME, system=True, createhome=False, usergroup=False, shell="/bin/false")
    assert isinstance(done.data["uid"], int) and done.data["uid"] < 1000
    assert done.data["groups"] == ["users"]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"groups": ["saltern-t-none"]}, "there is no group saltern-t-none"),
        ({"gid": "saltern-t-none"}, "there is no group 'saltern-t-none' for gid"),
        ({"uid": "seven"}, "needs a number, got 'seven'"),
        ({"expire": "tomorrow"}, "expire needs days since 1970 or a date"),
        ({"password": "x", "empty_password": True}, "cannot be combined"),
        ({"fullname": "a:b"}, "fullname must not contain"),
        ({"shel": "/bin/sh"}, "did you mean 'shell'?"),
    ],
)
def test_what_cannot_be_is_refused_in_words(bench: Bench, args: dict[str, object], words: str) -> None:
    assert words in bench.refusal("present", NAME, **args)


@pytest.mark.parametrize("name", ["-r", "a:b", "a b", "../x", ""])
def test_a_name_that_is_no_name_is_refused(bench: Bench, name: str) -> None:
    result = bench.call("present", name or "\n")
    assert result.outcome is Outcome.FAILED and "cannot be the name of a user" in result.comment


def test_in_test_mode_a_group_may_still_come(bench: Bench) -> None:
    result = bench.call("present", NAME, test=True, groups=["saltern-t-none"], gid="saltern-t-none")
    assert result.outcome is Outcome.WOULD_CHANGE


def test_hashes_are_made_like_the_one_there_is(bench: Bench) -> None:
    ctx = bench.context()
    for setting in ("", "$1$abcdefgh$", "$5$abcdefgh$", "$6$rounds=1000$abcdefgh$"):
        made = crypt_password(ctx, "secret", setting)
        assert made and crypt_password(ctx, "secret", made) == made != crypt_password(ctx, "Secret", made)


@needs_root("useradd")
def test_functions_change_users_as_well(bench: Bench) -> None:
    salt = bench.salt
    assert salt["user.add"](NAME, createhome=False, shell="/bin/sh", groups="games")
    assert salt["user.chshell"](NAME, "/bin/false")
    assert salt["user.chfullname"](NAME, "Tess")
    for field, value in (("roomnumber", "7"), ("workphone", "11"), ("homephone", "22"), ("other", "x")):
        assert salt[f"user.ch{field}"](NAME, value)
    assert pwd.getpwnam(NAME).pw_gecos == "Tess,7,11,22,x"
    assert salt["user.chgroups"](NAME, ["users"], append=True)
    found = salt["user.info"](NAME)
    assert isinstance(found, dict)
    assert (found["shell"], found["fullname"]) == ("/bin/false", "Tess")
    assert {"games", "users"} <= set(found["groups"])
    hashed = salt["shadow.gen_password"]("secret", "abcdefgh")
    salt["shadow.set_password"](NAME, hashed)
    salt["shadow.set_maxdays"](NAME, 9)
    info = salt["shadow.info"](NAME)
    assert isinstance(info, dict) and (info["passwd"], info["max"]) == (hashed, 9)
    assert salt["user.delete"](NAME)
    assert salt["user.info"](NAME) == {}


@needs_root("useradd")
@pytest.mark.parametrize("usergroup", [None, True])
def test_the_group_of_the_same_name_may_be_there_and_listed(bench: Bench, usergroup: bool | None) -> None:
    subprocess.run(["groupadd", NAME], check=True)
    done = bench.change("present", NAME, groups=[NAME, "games"], createhome=False, usergroup=usergroup)
    assert done.data["groups"] == sorted(["games", NAME])
    import grp

    assert grp.getgrgid(pwd.getpwnam(NAME).pw_gid).gr_name == NAME


TWINS = (f"{NAME}-a", f"{NAME}-b")  # two groups with one number


def twins() -> None:
    for name in TWINS:
        subprocess.run(["groupadd", "-o", "-g", "7901", name], check=True)


@needs_root("useradd")
@apart
@pytest.mark.parametrize("local", [False, True])
def test_a_user_is_in_the_one_of_two_groups_with_one_number_that_is_asked_for(
    bench: Bench, local: bool
) -> None:
    twins()
    for name in reversed(TWINS):
        done = bench.change("present", NAME, createhome=False, groups=[name], local=local)
        assert done.data["groups"] == [NAME, name]
    bench.change("present", NAME, createhome=False, groups=list(TWINS), local=local)
    bench.change("present", NAME, createhome=False, groups=[], local=local)


@needs_root("useradd")
@apart
@pytest.mark.parametrize("name", TWINS)
def test_both_names_of_the_primary_group_are_met(bench: Bench, name: str) -> None:
    twins()
    bench.change("present", NAME, createhome=False, gid=name)
    bench.same("present", NAME, createhome=False, gid=name, groups=list(TWINS))
    bench.same("present", NAME, createhome=False, gid=7901, groups=[])


@needs_root("useradd")
def test_optional_groups_that_do_not_exist_take_no_group_away(bench: Bench) -> None:
    bench.change("present", NAME, groups=["games"])
    bench.same("present", NAME, optional_groups=["saltern-t-none"])


@needs_root("useradd")
def test_the_primary_group_that_was_stays_one_of_the_groups(bench: Bench) -> None:
    bench.change("present", NAME, usergroup=True, groups=["games"])
    done = bench.change("present", NAME, gid="users", allow_gid_change=True)
    assert done.data["groups"] == sorted([NAME, "games", "users"])
