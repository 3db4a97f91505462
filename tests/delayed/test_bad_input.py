"""What people get wrong: each mistake has its message at the original line, and the run goes on."""

from __future__ import annotations

import pytest
from tests.delayed.thing import attempted, comment_of, problem, problems, result_of, run, value_of
from tests.kit import ids

from saltern.config.load import load
from saltern.language.diagnostics import OperationError, SalternError

CALLER = "a:\n  test.nop:\n    - delayed_render:\n      - block: B\n"
LAST = "last:\n  test.nop: []\n"
BLOCK = "#!delayed_block B\nlater:\n  test.nop: []\n#!end_delayed_block\n"


# -- tags --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tags", "said"),
    [
        ("#!delayed_block B\nx", ["main.sls:5: the block 'B' is not ended [delayed-no-end]"]),
        ("#!end_delayed_block", ["main.sls:5: this end_delayed_block ends no block [delayed-no-start]"]),
        (
            "#!end_delayed_block B\n#!delayed_block B",
            ["main.sls:5: this end", "main.sls:6: the block 'B' is not ended"],
        ),
        (
            "#!delayed_block B\n#!end_delayed_block B\n#!end_delayed_block B",
            ["main.sls:7: this end_delayed_block ends no block"],
        ),
        (
            "#!delayed_block B\n#!delayed_block C\n#!end_delayed_block B\n#!end_delayed_block C",
            [
                "main.sls:7: end_delayed_block names 'B', but the block it ends is 'C'",
                "main.sls:8: end_delayed_block names 'C'",
            ],
        ),
        (
            "#!delayed_block B\n#!delayed_block C\n#!end_delayed_block",
            ["main.sls:5: the block 'B' is not ended"],
        ),
        (
            "#!delayed_block\n#!end_delayed_block",
            ["main.sls:5:16: delayed_block has no name [delayed-no-name]"],
        ),
        ("#!delayed_block scoped=1\n#!end_delayed_block", ["main.sls:5:16: delayed_block has no name"]),
        (
            "#!delayed_block B C\n#!end_delayed_block",
            ["main.sls:5:19: 'C' is not a word of this tag [delayed-word]"],
        ),
        (
            "#!delayed_block B\n#!end_delayed_block B C",
            ["main.sls:6: end_delayed_block takes one name, not 2 words"],
        ),
        (
            "#!delayed_blok B\n#!end_delayed_blok",
            [
                "main.sls:5:3: there is no tag '#!delayed_blok'",
                "main.sls:6:3: there is no tag '#!end_delayed_blok'",
            ],
        ),
        ("#!delayed_block B scoped=yes\n#!end_delayed_block", ["main.sls:5:19: 'scoped' takes no value"]),
        (
            "#!delayed_block B refresh\n#!end_delayed_block",
            ["main.sls:5:19: refresh does not support ''"],
        ),
        (
            "#!delayed_block B refresh=grains,,\n#!end_delayed_block",
            ["main.sls:5:19: refresh does not support ''"],
        ),
        ("{% delayed_block %}\n{% end_delayed_block %}", ["main.sls:5:17: delayed_block has no name"]),
        ("{% delayed_block B %}\n", ["main.sls:5: the block 'B' is not ended"]),
    ],
)
def test_tags_that_do_not_match_or_cannot_be_read(tags: str, said: list[str]) -> None:
    told = problems(f"a:\n  test.nop: []\n\n\n{tags}\n")
    assert len(told) == len(said)
    for one, start in zip(told, said, strict=True):
        assert one.startswith(start)
        assert "fix: " in one


def test_all_mistakes_of_a_file_are_reported_at_once() -> None:
    tags = (
        "#!delayed_block A x\n#!end_delayed_block\n"
        "#!delayed_block A\n#!end_delayed_block B\n#!end_delayed_block\n"
    )
    assert len(problems(tags)) == 3


