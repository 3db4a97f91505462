"""Whatever a file holds: mending ends, mends all it can at once, and leaves every word as it was written."""

from __future__ import annotations

import os

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests import kit

from saltern.lint.check import check
from saltern.lint.choices import choose
from saltern.lint.edits import apply_edits

MOST_PASSES = 5

values = st.sampled_from(
    [
        "0644",
        "0o755",
        "22:30",
        "yes",
        "no",
        "1.10",
        "~",
        "x",
        "'x '",
        '"0644"',
        "x # 0644",
        "[0644, 1]",
        "{a: 0644}",
    ]
)
keys = st.sampled_from(["name", "mode", "dir_mode", "version", "comment", "password", "umask", "names"])
ends = st.sampled_from(["", "", "", " ", "  ", "\t"])
# Texts of several lines in which nothing is what it looks like.
texts = st.sampled_from(
    [
        "|\n        - mode: 0644  \n        \tname: yes\n\n        end ",
        ">-\n        - version: 1.10\n\n          - mode: 0644",
        "|2\n          - mode: 0644\n        x",
        "'first\n        - mode: 0644\n        name: yes'",
        '"first  \n        - version: 1.10\\\n        mode: 0644"',
        "first\n        - mode: 0644\n        last",
        "[a,\n        0644, 22:30]",
        "{mode: x,\n        mode: 0644,\n        other: yes}",
    ]
)


@st.composite
def items(draw: st.DrawFn) -> str:
    value = draw(st.one_of(values, values, texts))
    return f"    - {draw(keys)}: {value}{draw(ends)}\n"


@st.composite
def states(draw: st.DrawFn) -> str:
    name = draw(st.sampled_from(["a", "b", "c", "/x", "'d'"]))
    comment = draw(st.sampled_from(["", "# mode: 0644 \n", "  # x\t\n", "\n", "   \n"]))
    body = "".join(draw(st.lists(items(), max_size=4)))
    return f"{name}:\n  test.nop:{draw(ends)}\n{comment}{body}"


files = st.builds(
    lambda head, some, tail: (head + "".join(some)).removesuffix(tail),
    st.sampled_from(["", "", "#!yaml\n", "#!yaml_jinja\n", "#!jinja|yaml\n"]),
    st.lists(states(), min_size=1, max_size=3),
    st.sampled_from(["", "\n", "\n"]),
)


def written(text: str) -> object:
    """The data of a text, each word of it as it stands there; None if it is no YAML."""
    try:
        return yaml.load(text, yaml.BaseLoader)
    except yaml.YAMLError:
        return None


def mended(made: kit.Tree, path: str) -> tuple[str, int]:
    """The text when there is nothing left to mend, and how many passes that took."""
    passes = 0
    while passes < MOST_PASSES and apply_edits(check(made.session(), [], choose({}, (), ())).edits.values()):
        passes += 1
    with open(path, encoding="utf-8", newline="") as file:
        return file.read(), passes


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(files)
def test_mending_comes_to_an_end_and_changes_no_word(text: str) -> None:
    with kit.tree({"main.sls": text}) as made:
        after, passes = mended(made, os.path.join(made.place, "states/base/main.sls"))
    assert passes < MOST_PASSES
    before = written(text)
    if before is not None:
        assert written(after) == before or "test.nop: []" in after
