"""Which hosts a target means."""

from __future__ import annotations

import pytest

from saltern.fleet.ssh.roster.host import Host, Roster
from saltern.fleet.ssh.select import hint, select, unknown_names
from saltern.language.diagnostics import OperationError


@pytest.fixture
def roster() -> Roster:
    found = Roster()
    found.add(
        Host(id=name, address=name, groups=frozenset(groups.split()), grains=grains)
        for name, groups, grains in (
            ("web1", "web prod", {"os": "Debian"}),
            ("web2", "web", {}),
            ("db1", "db prod", {}),
        )
    )
    return found


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("*", "web1 web2 db1"),
        ("web*", "web1 web2"),
        ("web2", "web2"),
        ("web1,db1", "web1 db1"),
        ("L@web1,db1", "web1 db1"),
        ("E@web\\d", "web1 web2"),
        ("@prod", "web1 db1"),
        ("@prod and not @db", "web1"),
        ("( @web or db* ) and not web1", "web2 db1"),
        ("G@os:Debian", "web1 db1"),
        ("nothing*", ""),
        ("web*,db1", "web1 web2 db1"),
        ("web[1,7],db1", "web1 db1"),
        ("@db,web2", "web2 db1"),
        ("db1,nothing", "db1"),
        ("web[12]", "web1 web2"),
        ("@all", "web1 web2 db1"),
        ("@all and not @db", "web1 web2"),
    ],
)
def test_a_target(roster: Roster, target: str, expected: str) -> None:
    known = {"db1": {"os": "Debian"}}
    assert [host.id for host in select(roster, target, known)] == expected.split()


@pytest.mark.parametrize(
    ("target", "said"),
    [("@pord", "'pord'"), ("web* and", "something must follow"), ("( web*", "never closed")],
)
def test_what_cannot_be_read(roster: Roster, target: str, said: str) -> None:
    with pytest.raises(OperationError, match=said):
        select(roster, target)


def test_a_group_that_is_misspelt_gets_its_near_name(roster: Roster) -> None:
    with pytest.raises(OperationError) as caught:
        select(roster, "@pord")
    assert "prod" in str(caught.value)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("web1,wbe2", ["'wbe2' (did you mean 'web2'?)"]),
        ("web*,zzz", ["'zzz'"]),
        ("web*,@db", []),
        ("wbe2", []),
        ("L@web1,zzz", []),
    ],
)
def test_names_of_a_list_that_are_not_there(roster: Roster, target: str, expected: list[str]) -> None:
    assert unknown_names(target, roster) == expected


@pytest.mark.parametrize(
    ("target", "expected"), [("web", "--on @web"), ("all", "--on '*'"), ("zzz", "saltern ssh roster")]
)
def test_what_may_be_meant_by_a_target_that_matches_nothing(
    roster: Roster, target: str, expected: str
) -> None:
    assert expected in hint(target, roster)
