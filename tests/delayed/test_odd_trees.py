"""Trees that nobody would write on purpose, and that broke something once."""

from __future__ import annotations

import os

import pytest
from tests.delayed.thing import attempted, comment_of, paths, problem, result_of, run, seen, value_of
from tests.kit import attempt, request_for, tree

CALLER = "a:\n  test.nop:\n    - delayed_render:\n      - block: B\n"


def block(inside: str, name: str = "B", words: str = "") -> str:
    return f"#!delayed_block {name} {words}\n{inside}\n#!end_delayed_block\n"


def test_a_block_may_include_the_file_it_stands_in() -> None:
    inside = "include:\n  - main\nb:\n  test.nop:\n    - require:\n      - sls: main\n"
    report = run(CALLER + block("c:\n  test.nop: []\n" + inside.replace("- sls: main", "- test: a")))
    assert paths(report) == ["a", "a>B#1>a", "a>B#1>a>B", "a>B#1>c", "a>B#1>b"]
    assert "may be rendered once" in comment_of(report, "a>B#1>a>B")


def test_a_block_may_include_a_file_that_includes_its_own() -> None:
    other = "include:\n  - main\no:\n  test.nop: []\n"
    report = run(CALLER + block("include:\n  - other\nb:\n  test.nop: []"), {"other.sls": other})
    assert paths(report) == ["a", "a>B#1>a", "a>B#1>a>B", "a>B#1>o", "a>B#1>b"]


@pytest.mark.parametrize("config", [{}, {"failhard": True}])
def test_nothing_more_is_rendered_for_a_failhard_caller_after_a_block_that_is_wrong(
    config: dict[str, object],
) -> None:
    word = "" if config else "    - failhard: true\n"
    text = CALLER + "      - block: C\n" + word + "last:\n  test.nop: []\n"
    report = run(text + block("x: [") + block("c:\n  test.nop: []", "C"), config=config)
    assert paths(report) == ["a", "a>B", "a>C", "last"]
    assert [result_of(report, path).ran for path in paths(report)] == [True, True, False, False]
    assert comment_of(report, "a>C").startswith("not rendered (failhard): ")


def test_a_failhard_caller_that_failed_still_has_its_targets_for_failures() -> None:
    text = """
        a:
          thing.made:
            - fails: true
            - failhard: true
            - delayed_render:
              - block: B
              - block: C
                when: failure
              - block: D
                when: failure
        #!delayed_block B
        #!end_delayed_block
        #!delayed_block C
        c:
          test.nop: []
        #!end_delayed_block
        #!delayed_block D
        d:
          test.nop: []
        #!end_delayed_block
        last:
          test.nop: []
        """
    report = run(text)
    assert paths(report) == ["a", "a>B", "a>C#1>c", "a>D#1>d", "last"]
    assert not result_of(report, "last").ran


def test_data_that_is_not_spelt_out_in_its_file_delays_all_the_same() -> None:
    states = {"a": {"test.nop": [{"delayed_render": [{"sls": "other"}]}]}}
    report = run(
        "#!py\ndef run():\n    return __pillar__['states']\n",
        {"other.sls": "o:\n  test.nop: []\n"},
        pillar={"states": states},
    )
    assert paths(report) == ["a", "a>sls:other#1>o"]


def test_two_files_give_one_caller_blocks_of_one_name_and_their_paths_differ() -> None:
    extend = (
        "include:\n  - other\nextend:\n  o:\n    test.nop:\n      - delayed_render:\n        - block: B\n"
    )
    other = "o:\n  test.nop:\n    - delayed_render:\n      - block: B\n" + block("x:\n  test.nop: []")
    report = run(extend + block("x:\n  test.nop: []"), {"other.sls": other})
    assert paths(report) == ["o", "o>B#1>x", "o>B#2>x"]


def test_each_of_many_targets_sees_those_before_it() -> None:
    text = "a:\n  test.nop:\n    - delayed_render:\n" + "      - block: B\n" * 20
    inside = "x:\n  test.nop:\n    - seen: {{ prev_ret.delayed | length }}\n"
    report = run(text + block(inside, words="delayed_repeat_limit=None"))
    assert [seen(report, f"a>B#{at + 1}>x") for at in range(20)] == list(range(20))


def test_what_one_target_does_to_the_list_of_those_before_it_is_its_own_business() -> None:
    text = "a:\n  test.nop:\n    - delayed_render:\n" + "      - block: B\n" * 3
    inside = (
        "{% set before = prev_ret.delayed | length %}\n{% do prev_ret.delayed.append('x') %}\n"
        "x:\n  test.nop:\n    - seen: {{ before }}\n"
    )
    report = run(text + block(inside, words="delayed_repeat_limit=None"))
    assert [seen(report, f"a>B#{at}>x") for at in (1, 2, 3)] == [0, 1, 2]


