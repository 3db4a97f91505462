"""The decisions, “Identity, output”: a test for each sentence."""

from __future__ import annotations

from io import StringIO

import msgspec
from tests.delayed.thing import answer_of, attempted, paths, run
from tests.kit import order

from saltern.language.events import ChunkFinished, FrameFinished, FrameStarted, Report
from saltern.report import human, lines, salt, tree
from saltern.report.outputs import OutputOptions


def nested(depth: int) -> str:
    """A state in each of ``depth`` blocks that stand in each other."""
    text = "s0:\n  test.nop:\n    - delayed_render:\n      - block: B1\n"
    for level in range(1, depth + 1):
        text += f"#!delayed_block B{level}\ns{level}:\n  test.nop: []\n"
        if level < depth:
            text = text[: -len(" []\n")] + f"\n    - delayed_render:\n      - block: B{level + 1}\n"
    return text + "#!end_delayed_block\n" * depth


def printed(report: Report, **options: object) -> list[str]:
    out = StringIO()
    human.show(report, OutputOptions(label="here", **options), out)  # type: ignore[arg-type]
    return out.getvalue().splitlines()


TWICE = """
    my_state1:
      test.nop:
        - delayed_render:
          - block: A
    other:
      test.nop:
        - delayed_render:
          - block: A
          - sls: file
    #!delayed_block A delayed_repeat_limit=2
    my_state2:
      test.nop: []
    #!end_delayed_block
    """
FILE = {"file.sls": "my_state2:\n  test.nop: []\n"}


# -- identity ----------------------------------------------------------------------------------------------


def test_every_frame_has_its_own_jid_and_that_of_its_parent() -> None:
    """“Every frame has its own jid and its parent's jid”."""
    report = run(nested(3))
    chain = sorted(report.frames, key=lambda frame: frame.depth)
    assert [frame.parent_jid for frame in chain] == [report.jid, chain[0].jid, chain[1].jid]
    assert len({report.jid, *(frame.jid for frame in chain)}) == 4
    assert all(len(frame.jid) == 20 and frame.jid.isdecimal() for frame in chain)


def test_a_path_says_who_called_what_for_the_how_manyth_time() -> None:
    """“a path such as `my_state1>A#1>my_state2`”."""
    assert paths(run(TWICE, FILE)) == [
        "my_state1",
        "my_state1>A#1>my_state2",
        "other",
        "other>A#2>my_state2",
        "other>sls:file#1>my_state2",
    ]


def test_run_numbers_are_one_sequence_in_order_of_execution() -> None:
    """“Run numbers are one integer sequence over everything, in order of execution.”"""
    outcome = attempted(TWICE, FILE)
    told = [event.answer.number for event in outcome.events if isinstance(event, ChunkFinished)]
    assert told == [0, 1, 2, 3, 4]
    assert [answer.number for answer in outcome.answers] == told


# -- JSON ------------------------------------------------------------------------------------------------


def test_nested_json_has_every_frame_under_its_caller() -> None:
    """“Nested JSON is canonical”."""
    report = run(TWICE, FILE)
    shaped = msgspec.to_builtins(tree.to_tree(report))
    first, second = shaped["states"]
    assert (shaped["jid"], first["__id__"]) == (report.jid, "my_state1")
    (frame,) = first["delayed"]
    assert (frame["path"], frame["kind"], frame["name"]) == ("my_state1>A#1", "block", "A")
    assert frame["parent_jid"] == report.jid
    assert [state["__id__"] for state in frame["states"]] == ["my_state2"]
    assert [frame["path"] for frame in second["delayed"]] == ["other>A#2", "other>sls:file#1"]


def test_nested_json_has_what_was_not_rendered_in_its_place() -> None:
    """The same sentence, for a target over its limit."""
    shaped = msgspec.to_builtins(tree.to_tree(run(TWICE.replace(" delayed_repeat_limit=2", ""), FILE)))
    refused, frame = shaped["states"][1]["delayed"]
    assert (refused["state"], refused["result"], refused["__id__"]) == ("delayed", False, "A")
    assert frame["path"] == "other>sls:file#1"


def test_the_flat_tag_has_the_path_and_four_parts() -> None:
    """“the flat Salt-shaped JSON puts the path in the id part of the tag (always exactly four parts)”."""
    tags = list(salt.to_dict(run(TWICE, FILE)))
    assert tags[1] == "test_|-my_state1>A#1>my_state2_|-my_state2_|-nop"
    assert all(len(tag.split("_|-")) == 4 for tag in tags)
    assert len(set(tags)) == 5


