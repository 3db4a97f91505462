"""Requests of one connection: each ends once, with whatever comes first."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fleet.harness import run

from saltern.fleet.bus.ports import BusError, Disconnected, Message, NoAnswer, NoListener, NotPermitted
from saltern.fleet.bus.requests import Requests

ENDS = ("answer", "nothing listens", "refused", "lost", "late")


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(ENDS), min_size=1, max_size=12), st.randoms())
def test_each_request_has_its_own_end_in_any_order(ends: list[str], chance: object) -> None:
    async def scenario() -> list[object]:
        requests = Requests("_INBOX.a.b")
        replies = [
            requests.begin(f"Do.{number}", 0.02 if end == "late" else 60) for number, end in enumerate(ends)
        ]
        waits = [asyncio.ensure_future(requests.answer(reply)) for reply in replies]
        await asyncio.sleep(0)
        order = [*enumerate(ends)]
        chance.shuffle(order)  # type: ignore[attr-defined]
        for number, end in order:
            if end == "answer":
                requests.put(Message(replies[number], b"%d" % number))
                requests.put(Message(replies[number], b"a second one"))
            elif end == "nothing listens":
                requests.put(Message(replies[number], status=503))
            elif end == "refused":
                requests.refuse(f"do.{number}")
        while any(not one.done() for one, end in zip(waits, ends, strict=True) if end != "lost"):
            await asyncio.sleep(0.005)
        requests.put(Message("_INBOX.a.b.99", b"for no one"))
        requests.end("gone")
        found = await asyncio.gather(*waits, return_exceptions=True)
        assert not len(requests)
        return [*found]

    kinds: dict[str, type[object]] = {
        "answer": Message,
        "nothing listens": NoListener,
        "refused": NotPermitted,
        "lost": Disconnected,
        "late": NoAnswer,
    }
    found = run(scenario())
    assert [type(one) for one in found] == [kinds[end] for end in ends]
    assert all(one.data == b"%d" % n for n, one in enumerate(found) if isinstance(one, Message))


def test_after_the_connection_has_ended_nothing_is_asked() -> None:
    async def scenario() -> None:
        requests = Requests("_INBOX.a.b")
        requests.end("")
        with pytest.raises(BusError, match="connection was lost"):
            requests.begin("x", 1.0)

    run(scenario())
