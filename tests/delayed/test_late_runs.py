"""Late values and what else happens around a call: test mode, parallel, prereq, retry, watch, blocks."""

from __future__ import annotations

import pytest
from tests.delayed.machine import VM, got, using
from tests.delayed.thing import (
    comment_of,
    paths,
    result_of,
    run,
    seen,
)
from tests.kit import ids, low


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
    assert result_of(report, "(no_log, order 10000)").data == {}
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


def test_a_state_that_was_skipped_has_no_data_and_that_is_reported() -> None:
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
        VM
        + """
    a:
      test.nop:
        - delayed_render:
          - block: B
    #!delayed_block B
    later:
      test.nop:
        - x: ${delayed:vm.data.ip}
    #!end_delayed_block
    """
    )
    told = comment_of(report, "a>B")
    assert "main.sls:14:7: 'x' of 'later' asks for 'vm', which no state registers" in told
    assert "it is registered outside of this block (" in told


def test_a_file_without_references_may_use_register_as_it_likes() -> None:
    """“no existing SLS changes its meaning”."""
    report = run("a:\n  test.nop:\n    - register: [whatever, 7]\n")
    assert ids(report) == ["a"]


def test_low_data_shows_the_text_as_written() -> None:
    text = using("${delayed:vm.data.ip}").replace("thing.made", "test.nop").replace("\n    ", "\n")
    assert low({"main.sls": text})[1]["seen"] == "${delayed:vm.data.ip}"


def test_the_path_of_an_answer_is_its_id() -> None:
    assert paths(run(using("${delayed:vm.data.ip}"))) == ["vm", "use"]
