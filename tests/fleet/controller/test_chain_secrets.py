"""Secret inputs of chains: in no table of the database, and opened only by the system that they are for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json
from sqlalchemy import select
from tests.fleet.controller.chain_kit import LegAgent, allow, on_bench, order, rounds, start
from tests.fleet.controller.kit import FLEET, JOE, SEALING, Bench, let_in

from saltern.chains.inputs import Input
from saltern.chains.statuses import Step
from saltern.fleet.controller.chains.plan_desk import NewPlan
from saltern.fleet.controller.chains.vault import Vault, is_sealed
from saltern.fleet.protocol.ids import encode_id
from saltern.fleet.protocol.keys import SealingKey
from saltern.fleet.protocol.messages import Job
from saltern.fleet.protocol.seal import SealBroken
from saltern.fleet.protocol.sealed_inputs import SEALED, bound_to, open_arguments
from saltern.fleet.store.columns import METADATA
from saltern.language.diagnostics import OperationError

CHAIN = """\
chain: release
inputs:
  word: {}
  pin: {secret: true}
actions:
  - {id: a, command: 'echo ${input:word} ${input:pin}'}
"""
FIRST, SECOND = "Sibylla-of-Cumae", "Sibylla-of-Delphi"
SPECS = {"word": Input(), "pin": Input(secret=True)}
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(), st.lists, max_leaves=5
)


class SealedAgent(LegAgent):
    """An agent with a key of its own, which keeps the inputs that it was given."""

    key = SEALING
    got: list[dict[str, Any]]

    def node(self, job: Job) -> Any:
        self.got = [*getattr(self, "got", []), open_arguments(job.kwargs, self.key, FLEET, self.id)["pillar"]]
        return super().node(job)


async def sealed_agent(bench: Bench, id: str, **results: Step) -> SealedAgent:
    let_in(bench.database, id, {})
    agent = SealedAgent(bench.memory.connect(encode_id(id)), id, {}, results=results)
    await agent.start()
    bench.board.heard(id)
    return agent


def everything(bench: Bench) -> bytes:
    """Every column of every row of every table."""
    with bench.database.read() as connection:
        rows = [row for table in METADATA.sorted_tables for row in connection.execute(select(table))]
    return b"\n".join(
        one if isinstance(one, bytes) else str(one).encode() for row in rows for one in row if one is not None
    )


@on_bench
async def test_a_secret_input_is_in_no_table_and_reaches_its_system(bench: Bench) -> None:
    agent = await sealed_agent(bench, "web1", a=Step.FAILED)
    made = await start(bench, CHAIN, inputs={"word": "hello", "pin": FIRST})
    await rounds(bench)
    assert agent.got[0] == {"word": "hello", "pin": FIRST}
    await order(bench, made.run, "retry", inputs={"pin": SECOND})
    await rounds(bench)
    assert agent.got[-1] == {"word": "hello", "pin": SECOND}
    await bench.fleet.chains.plans.make(
        JOE.name, NewPlan(target="*", text=CHAIN, inputs={"word": "hello", "pin": FIRST}), permit=allow
    )
    kept = everything(bench)
    assert b"hello" in kept and FIRST.encode() not in kept and SECOND.encode() not in kept


@on_bench
async def test_what_is_shown_before_a_run_is_made_has_no_secrets(bench: Bench) -> None:
    shown = await bench.fleet.chains.show_inputs("", None, CHAIN, {"word": "x", "pin": FIRST})
    assert shown == {"word": "x", "pin": "(concealed)"}
    unread = await bench.fleet.chains.show_inputs("", None, "actions: [", {"word": "x", "pin": FIRST})
    assert set(unread.values()) == {"(concealed)"}
    kept = bench.fleet.chains.keep_inputs(CHAIN, {"word": "x", "pin": FIRST})
    assert kept["word"] == "x" and is_sealed(kept["pin"])


@given(values, values)
def test_what_is_closed_is_opened_as_it_was_and_shows_nothing(word: object, pin: object) -> None:
    vault = Vault(b"1" * 32, "f")
    closed = vault.seal_values(SPECS, {"word": word, "pin": pin})
    assert json.decode(json.encode(vault.open_values(closed))) == json.decode(
        json.encode({"word": word, "pin": pin})
    )
    assert closed["word"] == word
    with pytest.raises(OperationError, match="not this controller's"):
        Vault(b"2" * 32, "f").open_values(closed)
    with pytest.raises(OperationError, match="not this controller's"):
        vault.open_values({"word": closed["pin"]})  # it was another input's


def test_a_box_is_for_one_system_of_one_fleet() -> None:
    key = SealingKey.new()
    box = Vault(b"1" * 32, "f")._box(b'{"pin": 1}', "web1", key.public)
    good = {"pillar": {"word": 2}, SEALED: {"web1": box}}
    assert open_arguments(good, key, "f", "web1") == {"pillar": {"word": 2, "pin": 1}}
    for given_, who, fleet in ((good, "web2", "f"), (good, "web1", "g"), ({SEALED: []}, "web1", "f")):
        with pytest.raises(SealBroken):
            open_arguments(given_, key, fleet, who)
    with pytest.raises(SealBroken):
        open_arguments({SEALED: {"web2": box}}, key, "f", "web2")
    with pytest.raises(SealBroken):
        open_arguments(good, None, "f", "web1")
    assert bound_to("f", "web1") != bound_to("f", "web2")
    assert open_arguments({"sealed": True}, None, "f", "web1") == {"sealed": True}, "of another function"