def test_a_tag_in_a_template_is_reported_there() -> None:
    told = problem("{% include 'part.jinja' %}\n", {"part.jinja": "\n#!delayed_block B\n"})
    assert told.startswith("part.jinja:2: the block 'B' is not ended")


@pytest.mark.parametrize(
    "text",
    [
        "a:\n  test.nop:\n    - contents: |\n        #!delayed_block B\n        #!end_delayed_block\n",
        "a:\n  test.nop:\n    - contents: '#!delayed_block B'\n",
        "a:\n  test.nop:\n    - contents: |\n        {% raw %}{% delayed_block B %}{% endraw %}\n",
        "# see #!delayed_block B\na:\n  test.nop: []\n",
        " #!delayed_block B\na:\n  test.nop: []\n",
        "##!delayed_block B\na:\n  test.nop: []\n",
    ],
)
def test_tags_inside_strings_and_comments_are_text(text: str) -> None:
    report = run(text)
    assert (ids(report), report.unused) == (["a"], [])


def test_a_drafts_tag_without_an_end_is_reported_wherever_it_stands() -> None:
    told = problem("a:\n  test.nop:\n    - x: {% delayed_block B %}\n")
    assert told.startswith("main.sls:3: the block 'B' is not ended [delayed-no-end]")
    assert "end it with '{% end_delayed_block B %}'" in told


# -- limits ------------------------------------------------------------------------------------------------

WRONG = ["0", "-1", "1.5", "true", '"3"', "three", "", "1e3", "9" * 40, "+1", "0x1"]


@pytest.mark.parametrize("limit", WRONG)
def test_a_wrong_limit_on_a_tag(limit: str) -> None:
    """“0, negatives, floats and booleans are compile errors.”"""
    told = problem(CALLER + f"#!delayed_block B delayed_repeat_limit={limit}\n#!end_delayed_block\n")
    assert told.startswith("main.sls:5:19: delayed_repeat_limit ")
    assert "[delayed-limit]" in told
    assert "write a whole number of at least 1, or None for no limit" in told


@pytest.mark.parametrize("limit", WRONG)
def test_a_wrong_limit_of_a_delayed_sls(limit: str) -> None:
    told = problem(
        CALLER.replace("block: B", "sls: other"),
        {"other.sls": f"#!delayed_sls delayed_repeat_limit={limit}\n"},
    )
    assert told.startswith("other.sls:1:15: delayed_repeat_limit ")
    assert "[delayed-limit]" in told


@pytest.mark.parametrize("limit", ["0", "-1", "1.5", "True", '"3"', "[]", '"three"', "float('nan')"])
def test_a_wrong_limit_of_a_decorator(limit: str) -> None:
    told = problem(
        f'#!py\ndef run():\n    return {{}}\n\n@delayed_block("B", delayed_repeat_limit={limit})\n'
        "def b(prev_ret):\n    pass\n"
    )
    assert told.startswith("main.sls:5: delayed_repeat_limit is ")
    assert "[delayed-limit]" in told


@pytest.mark.parametrize("limit", ["0", "-1", "1.5", "true", "three", "[1]", "{}"])
def test_a_wrong_limit_in_the_configuration(limit: str, tmp_path: object) -> None:
    path = f"{tmp_path}/saltern.yaml"
    with open(path, "w") as file:
        file.write(f"delayed_repeat_limit: {limit}\n")
    with pytest.raises(SalternError) as caught:
        load(path, {}, {})
    (told,) = map(str, caught.value.diagnostics)
    assert "delayed_repeat_limit" in told
    assert "a whole number from 1 on, or None" in told


def test_a_number_in_quotes_is_a_number_in_the_configuration(tmp_path: object) -> None:
    """As for every other number there: environment variables have nothing but text."""
    path = f"{tmp_path}/saltern.yaml"
    with open(path, "w") as file:
        file.write('delayed_repeat_limit: "3"\n')
    assert load(path, {}, {})[0].delayed_repeat_limit == 3


