"""Packages for tests: those that can be installed are, and one that cannot keeps back no other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tools import machine

NAMES = ("at", "git", "npm", "nodejs", "zypper")


class Apt:
    """A machine with packages: ``broken`` cannot be installed, ``foes`` not one beside the other.

    One that is not ``online`` knows all packages and can fetch none.
    """

    def __init__(self, broken: set[str], foes: set[str] | None = None, *, online: bool = True) -> None:
        self.broken = broken
        self.foes = foes or set()
        self.online = online
        self.attempts = 0
        self.there: set[str] = set()
        self.updated = 0

    def __call__(self, *words: str) -> int:
        names = {word for word in words if word in NAMES}
        self.attempts += "--simulate" not in words
        if "update" in words:
            self.updated += 1
            return 0 if self.online else 100
        if (
            names & self.broken
            or len(self.foes & (names | self.there)) > 1
            or ("--simulate" not in words and not self.online)
        ):
            return 100
        if "--simulate" not in words:
            self.there |= names
        return 0

    def missing(self, names: list[str]) -> list[str]:
        return [name for name in names if name not in self.there]


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[Apt], Apt]:
    def use(apt: Apt) -> Apt:
        monkeypatch.setattr(machine, "_apt", apt)
        monkeypatch.setattr(machine, "missing", apt.missing)
        monkeypatch.setattr(machine, "POLICY", tmp_path / "policy-rc.d")
        return apt

    return use


def test_the_list_has_names_and_what_they_are_for() -> None:
    assert machine.wanted("git  # for git\n\n# a remark\nat # x\ngit\n") == ["at", "git"]


def test_every_package_of_the_list_says_what_it_is_for() -> None:
    lines = [line for line in machine.LIST.read_text().splitlines() if line.strip()]
    assert [line for line in lines if not line.partition("#")[2].strip()] == []
    assert [line.split()[0] for line in lines] == machine.wanted("\n".join(lines))


@given(broken=st.sets(st.sampled_from(NAMES)))
def test_what_can_be_installed_is(broken: set[str]) -> None:
    apt = Apt(broken)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "_apt", apt)
        patch.setattr(machine, "missing", apt.missing)
        patch.setattr(machine, "install", lambda names, **_: apt("install", *names))
        assert machine.complete(list(NAMES)) == [name for name in NAMES if name in broken]
    assert apt.there == set(NAMES) - broken


def test_of_two_that_exclude_each_other_one_is_installed(on: Callable[[Apt], Apt]) -> None:
    apt = on(Apt(set(), foes={"npm", "nodejs"}))
    assert len(machine.complete(list(NAMES))) == 1
    assert {"at", "git", "zypper"} <= apt.there


def test_nothing_is_fetched_where_all_is_there(on: Callable[[Apt], Apt]) -> None:
    apt = on(Apt(set()))
    apt.there = set(NAMES)
    assert machine.complete(list(NAMES)) == []
    assert apt.updated == 0


def test_services_may_start_again_after_it(on: Callable[[Apt], Apt]) -> None:
    on(Apt(set()))
    machine.POLICY.write_text(machine.NO_SERVICES)  # one that was killed has left it
    machine.install(["at"])
    assert not machine.POLICY.exists()
    machine.POLICY.write_text("#!/bin/sh\nexit 104\n")
    machine.install(["at"])
    assert machine.POLICY.read_text() == "#!/bin/sh\nexit 104\n"


def test_a_machine_that_cannot_fetch_anything_is_not_asked_for_each_package(
    on: Callable[[Apt], Apt],
) -> None:
    """Each attempt takes the time that a network without answers takes."""
    apt = on(Apt(set(), online=False))
    assert machine.complete(list(NAMES)) == list(NAMES)
    assert apt.attempts == 3  # the lists, all packages, the first


def test_a_source_that_does_not_answer_keeps_back_no_package_of_another(on: Callable[[Apt], Apt]) -> None:
    class OneSourceIsDown(Apt):
        def __call__(self, *words: str) -> int:
            return 100 if "update" in words else super().__call__(*words)

    apt = on(OneSourceIsDown({"npm"}))
    assert machine.complete(list(NAMES)) == ["npm"]
    assert apt.there == set(NAMES) - {"npm"}
