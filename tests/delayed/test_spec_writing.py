"""The decisions, “What the user writes”: a test for each sentence."""

from __future__ import annotations

import pytest
from tests.delayed.thing import answer_of, attempted, paths, problem, run, seen, value_of
from tests.kit import ids

CALLER = "a:\n  thing.made:\n    - data: {ip: 10.0.0.7}\n    - delayed_render:\n      - block: B\n"
BLOCK = (
    "#!delayed_block B\nlater:\n  test.nop:\n    - seen: {{ prev_ret.data.ip | tojson }}\n"
    "#!end_delayed_block\n"
)


def test_blocks_and_files_are_mixed_with_context_and_when() -> None:
    """The example at the top of the page."""
    report = run(
        """
        vm:
          thing.made:
            - data: {ip: 10.0.0.7}
            - delayed_render:
              - block: use_vm
              - sls: dns.records
              - block: report
                context: {zone: example.org}
                when: always

        #!delayed_block use_vm scoped delayed_repeat_limit=3
        vm_host_entry:
          test.nop:
            - seen: {{ prev_ret.data.ip | tojson }}
        #!end_delayed_block use_vm
        #!delayed_block report
        told:
          test.nop:
            - seen: {{ zone }}
        #!end_delayed_block
        """,
        {"dns/records.sls": "record:\n  test.nop: []\n"},
    )
    assert ids(report) == ["vm", "vm_host_entry", "record", "told"]
    assert seen(report, "vm>use_vm#1>vm_host_entry") == "10.0.0.7"
    assert seen(report, "vm>report#1>told") == "example.org"


@pytest.mark.parametrize(
    "words",
    [
        "scoped",
        "delayed_repeat_limit=2",
        "delayed_repeat_limit=None",
        "refresh=grains",
        "refresh=grains,pillar,modules",
        "refresh=pillar delayed_repeat_limit=9 scoped",
        "  scoped   ",
        "\tscoped",
    ],
)
def test_the_words_of_a_tag_come_in_any_order(words: str) -> None:
    """“`#!delayed_block NAME [scoped] [delayed_repeat_limit=N|None] [refresh=grains,pillar,modules]`”."""
    report = run(CALLER + BLOCK.replace("block B", f"block B {words}"))
    assert seen(report, "a>B#1>later") == "10.0.0.7"


def test_lines_may_end_as_windows_ends_them() -> None:
    """“Column 0, a line of its own, LF or CRLF.”"""
    report = run((CALLER + BLOCK).replace("\n", "\r\n"))
    assert seen(report, "a>B#1>later") == "10.0.0.7"


def test_a_tag_that_is_indented_is_text() -> None:
    """“A tag that is indented is text: file contents inside `contents: |` can never sit at column 0.”"""
    report = run(
        "{{ pillar.scratch }}/x:\n  file.managed:\n"
        "    - contents: |\n        #!delayed_block B\n        text\n"
        "b:\n  test.nop:\n    - seen: {{ 1 }}\n"
    )
    assert report.answers[0].chunk.args["contents"] == "#!delayed_block B\ntext\n"
    assert report.unused == []


def test_a_tag_is_found_where_the_renderer_would_not_look() -> None:
    """“Found before any renderer runs, whatever the renderer is.”"""
    report = run(
        CALLER
        + "{# a comment that is not ended before the block\n"
        + BLOCK
        + "and ends behind it #}\n{% raw %}\nb:\n  test.nop:\n    - raw: '{{ x }}'\n{% endraw %}\n"
    )
    assert ids(report) == ["a", "later", "b"]


def test_every_start_needs_an_end() -> None:
    """“Every start needs an end … compile errors that name both lines.”"""
    assert problem(CALLER + "#!delayed_block B\n").startswith("main.sls:6: the block 'B' is not ended")
    assert problem("#!end_delayed_block B\n").startswith("main.sls:1: this end_delayed_block ends no block")


def test_a_named_end_must_match_and_both_lines_are_named() -> None:
    """“a named end must match; both mistakes are compile errors that name both lines”."""
    told = problem(CALLER + "#!delayed_block B\n\n#!end_delayed_block C\n")
    assert told.startswith("main.sls:8: end_delayed_block names 'C'")
    assert "begun: main.sls:6" in told


def test_unknown_words_are_errors_with_a_column() -> None:
    """“Unknown words on the tag are errors with a column.”"""
    told = problem(CALLER + "#!delayed_block B scopd\n#!end_delayed_block\n")
    assert told.startswith("main.sls:6:19: 'scopd' is not a word of this tag [delayed-word]")
    assert "did you mean 'scoped'?" in told


