"""Delayed blocks: cutting loses nothing, garbage is told, and a run is what the decisions say of it."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from tests import kit
from tests.property.delayed_trees import trees, written
from tests.property.naive_delayed import DoesNotCompile, Row, Run, Tree, unused
from tests.property.recording import Recording

from saltern.language.delayed import Block
from saltern.language.diagnostics import CompileError
from saltern.language.events import Report
from saltern.language.source import Mark
from saltern.render.block_words import read_words
from saltern.render.blocks import cut, sls_words

CALLER = "caller:\n  test.nop:\n    - delayed_render:\n      - sls: other\n"
cheap = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
usual = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


# -- cutting -------------------------------------------------------------------------------------------------

NAMES = ("A", "B", "b-1", "delayed_block", "é", "x>y", "#!x")
ENDS = ("\n", "\r\n")
PLAIN = (
    "",
    "a: 1",
    " #!delayed_block A",
    "\t#!end_delayed_block",
    "x #!delayed_block A",
    "# delayed_block A",
    "#! delayed_block A",
    "{% if %}{{ delayed_ }}",
    "{# {%- delayed_block A %} x #}",
    "#!delayed_sls scoped",
    "contents: |",
    "a\u2028b\x0bc\x0c\x85d",
    "\ufeff",
    "é\U0001f9c2\x00",
)
plain = st.one_of(
    st.sampled_from(PLAIN), st.text(st.characters(exclude_characters="\n\r", codec="utf-8"), max_size=6)
).filter(lambda line: not line.startswith(("#!delayed_", "#!end_delayed_", "{%")) or line in PLAIN)


class Piece:
    """A line, or a block with what stands in it."""

    def __init__(self, line: str, inside: list[Piece] | None = None, name: str = "", end: str = "") -> None:
        self.line = line
        self.inside = inside
        self.name = name
        self.end = end

    def rows(self) -> list[str]:
        if self.inside is None:
            return [self.line]
        return [self.line, *(row for one in self.inside for row in one.rows()), self.end]

    def __repr__(self) -> str:
        return repr(self.rows())


@st.composite
def blocks(draw: st.DrawFn, inside: st.SearchStrategy[list[Piece]]) -> Piece:
    name = draw(st.sampled_from(NAMES))
    words = draw(st.sampled_from(["", " scoped", "\tdelayed_repeat_limit=3 ", " refresh=grains"]))
    named = draw(st.sampled_from(["", f" {name}", f"  {name}\t"]))
    if draw(st.booleans()):
        return Piece(f"#!delayed_block {name}{words}", draw(inside), name, f"#!end_delayed_block{named}")
    dash = draw(st.sampled_from(["", "-", "+"]))
    begin = f"{{%{dash} delayed_block {name}{words} {dash}%}} "
    return Piece(begin, draw(inside), name, f"{{%end_delayed_block{named} %}}")


def levels(inner: st.SearchStrategy[list[Piece]]) -> st.SearchStrategy[list[Piece]]:
    lines = st.lists(plain.map(Piece), max_size=2)
    some = st.lists(blocks(inner), max_size=2, unique_by=lambda piece: piece.name)
    return st.builds(lambda *parts: [one for part in parts for one in part], lines, some, lines)


pieces = st.recursive(st.lists(plain.map(Piece), max_size=3), levels, max_leaves=8)


def joined(rows: list[str], ends: list[str], *, closed: bool) -> str:
    text = "".join(row + ends[at % len(ends)] for at, row in enumerate(rows))
    return text if closed or not rows else text[: -len(ends[(len(rows) - 1) % len(ends)])]


@cheap
@given(pieces, st.lists(st.sampled_from(ENDS), min_size=1, max_size=3), st.booleans())
def test_cut_blocks_put_back_at_their_lines_give_the_text_again(
    made: list[Piece], ends: list[str], closed: bool
) -> None:
    rows = [row for piece in made for row in piece.rows()]
    text = joined(rows, ends, closed=closed)
    _put_back(text, *cut(text, "f.sls"), made, 1, ())


def _put_back(
    text: str, kept: str, found: tuple[Block, ...], made: list[Piece], line: int, outer: tuple[str, ...]
) -> None:
    """``line`` is that of the first of the pieces; every block is at its own, and so is all that is left."""
    whole, left = text.split("\n"), kept.split("\n")
    assert len(whole) == len(left)
    waiting = list(found)
    for piece in made:
        height = len(piece.rows())
        if piece.inside is None:
            assert left[line - 1] == whole[line - 1]
        else:
            block = waiting.pop(0)
            assert (block.name, block.line, block.outer) == (piece.name, line, outer)
            own = block.text.split("\n")
            last = line + height - 1
            assert own == [""] * line + whole[line : last - 1] + [""]
            assert [row.rstrip("\r") for row in left[line - 1 : last]] == [""] * height
            inner = (*outer, block.name)
            _put_back(block.text, *cut(block.text, "f.sls", outer=inner), piece.inside, line + 1, inner)
        line += height
    assert not waiting


# -- garbage -------------------------------------------------------------------------------------------------

WORDS = (
    "#!delayed_block",
    "#!end_delayed_block",
    "#!delayed_sls",
    "#!delayed_",
    "{% delayed_block",
    "{% end_delayed_block",
    "%}",
    "delayed_repeat_limit=",
    "refresh=",
    "scoped",
    "None",
    "A",
    "-1",
    "²",
    "9" * 5000,
    "=",
    ",",
    " ",
    "\t",
    "\n",
    "\n",
    "\r\n",
    "\r",
    "\u2028",
    "a:\n  test.nop:\n    - delayed_render:\n      - block: A\n",
    "${delayed:a.b",
    "{{ prev_ret }}",
)
garbage = st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=3)), max_size=14).map("".join)


@cheap
@given(garbage)
def test_garbage_is_cut_or_told(text: str) -> None:
    for read in (cut, sls_words, lambda words, file: read_words(words, Mark(file, 1))):
        try:
            read(text, "f.sls")
        except CompileError as problem:
            assert all(one.where and one.what and one.fix for one in problem.diagnostics)


@usual
@given(garbage, garbage)
def test_a_run_of_garbage_is_a_report_or_told(text: str, other: str) -> None:
    files = {"main.sls": CALLER + text, "other.sls": other}
    with kit.tree(files) as made:
        outcome = kit.attempt(made, kit.request_for(files, {"sls": ("main",)}))
    assert outcome.report is not None or outcome.texts


# -- a run and the naive one ---------------------------------------------------------------------------------


def attempted(tree: Tree) -> kit.Outcome:
    config = {
        "delayed_repeat_limit": tree.limit,
        "delayed_max_depth": tree.depth,
        "delayed_max_frames": tree.frames,
        "failhard": tree.failhard,
    }
    files = written(tree)
    with kit.tree(files, registry=Recording().registry, config=config) as made:
        return kit.attempt(made, kit.request_for(files, {"sls": ("main",)}), test=tree.test)


def rows(report: Report) -> list[Row]:
    return [
        Row(
            answer.frame,
            answer.chunk.state,
            answer.chunk.id,
            answer.chunk.name,
            answer.result.outcome.value,
            answer.result.ran,
            answer.result.changed,
            str(answer.chunk.args.get("seen", "")),
        )
        for answer in report.answers
    ]


@usual
@given(trees())
def test_a_run_is_what_the_naive_model_says_of_it(tree: Tree) -> None:
    outcome = attempted(tree)
    try:
        naive = Run(tree)
    except DoesNotCompile:
        event("does not compile")
        assert outcome.problems
        return
    report = outcome.report
    assert report is not None, outcome.texts
    event(f"{min(len(naive.frames), 4)} frames or more")
    assert rows(report) == naive.rows
    assert [answer.number for answer in report.answers] == list(range(len(naive.rows)))
    assert sorted(frame.path for frame in report.frames) == sorted(naive.frames)
    assert bool(report.stopped) == naive.stopped
    if not naive.broke:
        assert sorted(_key(block) for block in report.unused) == unused(naive)


def _key(block: Block) -> tuple[str, ...]:
    return (os.path.basename(block.file).removesuffix(".sls"), *block.outer, block.name)
