"""Faults in memory happen as they are asked for, and what is built on the bus survives them."""

from __future__ import annotations

import asyncio
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fleet.harness import run

from saltern.fleet.bus.backoff import STEPS, Backoff
from saltern.fleet.bus.faults import Faults
from saltern.fleet.bus.memory import MemoryHub
from saltern.fleet.bus.ports import BusError, Message, ReaderOptions
from saltern.fleet.protocol.streams import Stream

RETURNS = Stream(name="RETURNS", max_age=0, max_bytes=1 << 30, about="x")


async def heard_with(faults: Faults, number: int = 200, seed: int = 1) -> list[int]:
    hub = MemoryHub(seed)
    hub.faults = faults
    one, two = hub.connect("one"), hub.connect("two")
    heard: list[int] = []

    async def handler(message: Message) -> None:
        heard.append(int(message.data))

    await two.subscribe("a", handler)
    for n in range(number):
        await one.publish("a", b"%d" % n)
    await asyncio.sleep(0.2)
    await one.close()
    await two.close()
    return heard


def test_without_faults_everything_arrives_once_and_in_order() -> None:
    assert run(heard_with(Faults())) == list(range(200))


def test_loss_loses_and_nothing_else() -> None:
    heard = run(heard_with(Faults(loss=0.3)))
    assert 0 < len(heard) < 200 and heard == sorted(set(heard))


def test_duplication_delivers_again_and_loses_nothing() -> None:
    heard = run(heard_with(Faults(duplicate=0.3)))
    assert len(heard) > 200 and set(heard) == set(range(200))


def test_reorder_changes_the_order_and_loses_nothing() -> None:
    heard = run(heard_with(Faults(reorder=0.3)))
    assert heard != sorted(heard) and sorted(heard) == list(range(200))


def test_delay_delivers_late_and_loses_nothing() -> None:
    assert sorted(run(heard_with(Faults(delay=0.05)))) == list(range(200))


def test_the_same_seed_has_the_same_faults() -> None:
    assert run(heard_with(Faults(loss=0.5), seed=7)) == run(heard_with(Faults(loss=0.5), seed=7))


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.floats(0.05, 0.4), st.floats(0.05, 0.4))
def test_what_is_stored_again_until_it_is_acknowledged_is_there_exactly_once(
    seed: int, loss: float, duplicate: float
) -> None:
    """An agent's spool: store with an id until it is acknowledged; a reader until it is done."""

    async def scenario() -> list[bytes]:
        hub = MemoryHub(seed)
        agent, controller = hub.connect("agent"), hub.connect("controller")
        await controller.make_stream(RETURNS, ("up.*.ret.*",))
        hub.faults = Faults(loss=loss, duplicate=duplicate, reorder=0.2, delay=0.005)
        for number in range(10):
            while True:
                try:
                    await agent.store("up.web1.ret.j", b"%d" % number, id=f"j.{number}", timeout=0.02)
                    break
                except BusError:
                    continue
        reader = await controller.reader(ReaderOptions(stream="RETURNS", name="index", ack_wait=0.02))
        seen: dict[int, bytes] = {}
        while len(seen) < 10:
            got = await reader.fetch(5, 0.05)
            seen |= {one.kept.sequence: one.kept.data for one in got}
            await reader.done(got)
        state = await controller.stream_state("RETURNS")
        assert state.messages == 10
        await agent.close()
        await controller.close()
        return [seen[number] for number in sorted(seen)]

    assert sorted(run(scenario())) == [b"%d" % n for n in range(10)]


def test_a_bus_that_is_cut_off_hears_nothing_until_it_is_back() -> None:
    async def scenario() -> list[bytes]:
        hub = MemoryHub()
        one, two = hub.connect("one"), hub.connect("two")
        heard: list[bytes] = []

        async def handler(message: Message) -> None:
            heard.append(message.data)

        await two.subscribe("a", handler)
        two.cut()
        await one.publish("a", b"missed")
        two.join()
        await one.publish("a", b"heard")
        await asyncio.sleep(0.01)
        await one.close()
        await two.close()
        return heard

    assert run(scenario()) == [b"heard"]


# -- back-off --------------------------------------------------------------------------------------


@given(st.integers(0, 1000), st.floats(0, 1, exclude_max=True))
def test_a_delay_is_anything_up_to_its_step(attempt: int, chance: float) -> None:
    delay = Backoff().delay(attempt, lambda: chance)
    assert 0 <= delay <= STEPS[min(attempt, len(STEPS) - 1)]


def test_a_thousand_agents_that_lost_the_broker_together_come_back_spread_over_the_step() -> None:
    chance = Random(1).random
    delays = sorted(Backoff(steps=(10.0,)).delay(0, chance) for _ in range(1000))
    for second in range(10):
        assert 50 < sum(second <= delay < second + 1 for delay in delays) < 150


@pytest.mark.parametrize("attempt", [len(STEPS), 10**9])
def test_the_last_step_counts_for_all_further_attempts(attempt: int) -> None:
    assert Backoff().delay(attempt, lambda: 1.0) == STEPS[-1]