@pytest.mark.parametrize(
    ("top", "times"),
    [
        ("#!delayed_sls delayed_repeat_limit=2\n", 2),
        ("\n# a comment\n\n#!delayed_sls delayed_repeat_limit=2\n", 2),
        ("#!jinja|yaml\n#!delayed_sls delayed_repeat_limit=2\n", 2),
        ("#!delayed_sls\n", 1),
        ("x:\n  test.nop: []\n#!delayed_sls delayed_repeat_limit=2\n", 1),
        ("#!delayed_sls delayed_repeat_limit=2\r\n", 2),
    ],
)
def test_delayed_sls_stands_before_the_first_line_that_says_something(top: str, times: int) -> None:
    """“before the first line that is neither blank nor comment; a renderer shebang may come first”."""
    report = run(
        """
        {% for name in 'abc' %}
        {{ name }}:
          test.nop:
            - delayed_render:
              - sls: other
        {% endfor %}
        """,
        {"other.sls": top + "later:\n  test.nop: []\n"},
    )
    assert ids(report).count("later") == times


def test_words_of_delayed_sls_are_checked_with_their_column() -> None:
    """“`#!delayed_sls [scoped] [delayed_repeat_limit=N] [refresh=…]`”."""
    told = problem(
        "a:\n  test.nop:\n    - delayed_render:\n      - sls: other\n",
        {"other.sls": "#!jinja|yaml\n#!delayed_sls scoped limit=3\n"},
    )
    assert told.startswith("other.sls:2:22: 'limit=3' is not a word of this tag [delayed-word]")


@pytest.mark.parametrize("first", ["delayed_blocks", "delayed_slses"])
def test_the_order_between_the_drafts_keys_is_as_written(first: str) -> None:
    """“Draft spellings are accepted as sugar … (order between the two keys: as written)”."""
    keys = {"delayed_blocks": "B", "delayed_slses": "other"}
    order = [first, *(key for key in keys if key != first)]
    listed = "".join(f"    - {key}: [{keys[key]}]\n" for key in order)
    report = run(
        f"a:\n  test.nop:\n{listed}#!delayed_block B\nb:\n  test.nop: []\n#!end_delayed_block\n",
        {"other.sls": "o:\n  test.nop: []\n"},
    )
    assert ids(report) == (["a", "b", "o"] if first == "delayed_blocks" else ["a", "o", "b"])


def test_the_drafts_tags_take_the_same_words() -> None:
    """“each on a line of its own, `{% delayed_block NAME %}` … `{% end_delayed_block %}`”."""
    report = run(
        "{% set x = 5 %}\n"
        "a:\n  test.nop:\n    - delayed_render:\n      - block: B\n"
        "{% delayed_block B scoped %}\nb:\n  test.nop:\n    - seen: {{ x }}\n{% end_delayed_block B %}\n"
    )
    assert seen(report, "a>B#1>b") == 5


def test_delay_render_gets_a_did_you_mean() -> None:
    """“`delay_render` gets a "did you mean".”"""
    outcome = attempted("a:\n  test.nop:\n    - delay_render:\n      - block: B\n")
    assert "'delayed_render'" in "\n".join([*outcome.texts, *outcome.warnings])


def test_python_blocks_have_a_scope_and_a_limit_and_receive_prev_ret() -> None:
    """“functions decorated `@delayed_block("NAME", scoped=…, delayed_repeat_limit=…)` are blocks”."""
    report = run(
        """\
        #!py
        def run():
            call = [{"delayed_render": [{"block": "use"}]}]
            return {name: {"test.nop": call} for name in ("a", "b", "c")}

        @delayed_block("use", scoped=True, delayed_repeat_limit=2)
        def use(prev_ret):
            return {"later": {"test.nop": [{"seen": prev_ret["name"]}]}}
        """
    )
    assert paths(report) == ["a", "a>use#1>later", "b", "b>use#2>later", "c", "c>use"]
    assert seen(report, "b>use#2>later") == "b"
    assert value_of(report, "c>use") is False


def test_the_configuration_changes_the_default_of_one() -> None:
    """“Config key `delayed_repeat_limit` … changes the default 1.”"""
    text = CALLER + CALLER.replace("a:", "b:", 1) + BLOCK
    assert "b>B" in paths(run(text))
    assert answer_of(run(text, config={"delayed_repeat_limit": None}), "b>B#2>later").depth == 1
