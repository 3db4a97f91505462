"""What actions print: taken from any report, within limits, never less than before, and never a reason to
doubt a leg.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec import json
from tests.fleet.controller.chain_kit import RESTS, LegAgent, leg_agent, legs, on_bench, rounds, start
from tests.fleet.controller.kit import Bench

from saltern.chains.results import shorten
from saltern.cli.leg_report import ALL_OUTPUT, OUTPUT, short_leg
from saltern.fleet.chains.model import LegState, StepPlan, StepState
from saltern.fleet.controller.chains.outputs import MOST, MOST_OF_LEG, newer, output_rows
from saltern.fleet.store import chain_outputs
from saltern.fleet.view.chain_log import added_text

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=50)


def _leg(*names: str) -> LegState:
    plan = tuple(StepPlan(id=name) for name in names)
    return LegState(id="r.s", system="s", wave=0, plan=plan, steps=tuple(StepState() for _ in plan))


def _said(action: str = "a", attempts: int = 1, **output: str) -> dict[str, Any]:
    sizes = {name: len(text) for name, text in output.items()}
    return {"action": action, "attempts": attempts, "output": output, "output_size": sizes}


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text() | st.just("a"),
        lambda one: (
            st.lists(one)
            | st.dictionaries(
                st.sampled_from(["steps", "action", "attempts", "output", "output_size", "stdout"]), one
            )
        ),
    )
)
def test_38_whatever_a_system_says_that_it_printed_is_stored_or_left_out(body: object) -> None:
    for row in output_rows(_leg("a"), body):
        assert row["step"] == 0 and row["attempt"] >= 1 and row["data"].decode()


@given(st.lists(st.integers(0, 3 * MOST), max_size=30))
def test_38_a_leg_that_prints_without_end_has_a_bound_and_the_end_of_each_stream(lengths: list[int]) -> None:
    names = [f"a{at}" for at in range(len(lengths))]
    said = [_said(name, stdout="x" * size + "\n") for name, size in zip(names, lengths, strict=True)]
    rows = output_rows(_leg(*names), {"steps": said})
    assert len(rows) == len(lengths)
    assert sum(len(row["data"]) for row in rows) <= MOST_OF_LEG + 30 * 2_000
    for row, size in zip(rows, lengths, strict=True):
        assert row["data"].endswith(b"\n") and row["size"] == size + 1
        assert row["cut"] is (len(row["data"]) < row["size"]), "I10: all of it, or flagged"


@given(st.lists(st.tuples(st.integers(0, 40), st.booleans(), st.booleans()), min_size=1))
def test_32_reports_in_any_order_never_take_back_what_is_known(
    reports: list[tuple[int, bool, bool]],
) -> None:
    """While it runs, what is stored only grows; what the return says counts."""
    stored: dict[tuple[Any, ...], tuple[int, bool]] = {}
    for size, cut, final in reports:
        row = {"step": 0, "attempt": 1, "stream": "stdout", "size": size, "cut": cut, "data": b""}
        before = stored.get((0, 1, "stdout"), (-1, True))
        for one in newer(stored, [row], final=final):
            stored[0, 1, "stdout"] = one["size"], one["cut"]
        after = stored[0, 1, "stdout"]
        assert after == (size, cut) if final else after[0] >= before[0]


@given(texts, texts, texts, st.integers(0, 60))
def test_what_has_grown_is_shown_once(first: str, second: str, third: str, kept: int) -> None:
    """Whatever of the beginning is left out by the time it is looked at again."""
    before, after = first, first + "\n" + second + third
    if (whole := added_text(before, after, len(after) - len(before))) and after.startswith(
        before.rstrip("\n")
    ):
        assert after.endswith(whole)
    tail = after[-kept:] if kept else ""
    new = added_text(before, tail, len(after) - len(before))
    assert new.removeprefix("…\n") in tail


@given(
    st.lists(st.integers(0, 70_000), min_size=1, max_size=8), st.integers(0, 10_000), st.binary(max_size=300)
)
def test_a_report_while_it_runs_is_short_and_its_newest_output_is_there(
    sizes: list[int], left_out: int, data: bytes
) -> None:
    rows = [
        {**_said(f"a{at}", stdout=shorten("x" * size)), "status": "succeeded", "comment": ""}
        for at, size in enumerate(sizes)
    ]
    rows.append({"action": "now", "status": "running", "attempts": 1, "comment": ""})
    head = {"status": "running", "seq": 1, "applied": 1, "waits_for": "", "quarantined": False}
    found = short_leg({**head, "steps": rows}, {"stdout": (left_out, data), "stderr": (0, b"")})
    assert sum(len(text) for row in found["steps"] for text in row["output"].values()) <= ALL_OUTPUT
    assert all(len(text) <= OUTPUT + 60 for row in found["steps"] for text in row["output"].values())
    shown = found["steps"][-1]["output"].get("stdout", "")
    whole = data[data.find(b"\n") + 1 if left_out else 0 : data.rfind(b"\n") + 1].decode(errors="replace")
    assert shown.endswith(whole) and (not shown or shown.endswith("\n"))


# -- with a controller --------------------------------------------------------------------------------


class PrintingAgent(LegAgent):
    """Each of its actions has printed something."""

    printed: dict[str, str]

    def report(self, node: Any) -> dict[str, Any]:
        found = super().report(node)
        for row in found["steps"]:
            text = self.printed.get(row["action"], "")
            row |= {"output": {"stdout": text}, "output_size": {"stdout": len(text)}}
        return found


def _outputs(bench: Bench, run: str, system: str) -> dict[str, str]:
    with bench.database.read() as connection:
        rows = chain_outputs.output_rows(connection, f"{run}.{system}")
    return {row["action"]: bytes(row["data"]).decode() for row in rows}


@on_bench
async def test_what_actions_print_is_in_the_database_for_each_system(bench: Bench) -> None:
    for name in ("s1", "s2"):
        agent = await leg_agent(bench, name)
        agent.__class__ = PrintingAgent
        agent.printed = {"a": f"hello from {name}\n", "b": "nul \x00 here"}  # type: ignore[attr-defined]
    run = (await start(bench)).run
    await rounds(bench)
    for name in ("s1", "s2"):
        assert _outputs(bench, run, name) == {
            "a": f"hello from {name}\n",
            "b": "nul \N{REPLACEMENT CHARACTER} here",
        }
    with bench.database.read() as connection:
        listed = chain_outputs.run_sizes(connection, run)
    assert [(row["system"], row["action"], row["size"]) for row in listed][:2] == [
        ("s1", "a", 14),
        ("s1", "b", 10),
    ]


PARTS = 5


@on_bench
async def test_38_a_return_that_is_cut_after_any_of_its_parts_counts_when_it_has_come_whole(
    bench: Bench,
) -> None:
    """The connection ends after so many parts; then all are sent once more, as by an agent that starts."""
    agent = await leg_agent(bench, "s1")
    agent.__class__ = PrintingAgent
    agent.printed = {"a": "".join(f"line {n}\n" for n in range(5_000)), "b": "end\n"}  # type: ignore[attr-defined]
    agent.holds = True
    for whole_parts in range(PARTS):
        run = (await start(bench)).run
        await rounds(bench)
        job = agent.waiting.pop()
        node = agent.node(job)
        while node.status not in RESTS:
            node.work()
        await _send(agent, job.jid, agent.report(node), parts=range(whole_parts))
        await rounds(bench)
        assert legs(bench, run) == {"s1": "pending"}, f"{whole_parts} of {PARTS} parts"
        assert _outputs(bench, run, "s1") == {}
        await _send(agent, job.jid, agent.report(node), parts=range(PARTS))
        await rounds(bench)
        assert legs(bench, run) == {"s1": "succeeded"}
        assert _outputs(bench, run, "s1") == agent.printed  # type: ignore[attr-defined]
        assert node.trace == [0, 1], "I2"


async def _send(agent: LegAgent, jid: str, report: dict[str, Any], *, parts: Iterable[int]) -> None:
    body = json.encode(report)
    size = -(-len(body) // PARTS)
    for part in parts:
        piece = body[part * size : (part + 1) * size]
        await agent.give(jid, part=part, parts=PARTS, body=piece, size=len(body))