# -- entries -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ("delayed_render: B", "'delayed_render' of 'a' is text, not a list [delayed-not-list]"),
        ("delayed_render: {block: B}", "is a mapping, not a list"),
        ("delayed_render: [B]", "has text where an entry belongs [delayed-entry]"),
        ("delayed_render: [7]", "has a number where an entry belongs"),
        ("delayed_render: [{}]", "has an entry without a name"),
        ("delayed_render: [{when: always}]", "has an entry without a name"),
        ("delayed_render: [{block: B, sls: x}]", "has an entry with both a block and an sls"),
        ("delayed_render: [{blok: B}]", "has the key 'blok', which is not known"),
        ("delayed_render: [{block: [B]}]", "names a list; a name is text"),
        ("delayed_render: [{block: 7}]", "names a number; a name is text"),
        ("delayed_render: [{block: ''}]", "names "),
        ("delayed_render: [{block: B, context: [x]}]", "has a list for 'context'"),
        ("delayed_render: [{block: B, context: {1: x}}]", "has a mapping for 'context'"),
        ("delayed_render: [{block: B, when: [x]}]", "has ['x'] for 'when'"),
        ("delayed_render: [{block: B, when: sometimes}]", "has 'sometimes' for 'when'"),
        ("delayed_blocks: B", "'delayed_blocks' of 'a' is text, not a list"),
        ("delayed_blocks: [{block: B}]", "has a mapping where a name belongs"),
        ("delayed_slses: [7]", "has a number where a name belongs"),
        ("delayed_render: [{sls: '...x'}]", "leads out of the tree"),
        ("delayed_render: [{sls: '../../etc/passwd'}]", "leads out of the tree"),
    ],
)
def test_entries_that_are_none(entries: str, said: str) -> None:
    told = problem(f"a:\n  test.nop:\n    - {entries}\n" + BLOCK)
    assert told.startswith("main.sls:3:")
    assert said in told
    assert "fix: " in told


def test_a_missing_sls_is_reported_before_anything_runs() -> None:
    told = problem("a:\n  test.nop:\n    - delayed_render:\n      - sls: nowhere.to.be\n")
    assert told.startswith(
        "main.sls:4:9: 'delayed_render' of 'a' names the SLS 'nowhere.to.be', which does not exist"
    )
    assert "it would be nowhere/to/be.sls or nowhere/to/be/init.sls" in told


def test_a_missing_sls_of_a_block_fails_its_frame() -> None:
    report = run(
        CALLER
        + LAST
        + "#!delayed_block B\nx:\n  test.nop:\n    - delayed_render:\n      - sls: nowhere\n"
        + "#!end_delayed_block\n"
    )
    assert "main.sls:11:9: 'delayed_render' of 'x' names the SLS 'nowhere'" in comment_of(report, "a>B")
    assert result_of(report, "last").ran


def test_an_unknown_block_of_a_block_fails_its_frame() -> None:
    report = run(
        CALLER
        + LAST
        + "#!delayed_block B\nx:\n  test.nop:\n    - delayed_render:\n      - block: BB\n"
        + "#!end_delayed_block\n"
    )
    assert "names the block 'BB', which this file does not have" in comment_of(report, "a>B")
    assert result_of(report, "last").ran


# -- contents ----------------------------------------------------------------------------------------------


def test_bytes_that_are_not_utf_8_inside_a_block_are_reported_when_it_is_rendered() -> None:
    """“a block whose text is invalid UTF-8 …: each has its message, anchored at the original line”."""
    report = run(
        CALLER + LAST + "#!delayed_block B\nx:\n  test.nop:\n    - y: a\udcff\n#!end_delayed_block\n"
    )
    told = comment_of(report, "a>B")
    assert "main.sls:10:11: the byte 0xff is not UTF-8 [not-utf8]" in told
    assert result_of(report, "last").ran


