"""What is left of a frame when it has run: its answers, and no more."""

from __future__ import annotations

import gc
import tracemalloc

from tests import kit
from tests.delayed.thing import comment_of, run

from saltern.language.delayed import BlockScope
from saltern.language.events import Report
from saltern.render.document import SMALL, Document

BIG = 10 * SMALL
AN_ANSWER = 6000  # bytes, with its chunk, its frame and all
INNER = f"""#!delayed_block only_here scoped delayed_repeat_limit=None
# {{{{ 'y' * {BIG} }}}}
s:
  test.nop: []
#!end_delayed_block
"""
OUTER = f"""#!delayed_block B delayed_repeat_limit=None
{{% set big = 'x' * {BIG} %}}
# {{{{ big }}}}
include:
  - other
s:
  test.nop:
    - delayed_render:
      - block: only_here
{INNER}#!end_delayed_block
"""
OTHER = f"""# {{{{ 'z' * {BIG} }}}}
other:
  test.nop:
    - delayed_render:
      - block: O
#!delayed_block O scoped delayed_repeat_limit=None
#!end_delayed_block
"""


def tree(times: int) -> dict[str, str]:
    callers = (f"c{at}:\n  test.nop:\n    - delayed_render:\n      - block: B\n" for at in range(times))
    return {"main.sls": "".join(callers) + OUTER, "other.sls": OTHER}


def kept(times: int) -> tuple[int, int, Report]:
    """Bytes that a run leaves behind, and the most it ever had; with the report, which has to stay."""
    gc.collect()
    tracemalloc.start()
    try:
        report = kit.run_sls(tree(times))
        gc.collect()
        return *tracemalloc.get_traced_memory(), report
    finally:
        tracemalloc.stop()


def test_neither_texts_nor_variables_of_finished_frames_are_kept() -> None:
    kept(1)  # what is made once, is made now
    few, some_peak, report = kept(3)
    many, peak, longer = kept(13)
    more = len(longer.answers) - len(report.answers) + len(longer.frames) - len(report.frames)
    assert more == 10 * (1 + 2 + 1 + 3)  # caller, two states of B, one inside; the three frames
    assert (many - few) / more < AN_ANSWER
    assert (peak - some_peak) / more < AN_ANSWER


def test_no_scope_and_no_data_of_a_finished_frame_is_kept() -> None:
    report = kit.run_sls(tree(3))
    gc.collect()
    origins = {
        id(one): one
        for answer in report.answers
        if answer.frame and isinstance(one := answer.chunk.declared.origin, Document)
    }
    assert len(origins) == 3 * 3
    assert all(one.data is None and not one.blocks.blocks for one in origins.values())
    assert not any(answer.chunk.delayed for answer in report.answers if answer.frame)
    alive = [one for one in gc.get_objects() if type(one) is BlockScope and "only_here" in one.blocks]
    assert not alive


def test_answers_know_their_places_when_their_text_is_gone() -> None:
    report = kit.run_sls(tree(1))
    marks = {answer.path: answer.chunk.mark() for answer in report.answers}
    assert [marks[path].line for path in ("c0>B#1>s", "c0>B#1>other", "c0>B#1>s>only_here#1>s")] == [
        11,
        3,
        17,
    ]


def test_a_placeholder_knows_its_place_when_the_text_around_it_is_gone() -> None:
    large = f"# {{{{ 'x' * {BIG} }}}}\n"
    inside = f"{large}s:\n  thing.made:\n    - fails: true\n    - delayed_render:\n      - block: only_here\n"
    text = "a:\n  test.nop:\n    - delayed_render:\n      - block: B\n#!delayed_block B\n"
    report = run(f"{text}{inside}{INNER}#!end_delayed_block\n")
    assert comment_of(report, "a>B#1>s>only_here") == "not rendered: s failed"
    assert report.answers[-1].chunk.mark().line == 11
