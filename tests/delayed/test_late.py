"""A late single value: ``register: NAME`` and ``${delayed:NAME.path}``."""

from __future__ import annotations

import pytest
from tests.delayed.thing import (
    attempted,
    comment_of,
    paths,
    problem,
    problems,
    result_of,
    run,
    seen,
    value_of,
)
from tests.kit import ids, low, order

from saltern.language.events import Report

VM = """
    vm:
      thing.made:
        - data: {ip: 10.0.0.7, port: 8080, up: true, load: 0.5, none: null, tags: [a, b], disk: {"a.b": sda}}
        - register: vm
    """


def using(value: str, more: str = "") -> str:
    return VM + f"\n    use:\n      thing.made:\n        - comment: said\n        - seen: {value}\n{more}"


def got(report: Report, path: str = "use") -> object:
    """What the state was really called with: it returns it as its data."""
    return result_of(report, path).data["seen"]


def late(value: str) -> object:
    """The value of an argument of a state that was called."""
    text = VM + f"\n    use:\n      thing.made:\n        - data:\n            seen: {value}\n"
    return got(run(text))


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
        "${delayed_x}",
        "$delayed:vm.data.ip",
        "{delayed:vm.data.ip}",
    ],
)
def test_what_a_shell_means_stays_text(text: str) -> None:
    """“shell `${VAR}` in `cmd.run` must stay text”."""
    outcome = attempted(using(f"'{text}'"))
    if text == "${delayed:-x}x":  # the one form that shells know: its default is no path
        assert "is no reference" in outcome.texts[0]
        return
    assert outcome.report is not None
    assert seen(outcome.report, "use") == text


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


def test_a_circle_is_told() -> None:
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
        "include: [other]\n" + using("1").replace("seen: 1", "data: {seen: '${delayed:far.data.x}'}"),
        {"other.sls": "far:\n  thing.made:\n    - data: {x: 5}\n    - register: far\n"},
    )
    assert got(report) == 5


# -- errors ------------------------------------------------------------------------------------------------


def test_an_unknown_name_is_a_compile_error_with_a_suggestion() -> None:
    """“a clear error when the name … does not exist”."""
    told = problem(using("${delayed:vn.data.ip}"))
    assert told.startswith(
        "main.sls:10:11: 'seen' of 'use' asks for 'vn', which no state registers [late-unknown]"
    )
    assert "did you mean 'vm'?" in told


def test_an_unknown_name_without_any_near_one_says_how_to_give_it() -> None:
    told = problem("a:\n  test.nop:\n    - x: ${delayed:somebody.data.ip}\n")
    assert "write '- register: somebody' in the state that is meant" in told


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
def test_what_is_no_reference_is_told_before_anything_runs(reference: str) -> None:
    told = problem(using(f"'{reference}'"))
    assert told.startswith("main.sls:10:11: ")
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
        "a:\n  test.nop:\n    - names: [x, y]\n    - register: r\nb:\n  test.nop:\n    - x: ${delayed:r.name}\n"
    )
    assert "'r' is registered by each of the names of 'a'" in told


def test_each_of_several_names_may_ask() -> None:
    report = run(
        VM
        + "\n    use:\n      thing.made:\n        - names: [x, y]\n        - data: {seen: '${delayed:vm.data.port}'}\n"
    )
    assert [answer.result.data["seen"] for answer in report.answers[1:]] == [8080, 8080]


def test_names_themselves_may_be_references() -> None:
    report = run(
        VM
        + "\n    use:\n      cmd.run:\n        - names: ['echo ${delayed:vm.data.ip}', 'echo ${delayed:vm.data.port}']\n"
    )
    assert [answer.result.changes["stdout"] for answer in report.answers[1:]] == ["10.0.0.7", "8080"]


# -- around the call -----------------------------------------------------------------------------------------


def test_in_a_test_run_a_value_of_what_would_change_is_not_known() -> None:
    """“"known after apply" in test mode”."""
    report = run(
        using("${delayed:vm.data.ip}").replace("- register", "- changed: true\n        - register"), test=True
    )
    result = result_of(report, "use")
    assert (result.outcome.value, result.ran) == (None, False)
    assert result.comment == "known after vm is applied"


def test_in_a_test_run_a_value_of_what_is_fine_is_known() -> None:
    text = VM + "\n    use:\n      thing.made:\n        - data: {seen: '${delayed:vm.data.ip}'}\n"
    assert got(run(text, test=True)) == "10.0.0.7"


def test_what_is_unknown_makes_all_unknown_that_asks_for_it() -> None:
    text = VM.replace("- register", "- changed: true\n        - register") + (
        "\n    use:\n      thing.made:\n        - register: second\n        - seen: ${delayed:vm.data.ip}"
        "\n    third:\n      test.nop:\n        - seen: ${delayed:second.data.x}\n"
    )
    assert comment_of(run(text, test=True), "third") == "known after second is applied"


def test_no_log_hides_a_value_from_the_report_but_not_from_who_asks() -> None:
    report = run(
        VM.replace("- register", "- no_log: true\n        - register")
        + "\n    use:\n      thing.made:\n        - data: {seen: '${delayed:vm.data.ip}'}\n"
    )
    assert result_of(report, "vm").data == {}
    assert got(report) == "10.0.0.7"


