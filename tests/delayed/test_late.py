"""A late single value: ``register: NAME`` and ``${delayed:NAME.path}``."""

from __future__ import annotations

import pytest
from tests.delayed.machine import VM, got, late, using
from tests.delayed.thing import (
    comment_of,
    problems,
    result_of,
    run,
    seen,
    value_of,
)
from tests.kit import ids, order

# -- typed and embedded ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("data.ip", "10.0.0.7"),
        ("data.port", 8080),
        ("data.up", True),
        ("data.load", 0.5),
        ("data.none", None),
        ("data.tags", ["a", "b"]),
        ("data.tags.1", "b"),
        ("data.disk", {"a.b": "sda"}),
        ('data.disk."a.b"', "sda"),
        ("result", True),
        ("comment", "made"),
        ("changes", {}),
        ("name", "vm"),
        ("id", "vm"),
    ],
)
def test_a_reference_alone_is_the_value_with_its_type(path: str, value: object) -> None:
    """“typed (a number stays a number)”."""
    assert late(f"'${{delayed:vm.{path}}}'") == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("http://${delayed:vm.data.ip}:${delayed:vm.data.port}/", "http://10.0.0.7:8080/"),
        ("up=${delayed:vm.data.up}", "up=true"),
        ("none=${delayed:vm.data.none}.", "none=."),
        ("tags=${delayed:vm.data.tags}", 'tags=["a","b"]'),
        (" ${delayed:vm.data.port}", " 8080"),
    ],
)
def test_inside_other_text_it_is_written_into_it(text: str, value: str) -> None:
    """“`${NAME.path}` style late references in any argument”."""
    assert late(f"'{text}'") == value


def test_references_are_found_however_deep_they_stand() -> None:
    """“in any argument of a later state”."""
    assert late("{list: [{ip: '${delayed:vm.data.ip}'}, '${delayed:vm.data.port}']}") == {
        "list": [{"ip": "10.0.0.7"}, 8080]
    }


def test_a_name_may_have_references_too() -> None:
    report = run(VM + "\n    use:\n      cmd.run:\n        - name: echo ${delayed:vm.data.ip}\n")
    assert result_of(report, "use").changes["stdout"] == "10.0.0.7"


def test_a_condition_may_have_references_too() -> None:
    text = VM + "\n    use:\n      thing.made:\n        - unless: test ${delayed:vm.data.port} = 8080\n"
    assert "unless" in comment_of(run(text), "use")


def test_a_state_that_has_the_type_checked_gets_the_right_one() -> None:
    """“typed”: a flag of the signature gets a flag."""
    report = run(VM + "\n    use:\n      thing.made:\n        - changed: ${delayed:vm.data.up}\n")
    assert result_of(report, "use").changes != {}


# -- what stays text ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "${HOME}",
        "${x:-y}",
        "${delayed}",
        "${delayed:-x}x",
        "${delayed:-vm.data.ip}",
        "${delayed:=x}",
        "${delayed:?not set}",
        "${delayed:+x}",
        "${delayed:2}",
        "${delayed:0:2}",
        "${delayed: -2}",
        "${delayed:(-2)}",
        "${delayed:$n}",
        "${delayed:n}",
        "${delayed:n-1:2}x",
        "${delayed:n+1}",
        "$${delayed:-x}",
        "${delayed_x}",
        "$delayed:vm.data.ip",
        "{delayed:vm.data.ip}",
    ],
)
def test_what_a_shell_means_stays_text(text: str) -> None:
    """“shell `${VAR}` in `cmd.run` must stay text”."""
    assert seen(run(using(f"'{text}'")), "use") == text
    assert late(f"'{text} ${{delayed:vm.data.ip}}'") == f"{text} 10.0.0.7"


def test_two_dollars_are_the_text_of_a_reference() -> None:
    """“Choose the exact syntax so that no existing SLS changes its meaning”, and what if it is meant."""
    assert late("'$${delayed:vm.data.ip} is ${delayed:vm.data.ip}'") == "${delayed:vm.data.ip} is 10.0.0.7"
    assert late("'$${delayed:nobody.at.all}'") == "${delayed:nobody.at.all}"


# -- order -------------------------------------------------------------------------------------------------


def test_the_order_is_implied() -> None:
    """“creating the ordering (an implied require)”."""
    text = "\n    use:\n      test.nop:\n        - seen: ${delayed:vm.data.ip}\n" + VM
    assert ids(run(text)) == ["vm", "use"]
    assert [
        row["id"]
        for row in order({"main.sls": text.replace("thing.made", "test.nop").replace("\n    ", "\n")})
    ] == [
        "vm",
        "use",
    ]


def test_who_asks_a_state_that_failed_does_not_run() -> None:
    """“an implied require”."""
    report = run(using("${delayed:vm.data.ip}").replace("- register", "- fails: true\n        - register"))
    assert (value_of(report, "use"), result_of(report, "use").ran) == (False, False)
    assert comment_of(report, "use") == "requisite failed: main.vm"


def test_a_circle_is_reported() -> None:
    """“creating the ordering”."""
    told = "\n".join(
        problems(
            """
            a:
              test.nop:
                - register: a
                - x: ${delayed:b.data.x}
            b:
              test.nop:
                - register: b
                - x: ${delayed:a.data.x}
            """
        )
    )
    assert "a" in told
    assert "b" in told
    assert "[requisite-cycle]" in told or "cycle" in told


def test_files_that_are_included_share_their_names() -> None:
    report = run(
        "include: [other]\nuse:\n  thing.made:\n    - data: {seen: '${delayed:far.data.x}'}\n",
        {"other.sls": "far:\n  thing.made:\n    - data: {x: 5}\n    - register: far\n"},
    )
    assert got(report) == 5
