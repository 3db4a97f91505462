"""The decisions, “Scanning”: a test for each sentence."""

from __future__ import annotations

import pytest
from tests.delayed.thing import answer_of, comment_of, paths, problem, problems, run, seen, value_of
from tests.kit import ids

CALLER = "a:\n  test.nop:\n    - delayed_render:\n      - block: B\n"
BLOCK = "#!delayed_block B\nlater:\n  test.nop: []\n#!end_delayed_block\n"


def test_lines_behind_a_block_keep_their_numbers() -> None:
    """“The cut text is replaced by empty lines, so that every later line number stays right”."""
    report = run(CALLER + BLOCK + "last:\n  test.nop: []\n")
    assert answer_of(report, "last").chunk.mark().line == 10


def test_a_block_remembers_its_file_and_first_line() -> None:
    """“the block remembers its file and first line”."""
    (frame,) = run(CALLER + BLOCK).frames
    assert str(frame.where).endswith("/main.sls:5")


@pytest.mark.parametrize(
    ("inside", "line", "said"),
    [
        ("fine:\n  test.nop: []\n\n{{ missing }}\n", 9, "'missing' is undefined"),
        ("fine:\n  test.nop: []\nbad: [\n", 8, "a '[' or '{' is not closed"),
        ("fine:\n  test.nop:\n    - requires:\n      - x\n    - require: [test: x]\n", 10, "'x'"),
        ("\n\nfine:\n  test.nop: []\nfine:\n  test.nop: []\n", 10, "fine"),
        ("fine: text\n", 6, "fine"),
        ("{% for x in %}\n", 6, ""),
    ],
)
def test_errors_of_a_block_are_reported_at_the_original_place(inside: str, line: int, said: str) -> None:
    """“all its errors are reported at the original file:line”."""
    report = run(CALLER + "#!delayed_block B\n" + inside + "#!end_delayed_block\n")
    told = comment_of(report, "a>B")
    assert f"main.sls:{line}" in told
    assert said in told
    assert value_of(report, "a>B") is False


def test_states_of_a_block_are_at_their_original_place() -> None:
    """The same sentence, for what is right."""
    report = run(
        CALLER + "#!delayed_block B\n{% if 1 %}\nlater:\n  test.nop: []\n{% endif %}\n#!end_delayed_block\n"
    )
    assert answer_of(report, "a>B#1>later").chunk.mark().line == 8


def test_nothing_in_a_block_is_looked_at_until_its_frame_starts() -> None:
    """“Contents may be anything: unrenderable Jinja, broken YAML, nested blocks.”"""
    report = run(
        "first:\n  test.nop: []\n"
        + CALLER
        + "#!delayed_block B\n{% broken\n: [\n#!end_delayed_block\nlast:\n  test.nop: []\n"
    )
    assert ids(report) == ["first", "a", "B", "last"]


def test_inner_blocks_are_found_when_the_outer_one_is_rendered() -> None:
    """“Inner blocks are found when the outer one is rendered.”"""
    text = CALLER.replace("B", "inner") + (
        "#!delayed_block outer\n#!delayed_block inner\nx:\n  test.nop: []\n"
        "#!end_delayed_block\n#!end_delayed_block\n"
    )
    assert "names the block 'inner', which this file does not have" in problem(text)


def test_a_wrong_word_on_an_inner_tag_waits_for_its_frame() -> None:
    """The same sentence: what is wrong inside is told when its turn comes."""
    text = (
        CALLER
        + "#!delayed_block B\n#!delayed_block inner nonsense\n#!end_delayed_block\n#!end_delayed_block\n"
    )
    report = run(text)
    comment = comment_of(report, "a>B").replace("\n", " ")
    assert "main.sls:6:23: 'nonsense' is not a word of this tag" in comment


# -- templates ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "how",
    [
        "{% include 'part.jinja' %}\n",
        "{% include 'part.jinja' without context %}\n",
        "{% include ['missing.jinja', 'part.jinja'] %}\n",
        "{% include 'outer.jinja' %}\n",
        "{% for _ in range(3) %}{% include 'part.jinja' %}{% endfor %}\n",
    ],
)
def test_blocks_of_included_templates_belong_to_the_file(how: str) -> None:
    """“including those that stand in templates it pulls in with Jinja `include`”."""
    report = run(how + CALLER, {"part.jinja": BLOCK, "outer.jinja": "{% include 'part.jinja' %}"})
    assert ids(report) == ["a", "later"]
    assert str(report.frames[0].where).endswith("/part.jinja:1")


def test_blocks_of_extended_templates_belong_to_the_file() -> None:
    """“…/`extends` (scan in the template loader …)”."""
    base = BLOCK + "{% block body %}{% endblock %}\n"
    report = run(
        "{% extends 'base.jinja' %}\n{% block body %}\n" + CALLER + "{% endblock %}\n", {"base.jinja": base}
    )
    assert ids(report) == ["a", "later"]


def test_a_template_that_is_not_really_included_registers_nothing() -> None:
    """“a template that is not actually included registers nothing”."""
    told = problem("{% if false %}{% include 'part.jinja' %}{% endif %}\n" + CALLER, {"part.jinja": BLOCK})
    assert "names the block 'B', which this file does not have" in told