@pytest.mark.parametrize("who", ["vm", "use", "both"])
def test_parallel_states_may_ask_and_be_asked(who: str) -> None:
    vm = VM.replace("- register", "- parallel: true\n        - register") if who != "use" else VM
    more = "        - parallel: true\n" if who != "vm" else ""
    text = (
        vm + f"\n    use:\n      thing.made:\n{more}        - data: {{seen: '${{delayed:vm.data.port}}'}}\n"
    )
    assert got(run(text)) == 8080


def test_a_state_that_is_rehearsed_for_prereq_may_ask() -> None:
    report = run(
        VM
        + """
    first:
      thing.made:
        - prereq:
          - thing: use
    use:
      thing.made:
        - changed: ${delayed:vm.data.up}
    """
    )
    assert ids(report) == ["vm", "first", "use"]
    assert result_of(report, "first").ran


def test_a_retried_state_asks_for_the_last_return() -> None:
    report = run(
        """
        r:
          thing.grows:
            - name: late retried
            - after: 2
            - retry: {attempts: 3, interval: 0}
            - register: r
        use:
          thing.made:
            - data: {seen: '${delayed:r.data.calls}'}
        """
    )
    assert got(report) == 2


def test_a_state_that_reacts_is_asked_for_what_it_said_then() -> None:
    report = run(
        """
        w:
          thing.made:
            - changed: true
        r:
          thing.made:
            - register: r
            - watch:
              - thing: w
        use:
          thing.made:
            - data: {seen: '${delayed:r.data.reacted}'}
        """
    )
    assert got(report) == 1


def test_a_state_that_reacts_may_ask() -> None:
    report = run(
        VM
        + """
    w:
      thing.made:
        - changed: true
    use:
      thing.made:
        - name: ${delayed:vm.data.ip}
        - watch:
          - thing: w
    """
    )
    assert result_of(report, "use").changes == {"reacted": "10.0.0.7"}


def test_a_listener_may_ask() -> None:
    report = run(
        VM
        + """
    w:
      thing.made:
        - changed: true
    use:
      thing.made:
        - name: ${delayed:vm.data.ip}
        - listen:
          - thing: w
    """
    )
    assert result_of(report, "listener_use").changes == {"reacted": "10.0.0.7"}


def test_a_state_that_was_skipped_has_no_data_and_that_is_told() -> None:
    report = run(
        using("${delayed:vm.data.ip}").replace("- register", "- onlyif: 'false'\n        - register")
    )
    assert "vm.data has no 'ip'; it is empty" in comment_of(report, "use")
    report = run(
        "\n    f:\n      test.nop: []\n"
        + using("${delayed:vm.data.ip}").replace("- register", "- onchanges: [{test: f}]\n        - register")
    )
    assert "'vm' did not run, so there is no data" in comment_of(report, "use")


# -- with blocks ---------------------------------------------------------------------------------------------


def test_an_entry_s_context_may_have_references() -> None:
    """“in any argument of a later state”, and so a value goes into a block."""
    report = run(
        VM
        + """
    use:
      test.nop:
        - delayed_render:
          - block: B
            context: {ip: '${delayed:vm.data.ip}', port: '${delayed:vm.data.port}'}
    #!delayed_block B
    later:
      test.nop:
        - seen: {{ [ip, port] | tojson }}
    #!end_delayed_block
    """
    )
    assert seen(report, "use>B#1>later") == ["10.0.0.7", 8080]


def test_states_of_a_block_register_and_ask_among_themselves() -> None:
    report = run(
        "a:\n  test.nop:\n    - delayed_render:\n      - block: B\n#!delayed_block B"
        + VM.replace("\n    ", "\n")
        + "\nuse:\n  thing.made:\n    - data: {seen: '${delayed:vm.data.ip}'}\n#!end_delayed_block\n"
    )
    assert got(report, "a>B#1>use") == "10.0.0.7"


def test_names_stay_in_their_scope_and_the_error_says_where_they_are() -> None:
    report = run(
        VM + "        - delayed_render:\n          - block: B\n"
        "    #!delayed_block B\n    later:\n      test.nop:\n        - x: ${delayed:vm.data.ip}\n    #!end_delayed_block\n"
    )
    assert "asks for 'vm', which no state registers" in comment_of(report, "vm>B")
    assert "it is registered outside of this block" in comment_of(report, "vm>B")


def test_a_file_without_references_may_use_register_as_it_likes() -> None:
    """“no existing SLS changes its meaning”."""
    report = run("a:\n  test.nop:\n    - register: [whatever, 7]\n")
    assert ids(report) == ["a"]


def test_low_data_shows_the_text_as_written() -> None:
    text = using("${delayed:vm.data.ip}").replace("thing.made", "test.nop").replace("\n    ", "\n")
    assert low({"main.sls": text})[1]["seen"] == "${delayed:vm.data.ip}"


def test_the_path_of_an_answer_is_its_id() -> None:
    assert paths(run(using("${delayed:vm.data.ip}"))) == ["vm", "use"]
