"""A reader of a broker that answers in any order: all that was sent is fetched, once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fleet.harness import run

from saltern.fleet.bus.inbox import PENDING, Inbox
from saltern.fleet.bus.ports import Delivery, Disconnected, Message, ReaderOptions
from saltern.fleet.bus.reader import StreamReader

OPTIONS = ReaderOptions(stream="KEPT", name="r")


class ScriptedBroker:
    """Has messages for a reader. The end of a request may overtake what was sent for it."""

    def __init__(self, messages: int, seed: int) -> None:
        self.left = list(range(1, messages + 1))
        self.chance = Random(seed)
        self.inbox = Inbox("_INBOX.one.x")
        self.opened = 0
        self.back: list[str] = []
        self.is_lost = False
        self.is_silent = False

    async def api(self, verb: str, body: object = None) -> bytes:
        return b"{}"

    def inboxes(self) -> ScriptedBroker:
        return self

    async def open(self) -> Inbox:
        self.opened += 1
        self.inbox = Inbox(f"_INBOX.one.{self.opened}")
        return self.inbox

    async def close(self, inbox: Inbox) -> None: ...

    async def publish(self, subject: str, data: bytes = b"", *, reply: str = "") -> None:
        if data.startswith(b"-NAK"):
            self.back.append(subject.split(".")[5])
        if "MSG.NEXT" in subject and not self.is_silent:
            self._answer(msgspec.json.decode(data), reply)

    async def publish_each(self, subjects: Iterable[str], data: bytes) -> None: ...

    def _answer(self, request: dict[str, int], reply: str) -> None:
        if self.is_lost:
            self.inbox.put(Message(reply, status=503))
            return
        most = min(request["batch"], len(self.left))
        count = most if request.get("no_wait") else self.chance.randint(0, most)
        out = [_sent(self.left.pop(0)) for _ in range(count)]
        status, pending = (404, {}) if not count else (408, {PENDING: str(request["batch"] - count)})
        end = Message(reply, headers=pending, status=status)
        out.insert(self.chance.randint(0, len(out)), end)
        late = self.chance.randint(0, len(out))
        for message in out[:late]:
            self.inbox.put(message)
        loop = asyncio.get_running_loop()
        for message in out[late:]:
            loop.call_soon(self.inbox.put, message)


def _sent(number: int) -> Message:
    return Message("kept.a", b"%d" % number, f"$JS.ACK.KEPT.r.1.{number}.{number}.0.0")


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 25), st.integers(1, 10), st.integers(0, 2**32), st.sampled_from([0.0, 0.05]))
def test_an_end_that_overtakes_its_messages_loses_none(
    messages: int, count: int, seed: int, wait: float
) -> None:
    async def scenario() -> list[int]:
        broker = ScriptedBroker(messages, seed)
        reader = StreamReader(broker, OPTIONS)
        got: list[Delivery] = []
        for _ in range(4 * messages + 4):
            some = await reader.fetch(count, wait)
            assert len(some) <= count
            got += some
            if len(got) == messages:
                break
        return [one.kept.sequence for one in got]

    assert run(scenario()) == list(range(1, messages + 1))


def test_what_came_over_a_lost_connection_is_still_fetched_and_then_it_is_reported() -> None:
    async def scenario() -> None:
        broker = ScriptedBroker(0, 0)
        reader = StreamReader(broker, OPTIONS)
        assert await reader.fetch(5, 0) == []
        broker.is_silent = True
        waiting = asyncio.create_task(reader.fetch(5, 30))
        await asyncio.sleep(0)
        broker.inbox.cut("gone")
        with pytest.raises(Disconnected, match="gone"):
            await waiting
        broker.is_silent = False
        assert await reader.fetch(5, 0) == []
        broker.inbox.put(_sent(7))
        broker.inbox.cut("gone")
        assert [one.kept.sequence for one in await reader.fetch(5, 30)] == [7]
        assert broker.opened == 2

    run(scenario())


def test_a_reader_that_stops_gives_back_what_was_not_fetched() -> None:
    async def scenario() -> None:
        broker = ScriptedBroker(0, 0)
        reader = StreamReader(broker, OPTIONS)
        await reader.fetch(5, 0)
        broker.inbox.put(_sent(7))
        broker.inbox.put(_sent(8))
        await reader.stop()
        await reader.stop()
        assert broker.back == ["7", "8"]

    run(scenario())


def test_a_reader_that_the_broker_has_lost_is_made_again() -> None:
    async def scenario() -> None:
        broker = ScriptedBroker(3, 0)
        broker.is_lost = True
        reader = StreamReader(broker, OPTIONS)
        assert await reader.fetch(5, 0) == []
        broker.is_lost = False
        assert len(await reader.fetch(5, 0)) == 3

    run(scenario())


def test_a_fetch_that_lingers_takes_what_follows_and_stores_the_rest_for_the_next() -> None:
    async def scenario() -> None:
        broker = ScriptedBroker(0, 0)
        reader = StreamReader(broker, OPTIONS)
        assert await reader.fetch(4, 0) == []
        broker.is_silent = True  # a request that waits is open
        waiting = asyncio.create_task(reader.fetch(4, 30, linger=0.5))
        for number in (1, 2, 3):
            await asyncio.sleep(0.01)
            broker.inbox.put(_sent(number))
        assert [one.kept.sequence for one in await waiting] == [1, 2, 3]
        for number in (4, 5):
            broker.inbox.put(_sent(number))
        assert [one.kept.sequence for one in await reader.fetch(1, 30, linger=0.5)] == [4]
        assert [one.kept.sequence for one in await reader.fetch(4, 0)] == [5]

    run(scenario())
