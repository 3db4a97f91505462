"""Tags of the first draft anywhere in a line, wrong words of tags, ``#!delayed_sls`` at odd places."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.delayed.thing import answer_of, attempted, paths, problem, problems, run, seen
from tests.kit import ids

from saltern.render.blocks import cut

CALLER = "a:\n  test.nop:\n    - delayed_blocks: [B]\n"


@pytest.mark.parametrize(
    "block",
    [
        "  {% delayed_block B %}\n  later:\n    test.nop: []\n  {% end_delayed_block %}\n",
        "\t{%- delayed_block B -%}\nlater:\n  test.nop: []\n\t{%- end_delayed_block B -%}\n",
        "{% delayed_block B %}later: {test.nop: []}{% end_delayed_block %}\n",
        "{% if true %}{% delayed_block B %}\nlater:\n  test.nop: []\n{% end_delayed_block %}{% endif %}\n",
        "{%delayed_block B%}\nlater:\n  test.nop: []\n{%end_delayed_block%}\n",
        "{% delayed_block\n   B %}\nlater:\n  test.nop: []\n{%\n end_delayed_block %}\n",
        "# {% delayed_block B %}\nlater:\n  test.nop: []\n# {% end_delayed_block %}\n",
        "  {% delayed_block B %}\r\n  later:\r\n    test.nop: []\r\n  {% end_delayed_block %}\r\n",
    ],
)
def test_a_drafts_tag_stands_wherever_a_jinja_tag_may(block: str) -> None:
    """Seed 001: “a block of Jinja defined by a custom Jinja tag”."""
    report = run(CALLER + block + "last:\n  test.nop: []\n")
    assert paths(report) == ["a", "a>B#1>later", "last"]
    assert answer_of(report, "last").chunk.mark().line == (CALLER + block).count("\n") + 2


def test_indented_drafts_nest() -> None:
    report = run(
        CALLER + "  {% delayed_block B %}\n  x:\n    test.nop:\n      - delayed_blocks: [C]\n"
        "    {% delayed_block C %}\n    y:\n      test.nop:\n        - seen: {{ prev_ret.name }}\n"
        "    {% end_delayed_block C %}\n  {% end_delayed_block B %}\n"
    )
    assert seen(report, "a>B#1>x>C#1>y") == "x"


@pytest.mark.parametrize(
    "text",
    [
        "{# {% delayed_block B %} #}\n",
        "{#\n{% delayed_block B %}\nx: [\n{% end_delayed_block %}\n#}\n",
        "t:\n  test.nop:\n    - x: '{% raw %}{% delayed_block B %}{% endraw %}'\n",
        "t:\n  test.nop:\n    - x: |\n        {% raw %}\n\n        {% delayed_block B %}\n{% endraw %}\n",
    ],
)
def test_a_drafts_tag_that_jinja_does_not_read_is_text(text: str) -> None:
    report = run("a:\n  test.nop: []\n" + text)
    assert report.unused == []
    assert ids(report)[0] == "a"


def test_a_comment_does_not_hide_the_tags_of_the_final_spelling() -> None:
    report = run(
        "a:\n  test.nop:\n    - delayed_render: [{block: B}]\n"
        "#!delayed_block B\nlater:\n  test.nop:\n    - x: '${' # {#\n#!end_delayed_block\n"
        "# {% if true %}\nlast:\n  test.nop: []\n# {% endif %}{# #}\n"
    )
    assert "a>B" in paths(report) or "a>B#1>later" in paths(report)
    assert "last" in ids(report)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{% enddelayed_block %}\n", "there is no tag '{% enddelayed_block %}' [delayed-tag]"),
        ("{% delayed_blok B %}\n", "there is no tag '{% delayed_blok %}' [delayed-tag]"),
        ("  {% end_delayed_block B %}\n", "this end_delayed_block ends no block [delayed-no-start]"),
        ("{% delayed_block B %}\n{% enddelayed_block %}\n", "the block 'B' is not ended [delayed-no-end]"),
        ("{% delayed_block B %}\n{% end_delayed_block C %}\n", "write '{% end_delayed_block B %}'"),
        ("{% delayed_block %}\n{% end_delayed_block %}\n", "delayed_block has no name"),
        ("{% delayed_sls scoped %}\n", "write '#!delayed_sls' at the top of the file"),
    ],
)
def test_a_drafts_tag_that_is_wrong_says_what_to_write(text: str, said: str) -> None:
    told = "\n".join(problems("a:\n  test.nop: []\n" + text))
    assert told.startswith(("main.sls:3:", "main.sls:4:"))
    assert said in told


def test_a_wrong_end_is_named_where_the_block_is_not_ended() -> None:
    told = problem("{% delayed_block B %}\nx:\n  test.nop: []\n{% enddelayed_block %}\n")
    assert "fix: end it with '{% end_delayed_block B %}'" in told
    assert "'enddelayed_block' is not an end: main.sls:4" in told


def test_an_indented_tag_of_the_final_spelling_is_named_where_its_block_is_missing() -> None:
    told = problem(CALLER + "  #!delayed_block B\n  #!end_delayed_block\n")
    assert "the tag in line 4 is indented, which makes it text: begin it and its end in column 1" in told


@given(
    st.lists(st.sampled_from(["x", "\n", "  ", "{% if a %}", "{# c #}", "é", "\r\n"]), max_size=8), st.data()
)
def test_what_is_cut_leaves_all_other_text_and_its_lines(around: list[str], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(around)))
    before, after = "".join(around[:at]), "".join(around[at:])
    inside = "\nlater: []\n"
    text, blocks = cut(f"{before}{{% delayed_block B %}}{inside}{{% end_delayed_block %}}{after}", "f")
    left, right = (
        re.sub(r"^[ ]*\Z", "", before, flags=re.MULTILINE),
        re.sub(r"\A[ ]*\r?$", "", after, flags=re.M),
    )
    assert text == f"{left}\n\n{right}"
    assert [(one.name, one.text.lstrip("\n")) for one in blocks] == [("B", "later: []\n")]
    assert blocks[0].line == before.count("\n") + 1


# -- words -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tag", ["#!{}\n", "{{% {} %}}\n"])
def test_all_wrong_words_of_a_tag_are_reported_each_at_its_column(tag: str) -> None:
    text = tag.format("delayed_block B scopd delayed_repeat_limit=0 refresh=grain,x scoped scoped")
    told = problems(text + tag.format("end_delayed_block"))
    first = text.index("scopd") + 1
    assert [one.partition(" [")[0] for one in told] == [
        f"main.sls:1:{first}: 'scopd' is not a word of this tag",
        f"main.sls:1:{first + 6}: delayed_repeat_limit is 0",
        f"main.sls:1:{first + 29}: refresh does not support 'grain'",
        f"main.sls:1:{first + 29}: refresh does not support 'x'",
        f"main.sls:1:{first + 52}: 'scoped' is defined twice",
    ]


def test_all_that_is_wrong_with_an_entry_is_reported() -> None:
    told = problems(
        "a:\n  test.nop:\n    - delayed_render:\n      - block: 7\n        whn: x\n        when: y\n"
    )
    assert len(told) == 3
    assert all("[delayed-entry]" in one for one in told)


# -- a whole SLS ---------------------------------------------------------------------------------------------

SLS = "a:\n  test.nop:\n    - delayed_slses: [other]\n"


@pytest.mark.parametrize(
    ("other", "line", "why"),
    [
        ("x:\n  test.nop: []\n#!delayed_sls scoped\n", 3, "line 1 comes before it"),
        ("\n{% set y = 1 %}\n\n#!delayed_sls\nx:\n  test.nop: []\n", 4, "line 2 comes before it"),
        ("  #!delayed_sls\nx:\n  test.nop: []\n", 1, "it does not begin in column 1"),
        ("#!delayed_sls\nx:\n  test.nop: []\n#!delayed_sls\n", 4, "line 2 comes before it"),
    ],
)
def test_delayed_sls_that_is_not_at_the_top_is_reported(other: str, line: int, why: str) -> None:
    """Seed 000: “It must be placed at the top of a file”."""
    outcome = attempted(SLS, {"other.sls": other})
    (told,) = outcome.warnings
    assert told.startswith(f"other.sls:{line}: '#!delayed_sls' has no effect here: {why}")
    assert "[delayed-sls-late]" in told


@pytest.mark.parametrize(
    "other",
    [
        "{# a\ncomment #}\n#!delayed_sls delayed_repeat_limit=2\nx:\n  test.nop: []\n",
        "#!delayed_sls delayed_repeat_limit=2\n#!delayed_block C\n#!delayed_sls\n#!end_delayed_block\n",
        "#!delayed_sls delayed_repeat_limit=2\nx:\n  test.nop:\n    - t: |\n        #!delayed_sls\n",
    ],
)
def test_delayed_sls_at_the_top_is_not_reported(other: str) -> None:
    outcome = attempted(SLS + SLS.replace("a:", "b:", 1), {"other.sls": other})
    assert outcome.warnings == []
    assert len(outcome.report.frames if outcome.report else []) == 2


def test_delayed_sls_in_a_file_that_is_used_normally_is_a_comment() -> None:
    outcome = attempted("x:\n  test.nop: []\n#!delayed_sls nonsense\n")
    assert outcome.warnings == outcome.texts == []


def test_both_mistakes_of_two_delayed_sls_lines_are_reported() -> None:
    told = problems(SLS, {"other.sls": "#!delayed_sls scopd\n#!delayed_sls limit=3\n"})
    assert ["delayed-word" in one or "delayed-sls-twice" in one for one in told] == [True] * 3