def test_every_block_of_a_file_keeps_its_compiled_template() -> None:
    """One for the file, and one for each block: none drives out another's."""
    inside = "x:\n  test.nop:\n    - seen: {{ prev_ret.name }}"
    text = "{# a template #}\na:\n  test.nop:\n    - delayed_render:\n      - block: B\n      - block: C\n"
    files = {"main.sls": text + block(inside) + block(inside, "C")}
    with tree(files) as made:
        for _ in range(2):
            attempt(made, request_for(files))
        kept = [name for _, _, names in os.walk(os.path.join(made.place, "cache")) for name in names]
    assert len(kept) == 3


WRONG = {
    "{{ 'x }}": "template-syntax",  # the lexer
    "{% if %}": "template-syntax",  # the parser
    "{{ x | nothing }}": "template-syntax",
    "{{ missing }}": "template-undefined",
    "{{ 1 / 0 }}": "template-failed",
    "{% load_yaml as x %}{ {% endload %}": "template-failed",
    "{% load_yaml as x %}\n{\n{% endload %}": "template-failed",
    "{% import_yaml 'bad.yaml' as x %}": "bad.yaml:1",
    "{% include 'gone' %}": "template-not-found",
    "x: [": "yaml-syntax",
    "{{ 'x' }}: [": "yaml-syntax",
    "x:\n  test.nop: {{ 1 }}": "1",
}


@pytest.mark.parametrize("words", ["", "scoped"])
@pytest.mark.parametrize("inside", list(WRONG))
def test_what_is_wrong_deep_in_a_file_is_reported_at_its_line(inside: str, words: str) -> None:
    above = "# nothing\n" * 40
    text = above + CALLER + block(f"{{# one #}}\n\n{inside}", words=words)
    told = comment_of(run(text, {"bad.yaml": "x: ["}), "a>B")
    assert WRONG[inside] in told
    assert "main.sls:48" in told or "bad.yaml" in WRONG[inside] or "main.sls:49" in told


def test_lines_of_a_block_are_right_below_lines_of_windows() -> None:
    text = (CALLER + block("{# one #}\n{{ missing }}")).replace("\n", "\r\n")
    assert "main.sls:7" in comment_of(run(text), "a>B")


def test_an_id_that_only_a_block_has_cannot_be_asked_for_and_the_answer_says_where_it_is() -> None:
    told = problem(CALLER + block("x:\n  test.nop: []"), request={"sls": ("main",), "id": "x"})
    assert "inside block 'B'" in told


def test_a_run_of_a_block_that_includes_broken_files_goes_on() -> None:
    outcome = attempted(
        CALLER + "last:\n  test.nop: []\n" + block("include:\n  - broken\n"), {"broken.sls": "x: ["}
    )
    assert outcome.report is not None
    assert [value_of(outcome.report, path) for path in ("a", "a>B", "last")] == [True, False, True]


@pytest.mark.parametrize("above", ["", "#!jinja|yaml\n", "#!jinja|yaml\r\n\r\n"])
def test_the_options_of_a_template_are_those_of_its_blocks(above: str) -> None:
    head = '#jinja2: {"variable_start_string": "<<", "variable_end_string": ">>"}\n'
    inner = "y:\n  test.nop:\n    - seen: << prev_ret.__id__ >>\n    - x: << missing >>"
    inside = "x:\n  test.nop:\n    - seen: << prev_ret.__id__ >>\n    - delayed_render:\n      - block: C\n"
    report = run(above + head + CALLER + block(inside + block(inner, "C")))
    assert seen(report, "a>B#1>x") == "a"
    lines = above.count("\n") + 16
    assert f"main.sls:{lines}: 'missing' is undefined" in comment_of(report, "a>B#1>x>C")


def test_an_interrupt_while_a_block_is_rendered_leaves_a_placeholder_for_all_that_is_left() -> None:
    text = """\
        #!py
        def run():
            calls = [{"block": "B"}, {"sls": "other"}]
            return {"a": {"test.nop": [{"delayed_render": calls}]}, "last": {"test.nop": []}}

        @delayed_block("B")
        def later(prev_ret):
            raise KeyboardInterrupt
        """
    report = run(text, {"other.sls": "o:\n  test.nop: []\n"})
    assert paths(report) == ["a", "a>B", "a>sls:other", "last"]
    assert [result_of(report, path).ran for path in paths(report)] == [True, False, False, False]
    assert comment_of(report, "a>B") == "not rendered (interrupted): the run was interrupted"


@pytest.mark.parametrize("words", ["delayed_repeat_limit=1 delayed_repeat_limit=2", "scoped scoped"])
def test_a_word_that_stands_twice_on_a_tag_is_reported(words: str) -> None:
    told = problem(CALLER + block("", words=words))
    assert f"{words.split()[0].split('=')[0]!r} is defined twice" in told


def test_a_list_of_names_in_an_entry_is_reported_how_to_write_it() -> None:
    told = problem("a:\n  test.nop:\n    - delayed_render:\n      - block:\n          - B\n")
    assert "names a list" in told and "write '- block: NAME'" in told
