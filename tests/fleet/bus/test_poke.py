"""Who is there: known at once for those who are and for those who are not."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st
from tests.fleet.harness import Place, run

from saltern.fleet.bus.poke import Poker, Presence
from saltern.fleet.bus.ports import Bus, Handler, Message
from saltern.fleet.protocol.codec import encode
from saltern.fleet.protocol.messages import Alive
from saltern.fleet.protocol.subjects import SUBJECTS


async def answering(bus: Bus, name: str, data: bytes) -> None:
    async def on_poke(message: Message) -> None:
        await bus.publish(message.reply, data)

    await bus.subscribe(SUBJECTS["control"].of(id=name), on_poke)


def alive(instance: str) -> bytes:
    return encode(Alive(instance=instance))


def test_those_who_are_there_answer_and_of_the_others_the_broker_says_so(place: Place) -> None:
    async def scenario() -> None:
        one, two = await place.connect("one"), await place.connect("two")
        for number in range(20):
            await answering(two, f"web{number}.example.com", alive(f"i{number}"))
        poker = Poker(one, "c1")
        await poker.start()
        there = {f"web{number}.example.com" for number in range(20)}
        away = {f"db{number}" for number in range(20)}
        found = await poker.poke(there | away, timeout=3600)
        assert (set(found.there), found.away, found.silent) == (there, away, set())
        assert found.there["web3.example.com"][0].instance == "i3"
        assert (await poker.poke([], timeout=3600)).there == {}
        await poker.stop()
        await one.close()
        await two.close()

    run(scenario(), timeout=30)


def test_many_who_answer_one_after_the_other_are_waited_for(place: Place) -> None:
    async def scenario() -> None:
        one, two = await place.connect("one"), await place.connect("two")
        names = [f"web{number}" for number in range(12)]

        def slow(seconds: float) -> Handler:
            async def on_poke(message: Message) -> None:
                await asyncio.sleep(seconds)
                await two.publish(message.reply, alive("i"))

            return on_poke

        for number, name in enumerate(names):
            await two.subscribe(SUBJECTS["control"].of(id=name), slow(0.2 * number))
        poker = Poker(one, "c1")
        await poker.start()
        found = await poker.poke(names, timeout=1.5)  # the last one takes longer than that
        assert set(found.there) == set(names)
        await one.close()
        await two.close()

    run(scenario())


def test_one_who_listens_and_does_not_answer_is_silent_after_the_time(place: Place) -> None:
    async def scenario() -> None:
        one, two = await place.connect("one"), await place.connect("two")

        async def deaf(_message: Message) -> None: ...

        await two.subscribe(SUBJECTS["control"].of(id="web1"), deaf)
        poker = Poker(one, "c1")
        await poker.start()
        assert (await poker.poke(["web1"], timeout=0.1)).silent == {"web1"}
        await one.close()
        await two.close()

    run(scenario())


def test_two_agents_with_one_identity_both_answer(place: Place) -> None:
    async def scenario() -> None:
        one, two, three = [await place.connect(name) for name in ("one", "two", "three")]
        await answering(two, "web1", alive("first"))
        await answering(three, "web1", alive("second"))
        poker = Poker(one, "c1")
        await poker.start()
        found = await poker.poke(["web1"], timeout=10, linger=0.3)
        assert {answer.instance for answer in found.there["web1"]} == {"first", "second"}
        for bus in (one, two, three):
            await bus.close()

    run(scenario())


def test_garbage_and_answers_for_others_are_not_counted(place: Place) -> None:
    async def scenario() -> None:
        one, two = await place.connect("one"), await place.connect("two")

        async def hostile(message: Message) -> None:
            await two.publish(message.reply.replace("web1", "db1"), alive("x"))
            await two.publish(message.reply, b"[" * 10_000)

        await two.subscribe(SUBJECTS["control"].of(id="web1"), hostile)
        poker = Poker(one, "c1")
        await poker.start()
        found = await poker.poke(["web1"], timeout=10)
        assert found.there == {"web1": []} and found.asked == {"web1"}
        await one.close()
        await two.close()

    run(scenario())


names = st.sampled_from("abcde")


@given(st.frozensets(names), st.dictionaries(names, st.just([])), st.sets(names))
def test_a_round_is_complete_when_none_is_silent(
    asked: frozenset[str], there: dict[str, list[Alive]], away: set[str]
) -> None:
    found = Presence(asked, {id: there[id] for id in asked & there.keys()}, away & asked)
    assert found.is_complete == (not found.silent)
