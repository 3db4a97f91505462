"""The changes of a plan are new_values once, and as briefly as they can be."""

from __future__ import annotations

from saltern.report.colours import painter
from saltern.report.plan_changes import Changes, new_values


def shown(changes: dict[str, object], *, width: int = 80, colour: bool = False) -> list[str]:
    return list(Changes(width, painter(colour)).lines(changes, 4))


def test_what_the_title_says_is_not_said_again() -> None:
    assert new_values({"/srv": {"directory": "new"}}, name="/srv", created=True) == {}
    assert new_values({"diff": "New file", "mode": "0640"}, name="/srv/x", created=True) == {"mode": "0640"}
    assert new_values({"cmd": "make", "pid": 7}, name="make", created=False) == {"pid": 7}


def test_a_package_keeps_its_name_though_the_state_is_called_so() -> None:
    pair = {"nginx": {"old": "", "new": "1.2"}}
    assert new_values(pair, name="nginx", created=True) == pair


def test_old_and_new_stand_in_one_line() -> None:
    assert shown({"port": {"old": 80, "new": 443}}) == ["    port: 80 → 443"]
    assert shown({"nginx": {"old": "", "new": "1.2"}}) == ["    nginx: nothing → 1.2"]
    painted = shown({"port": {"old": 80, "new": 443}}, colour=True)[0]
    assert "\x1b[0;31m80\x1b[0m" in painted and "\x1b[0;32m443\x1b[0m" in painted


def test_what_has_no_room_in_a_line_stands_below() -> None:
    long = {"old": "a" * 50, "new": "b" * 50}
    assert shown({"key": long}) == ["    key:", "        - " + "a" * 50, "        + " + "b" * 50]
    assert shown({"key": {"new": "one\ntwo\n"}}) == ["    key:", "        + one", "        + two"]


def test_a_diff_without_names_begins_with_its_first_part() -> None:
    assert shown({"diff": "--- \n+++ \n@@ -1 +1 @@\n-a\n+b\n"}) == ["    @@ -1 +1 @@", "    -a", "    +b"]
    assert shown({"diff": "--- a\n+++ b\n-a\n+b\n"})[0] == "    --- a"


def test_lists_and_mappings_are_indented() -> None:
    assert shown({"groups": ["adm", "cdrom"]}) == ["    groups: adm, cdrom"]
    deep: dict[str, object] = {"a": {"b": {"old": 1, "new": 2}, "c": 3}, "d": [{"e": 1}]}
    assert shown(deep) == [
        "    a:",
        "        b: 1 → 2",
        "        c: 3",
        "    d:",
        "        -",
        "            e: 1",
    ]


def test_nothing_in_it_steers_the_terminal() -> None:
    assert shown({"a\x1b[2J": "b\x07"}) == ["    a\\x1b[2J: b\\x07"]
