"""Late values that cannot be had: the name or the path does not exist, or is none."""

from __future__ import annotations

import pytest
from tests.delayed.machine import VM, using
from tests.delayed.thing import (
    comment_of,
    problem,
    run,
    value_of,
)


def test_an_unknown_name_is_a_compile_error_with_a_suggestion() -> None:
    """“a clear error when the name … does not exist”."""
    told = problem(using("${delayed:machnie.data.ip}").replace("register: vm", "register: machine"))
    assert told.startswith(
        "main.sls:10:7: 'seen' of 'use' asks for 'machnie', which no state registers [late-unknown]"
    )
    assert "did you mean 'machine'?" in told


def test_an_unknown_name_without_any_near_one_says_how_to_give_it() -> None:
    told = problem("a:\n  test.nop:\n    - x: ${delayed:somebody.data.ip}\n")
    assert "write '- register: somebody' in the state that you mean" in told


def test_an_unknown_path_fails_the_state_and_says_what_there_is() -> None:
    """“a clear error when the … path does not exist”."""
    report = run(using("${delayed:vm.data.address}", "\n    last:\n      test.nop: []\n"))
    assert value_of(report, "use") is False
    assert comment_of(report, "use").startswith(
        "${delayed:vm.data.address}: vm.data has no 'address'; it has ip, port, up,"
    )
    assert value_of(report, "last") is True


def test_an_unknown_path_gets_a_did_you_mean() -> None:
    assert "did you mean 'port'?" in comment_of(run(using("${delayed:vm.data.prot}")), "use")


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("${delayed:vm.data.tags.7}", "vm.data.tags has no '7'; it is a list of 2"),
        ("${delayed:vm.data.ip.x}", "vm.data.ip has no 'x'; it is a plain value"),
        ("${delayed:vm.changes.x}", "vm.changes has no 'x'; it is empty"),
        ("${delayed:vm.dat.x}", "vm has no 'dat'"),
    ],
)
def test_a_path_that_leads_nowhere_says_where_it_ends(reference: str, said: str) -> None:
    assert said in comment_of(run(using(f"'{reference}'")), "use")


@pytest.mark.parametrize(
    "reference",
    [
        "${delayed:}",
        "${delayed:vm}",
        "${delayed:vm.}",
        "${delayed:.data}",
        "${delayed:vm..x}",
        "${delayed:vm.data",
    ],
)
def test_what_is_no_reference_is_reported_before_anything_runs(reference: str) -> None:
    told = problem(using(f"'{reference}'"))
    assert told.startswith("main.sls:10:7: ")
    assert "write ${delayed:NAME.path}, such as ${delayed:vm.data.ip}" in told


def test_a_state_cannot_ask_for_its_own_return() -> None:
    assert "asks for its own return [late-unknown]" in problem(
        "a:\n  test.nop:\n    - register: a\n    - x: ${delayed:a.data.x}\n"
    )


@pytest.mark.parametrize("name", ["7", "[a]", "'a b'", "''", "a.b"])
def test_a_name_has_letters_digits_and_dashes(name: str) -> None:
    told = problem(f"# delayed\na:\n  test.nop:\n    - register: {name}\n")
    assert told.startswith("main.sls:4:7: 'register' of 'a' is ")
    assert "[register-name]" in told


def test_two_states_cannot_have_one_name() -> None:
    told = problem(
        VM + "\n    b:\n      test.nop:\n        - register: vm\n        - x: ${delayed:vm.data.ip}\n"
    )
    assert "'vm' is registered by two states, 'b' and 'vm' [register-twice]" in told


def test_states_with_names_cannot_share_one() -> None:
    told = problem(
        "a:\n  test.nop:\n    - names: [x, y]\n    - register: r\n"
        "b:\n  test.nop:\n    - x: ${delayed:r.name}\n"
    )
    assert "'r' is registered by each of the names of 'a'" in told


def test_each_of_several_names_may_ask() -> None:
    report = run(
        VM
        + "\n    use:\n      thing.made:\n        - names: [x, y]"
        + "\n        - data: {seen: '${delayed:vm.data.port}'}\n"
    )
    assert [answer.result.data["seen"] for answer in report.answers[1:]] == [8080, 8080]


def test_names_themselves_may_be_references() -> None:
    report = run(
        VM
        + "\n    use:\n      cmd.run:\n        - names:"
        + "\n          - echo ${delayed:vm.data.ip}\n          - echo ${delayed:vm.data.port}\n"
    )
    assert [answer.result.changes["stdout"] for answer in report.answers[1:]] == ["10.0.0.7", "8080"]
