"""What every bus does: the same tests on NATS and in memory."""

from __future__ import annotations

import asyncio

import pytest
from tests.fleet.harness import Place, run, until

from saltern.fleet.bus.fair import SHARE
from saltern.fleet.bus.ports import (
    Bus,
    BusError,
    Change,
    Delivery,
    Disconnected,
    Message,
    NoAnswer,
    NoListener,
    NoStream,
    NotPermitted,
    ReaderOptions,
    State,
    StreamRefused,
)
from saltern.fleet.protocol.streams import Stream
from saltern.language.diagnostics import Diagnostic, OperationError

KEPT = Stream(name="KEPT", max_age=0, max_bytes=1 << 20, direct=True, about="a stream of the tests")
SUBJECTS = ("kept.>",)


class Heard:
    """A handler that remembers."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    async def __call__(self, message: Message) -> None:
        self.messages.append(message)

    @property
    def data(self) -> list[bytes]:
        return [message.data for message in self.messages]


async def echo(bus: Bus, subject: str, text: bytes = b"") -> None:
    async def answer(message: Message) -> None:
        await bus.publish(message.reply, text or message.data)

    await bus.subscribe(subject, answer, queue="group")


# -- core ------------------------------------------------------------------------------------------


def test_a_message_reaches_all_who_listen_in_order_and_no_one_else(place: Place) -> None:
    async def scenario() -> None:
        one, two = await place.connect("one"), await place.connect("two")
        here, there, other = Heard(), Heard(), Heard()
        await one.subscribe("a.*", here)
        await two.subscribe("a.>", there)
        await two.subscribe("b.>", other)
        for number in range(50):
            await one.publish("a.x", b"%d" % number, headers={"Number": str(number)})
        await one.publish("a.x.y", b"deeper")
        await until(lambda: len(there.messages) == 51 and len(here.messages) == 50)
        assert here.data == [b"%d" % number for number in range(50)] == there.data[:50]
        assert here.messages[7].headers["Number"] == "7"
        assert other.messages == []
        await one.close()
        await two.close()

    run(scenario())


def test_the_same_message_reaches_many_subjects_and_none_of_it_is_sent_if_one_is_not_valid(
    place: Place,
) -> None:
    async def scenario() -> None:
        one, two = await place.connect("one"), await place.connect("two")
        heard = Heard()
        await two.subscribe("a.>", heard)
        await one.publish_each((f"a.{number}" for number in range(200)), b"data")
        await one.publish("a.end")
        await until(lambda: len(heard.messages) == 201)
        assert [message.subject for message in heard.messages[:200]] == [f"a.{n}" for n in range(200)]
        assert {*heard.data[:200]} == {b"data"}
        await one.publish_each([], b"data")
        with pytest.raises(BusError):
            await one.publish_each(["a b"], b"data")
        await one.publish("a.last")
        await until(lambda: heard.messages[-1].subject == "a.last")
        assert len(heard.messages) == 202
        await one.close()
        with pytest.raises(BusError):
            await one.publish_each(["a.x"], b"data")
        await two.close()

    run(scenario())


def test_a_subscription_that_was_stopped_hears_nothing(place: Place) -> None:
    async def scenario() -> None:
        bus = await place.connect("one")
        stopped, going = Heard(), Heard()
        sub = await bus.subscribe("a", stopped)
        await bus.subscribe("a", going)
        await sub.stop()
        await bus.publish("a", b"x")
        await until(lambda: going.messages)
        assert stopped.messages == []
        await bus.close()

    run(scenario())


def test_one_member_of_a_queue_group_gets_each_message(place: Place) -> None:
    async def scenario() -> None:
        one, two = await place.connect("one"), await place.connect("two")
        first, second = Heard(), Heard()
        await one.subscribe("work", first, queue="ctl")
        await two.subscribe("work", second, queue="ctl")
        for number in range(100):
            await one.publish("work", b"%d" % number)
        await until(lambda: len(first.messages) + len(second.messages) == 100)
        assert sorted(first.data + second.data) == sorted(b"%d" % number for number in range(100))
        assert first.messages and second.messages
        await one.close()
        await two.close()

    run(scenario())


def test_a_request_gets_the_answer(place: Place) -> None:
    async def scenario() -> None:
        one, two = await place.connect("one"), await place.connect("two")
        await echo(two, "service.*")
        answers = await asyncio.gather(
            *(one.request(f"service.{n}", b"%d" % n, timeout=5) for n in range(50))
        )
        assert [answer.data for answer in answers] == [b"%d" % n for n in range(50)]
        await one.close()
        await two.close()

    run(scenario())


def test_who_asks_where_nothing_listens_is_told_so_and_does_not_wait(place: Place) -> None:
    async def scenario() -> None:
        bus = await place.connect("one")
        with pytest.raises(NoListener):
            await bus.request("nothing.here", timeout=3600)
        await bus.close()

    run(scenario(), timeout=20)


def test_a_subject_that_a_stream_keeps_never_says_that_nothing_listens(place: Place) -> None:
    """So presence is asked for on a subject that no stream keeps."""

    async def scenario() -> None:
        bus = await place.connect("one")
        await bus.make_stream(KEPT, SUBJECTS)
        await bus.request("kept.job", b"x", timeout=5)
        with pytest.raises(NoListener):
            await bus.request("poke.job", b"x", timeout=5)
        await bus.close()

    run(scenario())


def test_a_publish_with_a_reply_that_nothing_hears_is_answered_with_503(place: Place) -> None:
    async def scenario() -> None:
        bus = await place.connect("one")
        heard = Heard()
        await bus.subscribe("up.*.ans.one.*", heard)
        await bus.publish("dn.web1.ctl", reply="up.web1.ans.one.n1")
        await until(lambda: heard.messages)
        assert [(message.subject, message.status) for message in heard.messages] == [
            ("up.web1.ans.one.n1", 503)
        ]
        await bus.close()

    run(scenario())


def test_no_answer_in_time_is_an_error_of_its_own(place: Place) -> None:
    async def scenario() -> None:
        bus = await place.connect("one")
        await bus.subscribe("deaf", Heard())
        with pytest.raises(NoAnswer):
            await bus.request("deaf", timeout=0.1)
        await bus.close()

    run(scenario())


@pytest.mark.parametrize("subject", ["a.*", "a.>", "a b", "a\r\nPUB x 0\r\n"])
def test_what_is_no_subject_is_not_published_to(place: Place, subject: str) -> None:
    async def scenario() -> None:
        bus = await place.connect("one")
        with pytest.raises(BusError):
            await bus.request(subject, b"x", timeout=0.2)
        await bus.close()

    run(scenario())


def test_a_handler_that_fails_ends_nothing(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        bus = await place.connect("one")
        seen: list[bytes] = []

        async def handler(message: Message) -> None:
            seen.append(message.data)
            raise ValueError("a fault of ours")

        await bus.subscribe("a", handler)
        await bus.publish("a", b"1")
        await bus.publish("a", b"2")
        await until(lambda: seen == [b"1", b"2"])
        await bus.close()

    run(scenario())
    assert "a fault of ours" in caplog.text


def test_a_handler_whose_database_is_away_is_reported_once(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        bus = await place.connect("one")
        seen: list[bytes] = []

        async def handler(message: Message) -> None:
            seen.append(message.data)
            raise OperationError(Diagnostic(code="database-error", what="the database is away"))

        await bus.subscribe("a", handler)
        for number in range(20):
            await bus.publish("a", b"%d" % number)
        await until(lambda: len(seen) == 20)
        await bus.close()

    run(scenario())
    assert caplog.text.count("the database is away") == 1
    assert "Traceback" not in caplog.text


def test_handlers_run_one_at_a_time_or_as_many_as_were_asked_for(place: Place) -> None:
    async def scenario(parallel: int) -> int:
        bus = await place.connect("one")
        now = most = done = 0

        async def handler(_message: Message) -> None:
            nonlocal now, most, done
            now += 1
            most = max(most, now)
            await asyncio.sleep(0.02)
            now -= 1
            done += 1

        await bus.subscribe("a", handler, parallel=parallel)
        for _ in range(12):
            await bus.publish("a")
        await until(lambda: done == 12)
        await bus.close()
        return most

    assert run(scenario(1)) == 1
    assert run(scenario(4)) == 4


def test_messages_above_the_limit_of_a_subscription_are_dropped_and_that_is_reported(place: Place) -> None:
    async def scenario() -> None:
        bus = await place.connect("one")
        changes: list[Change] = []
        bus.watch(changes.append)
        gate = asyncio.Event()
        heard = Heard()

        async def slow(message: Message) -> None:
            await gate.wait()
            await heard(message)

        await bus.subscribe("a", slow, pending=5)
        for _ in range(100):
            await bus.publish("a", b"x")
        await until(lambda: any(change.state is State.DROPPED for change in changes))
        gate.set()
        await until(lambda: len(heard.messages) >= 5)
        assert len(heard.messages) < 100
        await bus.close()

    run(scenario())


def test_one_who_floods_loses_its_own_messages_and_no_one_elses(place: Place) -> None:
    async def scenario() -> None:
        bus = await place.connect("one")
        changes: list[Change] = []
        bus.watch(changes.append)
        gate, handled = asyncio.Event(), Heard()

        async def slow(message: Message) -> None:
            await gate.wait()
            await asyncio.sleep(0)
            await handled(message)

        await bus.subscribe("up.*.svc", slow, parallel=2, sender=1)
        for _ in range(1000):
            await bus.publish("up.hostile.svc", b"flood")
        await bus.publish("up.web1.svc", b"please")
        await bus.publish("up.db1.svc", b"please")
        await bus.flush()
        await until(lambda: sum(change.state is State.DROPPED for change in changes) >= 1000 - 2 - SHARE)
        gate.set()
        await until(lambda: len(handled.messages) >= 2 + SHARE)
        assert len(handled.messages) <= 2 + SHARE + 2
        assert {message.subject for message in handled.messages[:20]} >= {"up.web1.svc", "up.db1.svc"}
        await bus.close()

    run(scenario())


# -- rights ----------------------------------------------------------------------------------------


def test_what_the_broker_does_not_permit_is_an_error_at_once(place: Place) -> None:
    async def scenario() -> None:
        one, limited = await place.connect("one"), await place.connect("limited")
        changes: list[Change] = []
        limited.watch(changes.append)
        heard = Heard()
        await one.subscribe(">", heard)
        await echo(one, "allowed.service")
        with pytest.raises(NotPermitted):
            await limited.subscribe("other.>", Heard())
        with pytest.raises(NotPermitted):
            await limited.request("other.service", timeout=3600)
        await limited.publish("other.thing", b"forged")
        await limited.flush()
        assert (await limited.request("allowed.service", b"x", timeout=5)).data == b"x"
        await until(lambda: sum(change.state is State.REFUSED for change in changes) == 3)
        assert [message for message in heard.messages if message.subject.startswith("other")] == []
        await one.close()
        await limited.close()

    run(scenario(), timeout=30)


# -- streams ---------------------------------------------------------------------------------------


def test_what_is_stored_is_numbered_and_the_same_id_is_stored_once(place: Place) -> None:
    async def scenario() -> None:
        bus = await place.connect("one")
        await bus.make_stream(KEPT, SUBJECTS)
        await bus.make_stream(KEPT, SUBJECTS)  # again is fine
        first = await bus.store("kept.a", b"1", id="x")
        again = await bus.store("kept.a", b"1", id="x")
        other = await bus.store("kept.a", b"2", id="y")
        assert (first.sequence, first.duplicate) == (1, False)
        assert (again.sequence, again.duplicate) == (1, True)
        assert other.sequence == 2
        state = await bus.stream_state("KEPT")
        assert (state.messages, state.first, state.last) == (2, 1, 2)
        await bus.close()

    run(scenario())


def test_a_stream_that_does_not_exist_says_so(place: Place) -> None:
    async def scenario() -> None:
        bus = await place.connect("one")
        with pytest.raises(NoStream):
            await bus.store("kept.a", b"1")
        with pytest.raises(NoStream):
            await bus.stream_state("KEPT")
        with pytest.raises(NoStream):
            await bus.last("KEPT", "kept.a")
        with pytest.raises(NoStream):
            await bus.reader(ReaderOptions(stream="KEPT", name="r"))
        await bus.close()

    run(scenario())


def test_a_stream_can_be_changed_and_keeps_what_it_has(place: Place) -> None:
    async def scenario() -> None:
        bus = await place.connect("one")
        await bus.make_stream(KEPT, ("kept.a",))
        await bus.store("kept.a", b"1")
        with pytest.raises(NoStream):
            await bus.store("kept.b", b"1")
        await bus.make_stream(KEPT, SUBJECTS)
        assert (await bus.store("kept.b", b"2")).sequence == 2
        await bus.close()

    run(scenario())


def test_messages_are_read_by_subject_and_by_number(place: Place) -> None:
    async def scenario() -> None:
        bus = await place.connect("one")
        await bus.make_stream(KEPT, SUBJECTS)
        for number, subject in enumerate(("kept.a", "kept.b", "kept.a", "kept.c")):
            await bus.store(subject, b"%d" % number)
        newest = await bus.last("KEPT", "kept.a")
        assert newest is not None and (newest.data, newest.sequence) == (b"2", 3)
        assert await bus.last("KEPT", "kept.zzz") is None
        got, at = [], 0
        while (kept := await bus.after("KEPT", at, "kept.*")) is not None:
            got.append((kept.subject, kept.data))
            at = kept.sequence
        assert got == [("kept.a", b"0"), ("kept.b", b"1"), ("kept.a", b"2"), ("kept.c", b"3")]
        late = await bus.after("KEPT", 1, "kept.a")
        assert late is not None and late.sequence == 3
        await bus.remove("KEPT", "kept.a")
        assert await bus.last("KEPT", "kept.a") is None
        assert (await bus.stream_state("KEPT")).messages == 2
        await bus.close()

    run(scenario())


def test_a_stream_of_last_values_has_one_message_for_each_subject(place: Place) -> None:
    async def scenario() -> None:
        bus = await place.connect("one")
        blobs = Stream(name="LAST", max_age=0, max_bytes=1 << 20, last_only=True, direct=True, about="x")
        await bus.make_stream(blobs, ("last.*",))
        for number in range(5):
            await bus.store("last.a", b"%d" % number)
        await bus.store("last.b", b"b")
        assert (await bus.stream_state("LAST")).messages == 2
        kept = await bus.last("LAST", "last.a")
        assert kept is not None and kept.data == b"4"
        await bus.close()

    run(scenario())


def test_the_subjects_of_a_stream_can_be_listed(place: Place) -> None:
    async def scenario() -> None:
        bus = await place.connect("one")
        await bus.make_stream(KEPT, SUBJECTS)
        assert await bus.subjects("KEPT", "kept.>") == set()
        names = {f"kept.a.{number}" for number in range(300)}
        for name in sorted(names):
            await bus.publish(name, b"x")
        await bus.store("kept.b.1", b"x")
        await bus.store("kept.a.0", b"once more")
        assert await bus.subjects("KEPT", "kept.>") == names | {"kept.b.1"}
        assert await bus.subjects("KEPT", "kept.a.*") == names
        with pytest.raises(NoStream):
            await bus.subjects("NONE", ">")
        await bus.close()

    run(scenario())


def test_a_full_stream_that_is_to_lose_nothing_refuses_more(place: Place) -> None:
    async def scenario() -> None:
        bus = await place.connect("one")
        small = Stream(
            name="SMALL",
            max_age=0,
            max_bytes=4000,
            last_only=True,
            direct=True,
            refuses_when_full=True,
            about="x",
        )
        await bus.make_stream(small, ("small.*",))
        await bus.store("small.a", b"x" * 1500)
        await bus.store("small.b", b"x" * 1500)
        with pytest.raises(StreamRefused):
            await bus.store("small.c", b"x" * 1500)
        assert await bus.subjects("SMALL", ">") == {"small.a", "small.b"}
        await bus.close()

    run(scenario())


def test_an_old_message_makes_room_when_the_stream_is_full(place: Place) -> None:
    async def scenario() -> None:
        bus = await place.connect("one")
        await bus.make_stream(Stream(name="SMALL", max_age=0, max_bytes=8192, about="x"), ("small.*",))
        for _ in range(20):
            await bus.store("small.a", bytes(1000))
        state = await bus.stream_state("SMALL")
        assert 0 < state.messages <= 8 and state.last == 20
        await bus.close()

    run(scenario())


def test_a_reader_gets_all_and_continues_where_its_name_left_off(place: Place) -> None:
    async def scenario() -> None:
        bus = await place.connect("one")
        await bus.make_stream(KEPT, SUBJECTS)
        for number in range(10):
            await bus.store(f"kept.{'odd' if number % 2 else 'even'}", b"%d" % number)
        options = ReaderOptions(stream="KEPT", name="index", subjects=("kept.even",))
        reader = await bus.reader(options)
        got = await reader.fetch(3, 1)
        assert [one.kept.data for one in got] == [b"0", b"2", b"4"]
        assert [(one.kept.sequence, one.attempt) for one in got] == [(1, 1), (3, 1), (5, 1)]
        await reader.done(got)
        await bus.flush()
        await bus.close()
        other = await place.connect("two")
        rest = await (await other.reader(options)).fetch(10, 1)
        assert [one.kept.data for one in rest] == [b"6", b"8"]
        await other.close()

    run(scenario())


def test_a_fetch_waits_for_the_first_message_and_comes_back_empty_in_time(place: Place) -> None:
    async def scenario() -> None:
        bus = await place.connect("one")
        await bus.make_stream(KEPT, SUBJECTS)
        reader = await bus.reader(ReaderOptions(stream="KEPT", name="r"))
        assert await reader.fetch(5, 0.1) == []
        assert await reader.fetch(5, 0) == []
        waiting = asyncio.create_task(reader.fetch(1, 10))
        await asyncio.sleep(0.1)
        await bus.store("kept.a", b"x")
        assert [one.kept.data for one in await waiting] == [b"x"]
        await bus.close()

    run(scenario(), timeout=30)


def test_what_is_not_acknowledged_is_delivered_again(place: Place) -> None:
    async def scenario() -> None:
        bus = await place.connect("one")
        await bus.make_stream(KEPT, SUBJECTS)
        await bus.store("kept.a", b"x")
        await bus.store("kept.a", b"y")
        reader = await bus.reader(ReaderOptions(stream="KEPT", name="r", ack_wait=0.3))
        x, y = await reader.fetch(2, 1)
        await reader.done([y])
        (again,) = await reader.fetch(2, 5)
        assert (again.kept.data, again.attempt) == (b"x", 2)
        await reader.again(again)
        (third,) = await reader.fetch(2, 5)
        assert (third.kept.data, third.attempt) == (b"x", 3)
        await reader.done([third])
        assert x.kept.sequence == third.kept.sequence
        assert await reader.fetch(2, 0.6) == []
        await bus.close()

    run(scenario())


def test_two_readers_of_one_name_share_the_work(place: Place) -> None:
    async def scenario() -> None:
        one, two = await place.connect("one"), await place.connect("two")
        await one.make_stream(KEPT, SUBJECTS)
        options = ReaderOptions(stream="KEPT", name="r")
        first, second = await one.reader(options), await two.reader(options)
        for number in range(20):
            await one.store("kept.a", b"%d" % number)
        got = [*await first.fetch(10, 1), *await second.fetch(20, 1)]
        assert sorted(one.kept.sequence for one in got) == list(range(1, 21))
        await one.close()
        await two.close()

    run(scenario())


# -- faults ----------------------------------------------------------------------------------------


def test_a_lost_broker_is_reported_and_what_was_subscribed_is_heard_again(place: Place) -> None:
    async def scenario() -> None:
        bus = await place.connect("one")
        changes: list[Change] = []
        bus.watch(changes.append)
        heard = Heard()
        await bus.subscribe("a", heard)
        await bus.make_stream(KEPT, SUBJECTS)
        await bus.store("kept.a", b"before")
        place.stop()
        await until(lambda: not bus.connected and changes)
        with pytest.raises(Disconnected):
            await bus.publish("a", b"lost")
        with pytest.raises(Disconnected):
            await bus.store("kept.a", b"lost")
        place.start()
        await until(lambda: bus.connected)
        await bus.publish("a", b"found")
        await until(lambda: heard.messages)
        assert heard.data == [b"found"]
        assert (await bus.stream_state("KEPT")).messages == 1
        states = [change.state for change in changes if change.state is not State.RETRY]
        assert states == [State.LOST, State.CONNECTED]
        await bus.close()

    run(scenario())


def test_a_request_that_waits_ends_when_the_broker_does(place: Place) -> None:
    async def scenario() -> None:
        bus = await place.connect("one")
        await bus.subscribe("deaf", Heard())
        waiting = asyncio.create_task(bus.request("deaf", timeout=3600))
        await asyncio.sleep(0.1)
        place.stop()
        with pytest.raises(Disconnected):
            await waiting
        await bus.close()

    run(scenario(), timeout=20)


def test_streams_and_readers_are_made_again_when_the_disk_of_the_broker_is_lost(place: Place) -> None:
    async def scenario() -> None:
        bus = await place.connect("one")
        await bus.make_stream(KEPT, SUBJECTS)
        reader = await bus.reader(ReaderOptions(stream="KEPT", name="r"))
        await bus.store("kept.a", b"lost", id="x")
        place.stop(lose_disk=True)
        await until(lambda: not bus.connected)
        place.start()
        await until(lambda: bus.connected)
        with pytest.raises(NoStream):
            await bus.store("kept.a", b"again", id="x")
        await bus.make_stream(KEPT, SUBJECTS)
        assert not (await bus.store("kept.a", b"again", id="x")).duplicate
        got: list[Delivery] = []
        while not got:
            got = await reader.fetch(5, 1)
        assert [one.kept.data for one in got] == [b"again"]
        await bus.close()

    run(scenario())


def test_a_subscription_can_be_made_while_there_is_no_broker(place: Place) -> None:
    async def scenario() -> None:
        bus = await place.connect("one")
        place.stop()
        await until(lambda: not bus.connected)
        heard = Heard()
        await bus.subscribe("a", heard)
        place.start()
        await until(lambda: bus.connected)
        await bus.publish("a", b"x")
        await until(lambda: heard.messages)
        await bus.close()

    run(scenario())


def test_renewing_the_connection_loses_no_message(place: Place) -> None:
    async def scenario() -> None:
        one, two = await place.connect("one"), await place.connect("two")
        heard = Heard()
        await one.subscribe("a", heard)
        stop = asyncio.Event()
        sent = 0

        async def send() -> None:
            nonlocal sent
            while not stop.is_set():
                await two.publish("a", b"%d" % sent)
                sent += 1
                await asyncio.sleep(0.001)

        sending = asyncio.create_task(send())
        for _ in range(3):
            await one.renew()
            await asyncio.sleep(0.05)
        stop.set()
        await sending
        await two.flush()
        await until(lambda: {b"%d" % n for n in range(sent)} <= set(heard.data))
        await one.close()
        await two.close()

    run(scenario())


def test_a_closed_bus_is_disconnected(place: Place) -> None:
    async def scenario() -> None:
        bus = await place.connect("one")
        await bus.close()
        assert not bus.connected
        with pytest.raises(Disconnected):
            await bus.publish("a")

    run(scenario())
