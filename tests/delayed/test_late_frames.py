"""Late values and delayed frames together."""

from __future__ import annotations

from tests.delayed.thing import comment_of, problems, result_of, run, seen, value_of

TEXT = """
    vm:
      thing.made:
        - data: {ip: 10.0.0.7, port: 8080}
        - register: vm

    use:
      thing.made:
        - name: host ${delayed:vm.data.ip}
        - delayed_render:
          - block: B
            context: {port: "${delayed:vm.data.port}"}

    #!delayed_block B
    later:
      test.nop:
        - seen: {{ [prev_ret.name, port + 1] | tojson }}
    #!end_delayed_block
    """
UNKNOWN = TEXT.replace("- register", "- changed: true\n        - register")


def test_a_frame_sees_the_name_and_the_context_that_its_caller_really_had() -> None:
    """“in any argument of a later state … typed (a number stays a number)”."""
    assert seen(run(TEXT), "use>B#1>later") == ["host 10.0.0.7", 8081]


def test_a_caller_that_is_there_already_hands_over_its_context_as_well() -> None:
    text = TEXT.replace("- name: host", "- unless: 'true'\n        - name: host")
    assert seen(run(text), "use>B#1>later") == ["host 10.0.0.7", 8081]


def test_in_a_test_run_the_frames_of_a_state_that_waits_for_a_value_are_deferred_too() -> None:
    """“Caller None … → not rendered: one placeholder, result None … Never render on guesses.”"""
    report = run(UNKNOWN, test=True)
    assert (value_of(report, "use>B"), result_of(report, "use>B").ran) == (None, False)
    assert comment_of(report, "use>B") == "not rendered: known after use is applied"


def test_a_context_whose_path_does_not_exist_fails_its_caller() -> None:
    report = run(TEXT.replace("data.port", "data.prot"))
    assert "vm.data has no 'prot'" in comment_of(report, "use")
    assert comment_of(report, "use>B") == "not rendered: use failed"


def test_a_context_that_asks_for_nobody_is_reported_before_the_run() -> None:
    (problem,) = problems(TEXT.replace("delayed:vm.data.port", "delayed:mv.data.port"))
    assert "asks for 'mv', which no state registers" in problem