def test_bytes_that_are_not_utf_8_inside_a_block_that_nobody_calls_hurt_nobody() -> None:
    """“Contents may be anything”."""
    assert ids(run(LAST + "#!delayed_block B\n\udcff\n#!end_delayed_block\n")) == ["last"]


@pytest.mark.parametrize(
    "text", [LAST + "# \udcff\n", "# \udcff\n" + LAST + BLOCK, LAST + BLOCK + "x: \udce4\n"]
)
def test_bytes_that_are_not_utf_8_outside_of_blocks_are_a_compile_error(text: str) -> None:
    assert "is not UTF-8 [not-utf8]" in problem(text)


def test_bytes_that_are_not_utf_8_in_a_template_with_blocks_are_a_compile_error() -> None:
    told = problem("{% include 'p' %}\n", {"p": "\n# \udcff\n" + BLOCK})
    assert told.startswith("p:2:3: the byte 0xff is not UTF-8")


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        ("{% if %}", "main.sls:8"),
        ("{{ x", "main.sls:8"),
        ("{{ 1 / 0 }}", "main.sls:8: "),
        ("{{ prev_ret.nothing.at.all }}", "main.sls:8: "),
        ("{{ prev_ret.data['nothing'] }}", "main.sls:8: "),
        ("{% include 'missing.jinja' %}", "main.sls:8: "),
        ("x: [", "main.sls:8"),
        ("\tx: 1", "main.sls:8"),
        ("x:\n  test.nop: []\nx:\n  test.nop: []", "main.sls:10"),
        ("- x\n- y", "main.sls:"),
        ("just text", "main.sls:"),
        ("x: &a [*a]", "main.sls:8"),
        ("include:\n  - nowhere", "main.sls:9"),
        ("x:\n  test.nop:\n    - require: nonsense", "main.sls:10"),
        ("extend:\n  nobody:\n    test.nop: []", "main.sls:10"),
    ],
)
def test_what_is_wrong_in_a_block_is_reported_at_its_line_and_the_run_goes_on(inside: str, said: str) -> None:
    report = run(CALLER + LAST + f"#!delayed_block B\n{inside}\n#!end_delayed_block\n")
    assert value_of(report, "a>B") is False
    told = comment_of(report, "a>B").partition("\n")[2]
    assert said in told
    assert "Traceback" not in told
    assert result_of(report, "last").ran


def test_a_block_that_never_ends_rendering_is_stopped() -> None:
    loop = "{% for i in range(99999999) %}{% for j in range(99999999) %}{% endfor %}{% endfor %}"
    report = run(
        CALLER + LAST + f"#!delayed_block B\n{loop}\n#!end_delayed_block\n", config={"render_time_limit": 0.2}
    )
    assert "main.sls:8" in comment_of(report, "a>B")
    assert result_of(report, "last").ran


def test_a_run_with_a_broken_frame_ends_with_the_code_of_a_failed_state() -> None:
    assert attempted(CALLER + "#!delayed_block B\n{{\n#!end_delayed_block\n").code == 2
    assert attempted(CALLER + "#!delayed_block B\n").code == 3


def test_pillar_and_top_files_have_no_blocks() -> None:
    """A tag there is a comment, as it always was."""
    report = run(
        LAST,
        {
            "pillar/top.sls": "#!delayed_block B\nbase:\n  '*': [p]\n",
            "pillar/p.sls": "#!end_delayed_block x\nv: 1\n",
        },
    )
    assert ids(report) == ["last"]


def test_operation_errors_are_not_frames() -> None:
    """A root that is gone while the run goes on is told for the frame, not for the run."""
    report = run(
        CALLER.replace("test.nop:", "cmd.run:\n    - name: rm -r {{ tplpath.rpartition('/')[0] }}")
        + LAST
        + "#!delayed_block B\n{% include 'x' %}\n#!end_delayed_block\n",
        {"x": ""},
    )
    assert value_of(report, "a>B") is False
    assert result_of(report, "last").ran
    assert issubclass(OperationError, SalternError)