@pytest.mark.parametrize(
    "how",
    [
        "{% import 'part.jinja' as part %}\n{{ part.x() }}",
        "{% from 'part.jinja' import x %}\n{{ x() }}",
        "{% from 'part.jinja' import x with context %}\n{{ x() }}",
    ],
)
def test_import_cuts_but_does_not_register_and_a_hint_says_so(how: str) -> None:
    """“`import`/`from` cut but do not register, and using such a name gets a hint”."""
    part = "{% macro x() %}\n# nothing\n{% endmacro %}\n" + BLOCK
    assert ids(run(how + "\nb:\n  test.nop: []\n", {"part.jinja": part})) == ["b"]
    told = problem(how + "\n" + CALLER, {"part.jinja": part})
    assert "its template is only imported; include or extend it" in told
    assert "imported: part.jinja:4" in told


def test_two_files_may_both_have_a_block_of_one_name() -> None:
    """“Two files may both have a block `A`”."""
    report = run(
        "include:\n  - other\n" + CALLER + BLOCK,
        {"other.sls": CALLER.replace("a:", "o:", 1) + BLOCK.replace("later", "others")},
    )
    assert paths(report) == ["o", "o>B#1>others", "a", "a>B#1>later"]


def test_two_blocks_of_one_name_at_one_level_are_an_error() -> None:
    """“two at one level of one file are an error with both lines”."""
    told = problem(CALLER + BLOCK + "\n" + BLOCK)
    assert told.startswith("main.sls:10: two blocks of one file are called 'B' [delayed-twice]")
    assert "first: main.sls:5" in told


def test_one_name_at_two_levels_is_fine() -> None:
    """The same sentence: “at one level”."""
    report = run(
        CALLER
        + "#!delayed_block B\nb:\n  test.nop:\n    - delayed_render:\n      - block: B\n"
        + "#!delayed_block B\ninner:\n  test.nop: []\n#!end_delayed_block\n#!end_delayed_block\n"
    )
    assert paths(report) == ["a", "a>B#1>b", "a>B#1>b>B#1>inner"]


def test_the_same_place_registered_twice_is_no_error() -> None:
    """“the same source location registered twice (a loop) is not”."""
    report = run(
        "{% for _ in 'xy' %}\n{% include 'part.jinja' %}\n{% endfor %}\n" + CALLER, {"part.jinja": BLOCK}
    )
    assert ids(report) == ["a", "later"]


def test_a_file_and_its_template_with_one_name_are_an_error() -> None:
    """“Blocks belong to the SLS being rendered”, and there it is twice."""
    told = problem("{% include 'part.jinja' %}\n" + CALLER + BLOCK, {"part.jinja": BLOCK})
    assert "two blocks of one file are called 'B'" in told
    assert "part.jinja:1" in told
    assert "main.sls:6" in told


# -- lookup ------------------------------------------------------------------------------------------


def test_a_name_is_looked_up_in_the_own_block_then_around_it_then_in_the_file() -> None:
    """“Lookup of a name: own block, then enclosing blocks, then the file.”"""
    report = run(
        """
        a:
          test.nop:
            - delayed_render:
              - block: outer

        #!delayed_block outer
        b:
          test.nop:
            - delayed_render:
              - block: middle
        #!delayed_block middle
        c:
          test.nop:
            - delayed_render:
              - block: both
              - block: of_outer
              - block: of_file
        #!delayed_block both
        own:
          test.nop: []
        #!end_delayed_block both
        #!end_delayed_block middle
        #!delayed_block of_outer
        outers:
          test.nop: []
        #!end_delayed_block of_outer
        #!end_delayed_block outer

        #!delayed_block both
        not this:
          test.nop: []
        #!end_delayed_block both
        #!delayed_block of_file
        files:
          test.nop: []
        #!end_delayed_block of_file
        """
    )
    assert ids(report) == ["a", "b", "c", "own", "outers", "files"]


def test_unknown_names_and_files_are_reported_before_anything_runs() -> None:
    """“Unknown names, and SLS that do not exist, are compile errors before anything runs”."""
    told = problems(
        """
        first:
          cmd.run:
            - name: touch {{ pillar.scratch }}/ran
            - delayed_render:
              - block: us_vm
              - sls: dns.recods
        #!delayed_block use_vm
        #!end_delayed_block
        """,
        {"dns/records.sls": ""},
    )
    assert len(told) == 2
    assert told[0].startswith("main.sls:6:9: 'delayed_render' of 'first' names the block 'us_vm'")
    assert "did you mean 'use_vm'?" in told[0]
    assert told[1].startswith("main.sls:7:9: 'delayed_render' of 'first' names the SLS 'dns.recods'")
    assert "did you mean 'dns.records'?" in told[1]


def test_an_entry_of_an_extension_means_the_file_that_wrote_it() -> None:
    """“An entry added by `extend` from another file resolves in the file that wrote the entry.”"""
    report = run(
        """
        include:
          - other
        extend:
          o:
            test.nop:
              - delayed_render:
                - block: mine
        #!delayed_block mine
        of main:
          test.nop:
            - seen: {{ sls }}
        #!end_delayed_block
        """,
        {
            "other.sls": """
            o:
              test.nop:
                - delayed_render:
                  - block: theirs
            #!delayed_block theirs
            of other:
              test.nop: []
            #!end_delayed_block
            """
        },
    )
    assert paths(report) == ["o", "o>theirs#1>of other", "o>mine#1>of main"]
    assert seen(report, "o>mine#1>of main") == "main"


def test_a_relative_sls_is_seen_from_its_file() -> None:
    """A name with dots in front means what `include` means by it."""
    report = run(
        "include: [web]\n",
        {
            "web/init.sls": "w:\n  test.nop:\n    - delayed_render:\n      - sls: .later\n",
            "web/later.sls": "l:\n  test.nop: []\n",
        },
    )
    assert paths(report) == ["w", "w>sls:web.later#1>l"]
