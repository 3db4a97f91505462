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
from saltern.render.blocks import cut, read_words, sls_words
from saltern.language.source import Mark

usual = settings(max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.too_slow])


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