def test_the_flat_return_carries_where_it_belongs() -> None:
    """“and carries `__id__`, `__path__`, `__parent__`, `__depth__`”."""
    shaped = salt.to_dict(run(TWICE, FILE))
    inner = shaped["test_|-my_state1>A#1>my_state2_|-my_state2_|-nop"]
    assert {key: inner[key] for key in ("__id__", "__path__", "__parent__", "__depth__")} == {
        "__id__": "my_state2",
        "__path__": "my_state1>A#1>my_state2",
        "__parent__": "test_|-my_state1_|-my_state1_|-nop",
        "__depth__": 1,
    }


def test_the_events_tell_frames_as_they_begin_and_end() -> None:
    """“as it happens”: one JSON line when a frame starts and one when it ends, around its states."""
    events = attempted(nested(2)).events
    kinds = [type(event) for event in events if isinstance(event, FrameStarted | FrameFinished)]
    assert kinds == [FrameStarted, FrameStarted, FrameFinished, FrameFinished]
    out = StringIO()
    tell = lines.Lines(out)
    for event in events:
        tell(event)
    rows = [msgspec.json.decode(row) for row in out.getvalue().splitlines()]
    started = next(row for row in rows if row["event"] == "frame-started")
    assert (started["path"], started["states"], started["depth"]) == ("s0>B1#1", 1, 1)
    assert started["jid"] > started["parent_jid"]


# -- terminal ----------------------------------------------------------------------------------------------


def test_two_spaces_for_each_level_down_to_the_fourth() -> None:
    """“Terminal: two spaces per level to depth 4, then a breadcrumb”."""
    rows = printed(run(nested(6)))
    ids = [row for row in rows if row.lstrip().startswith("ID: s")]
    assert [len(row) - len(row.lstrip()) for row in ids] == [10, 12, 14, 16, 18, 18, 18]


def test_below_the_fourth_level_a_breadcrumb_says_where_one_is() -> None:
    """“… then a breadcrumb”."""
    headings = [row for row in printed(run(nested(5))) if row.lstrip().startswith("== ")]
    assert headings[3].endswith(", after s3")
    assert headings[4].endswith(", after s0>B1#1>s1>B2#1>s2>B3#1>s3>B4#1>s4")


def test_a_header_line_for_each_frame() -> None:
    """“a header line per frame (block, file:line, number of states)”."""
    report = run(TWICE, FILE)
    where = report.frames[0].where
    headings = [row for row in printed(report) if row.lstrip().startswith("== ")]
    assert headings[0] == f"  == block A ({where}), 1 state, after my_state1"
    assert headings[2].startswith("  == sls file (")


def test_an_empty_frame_has_its_header_too() -> None:
    """The same sentence, for a frame without states."""
    report = run(
        "a:\n  test.nop:\n    - delayed_render:\n      - block: B\n#!delayed_block B\n#!end_delayed_block\n"
    )
    assert any(", 0 states, after a" in row for row in printed(report))


def test_blocks_nobody_called_are_named_in_the_summary() -> None:
    """“blocks nobody called are named in the summary and then dropped”."""
    report = run("a:\n  test.nop: []\n#!delayed_block B\n#!end_delayed_block\n")
    (row,) = [row for row in printed(report) if row.startswith("Unused block: B (")]
    assert row.endswith("main.sls:3)")
    (told,) = msgspec.to_builtins(tree.to_tree(report))["unused_blocks"]
    assert told["name"] == "B"


def test_a_block_inside_a_block_that_ran_is_named_as_well() -> None:
    """The same sentence: what the frame brought to light."""
    text = nested(1).replace(
        "#!end_delayed_block", "#!delayed_block lost\n#!end_delayed_block\n#!end_delayed_block"
    )
    assert [block.name for block in run(text).unused] == ["lost"]


def test_a_placeholder_is_shown_in_the_place_of_its_frame() -> None:
    """“one placeholder result per target”, on the terminal."""
    rows = printed(run(TWICE.replace(" delayed_repeat_limit=2", ""), FILE))
    place = rows.index("            ID: A")
    assert "delayed.block" in rows[place + 1]
    assert "may be rendered once" in " ".join(rows[place:])


def test_show_order_says_where_frames_will_run() -> None:
    """“`show order` shows where frames will run”."""
    rows = order({"main.sls": TWICE.replace("\n    ", "\n"), **FILE})
    assert [row["id"] for row in rows] == ["my_state1", "A", "other", "A", "file"]
    assert rows[1]["reason"] == "rendered right after 'my_state1'"


def test_a_frame_keeps_the_depth_of_its_answers() -> None:
    """“`__depth__`”: of what was rendered in a frame of a frame."""
    assert answer_of(run(nested(2)), "s0>B1#1>s1>B2#1>s2").depth == 2
