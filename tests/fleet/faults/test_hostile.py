"""A hostile agent with a valid credential, against a real controller and its real broker.

Whatever it sends is refused, counted and reported; the memory of the controller is bounded, and a real agent
beside it answers its pings.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from socket import gethostname

import pytest
from tests.fleet.controller.processes import Worker, join
from tests.fleet.faults.kit import (
    FaultFleet,
    alarms,
    local_fleet,
    ping,
    refusals,
    resident,
    short_directory,
    statuses,
    submit,
    wait_status,
    wait_until,
)
from tests.fleet.harness import run, until

from saltern.fleet.bus.ports import BusError, Change, State, TooLarge
from saltern.fleet.protocol.codec import encode
from saltern.fleet.protocol.messages import Event, Facts, Progress, Records, Return
from saltern.fleet.protocol.subjects import SUBJECTS

MIB = 1024 * 1024
ROOM = 160 * MIB  # that a controller may grow by, whatever is sent
OWN = "_INBOX.evil.x"  # where the answers to its requests may go

Attack = Callable[[Worker, str], Awaitable[None]]


@pytest.fixture(scope="module")
def fleet() -> Iterator[FaultFleet]:
    with short_directory() as directory, local_fleet(directory, "good") as fleet:
        yield fleet


def with_evil(fleet: FaultFleet, scenario: Callable[[Worker], Awaitable[None]]) -> None:
    """Run something with an agent ``evil``, whose key is removed afterwards."""

    async def whole() -> None:
        with fleet.client() as client:
            evil = await join(client.tokens.make(), "evil")
        evil.hold = True
        try:
            await scenario(evil)
        finally:
            await evil.bus.close()
            with fleet.client() as client:
                client.systems.remove("evil")

    run(whole(), timeout=120)


def stored(kind: str, data: bytes, **fields: str) -> Attack:
    """A message into a stream; ``jid`` may be ``*``, which is the job of another one."""

    async def attack(evil: Worker, other: str) -> None:
        subject = SUBJECTS[kind].of(
            id="evil", **{key: other if value == "*" else value for key, value in fields.items()}
        )
        await evil.bus.store(subject, data.replace(b"*", other.encode()))

    return attack


def asked(service: str, data: bytes, reply: str = OWN) -> Attack:
    async def attack(evil: Worker, _other: str) -> None:
        await evil.bus.publish(SUBJECTS[service].of(id="evil"), data, reply=reply)

    return attack


def shown(data: bytes) -> Attack:
    async def attack(evil: Worker, other: str) -> None:
        await evil.bus.publish(SUBJECTS["progress"].of(id="evil", jid=other), data)

    return attack


def raw(kind: str, tail: bytes = b"", head: bytes = b"", reply: bytes = b"", **fields: str) -> Attack:
    """Bytes that a client library would not send: ``tail`` is added to the subject."""

    async def attack(evil: Worker, _other: str) -> None:
        subject = SUBJECTS[kind].of(id="evil", **fields).encode() + tail
        verb, sizes = (b"HPUB", b"%d %d" % (len(head), len(head) + 2)) if head else (b"PUB", b"2")
        line = b"%b %b %b %b\r\n%bhi\r\n" % (verb, subject, reply, sizes, head)
        evil.bus._kept.link._client._transport.write(line)  # type: ignore[attr-defined]
        await evil.bus.flush()

    return attack


DEEP = b"[" * 200_000
NO_TEXT = b"\xff\xfe"
STATUS = b"NATS/1.0 503\r\nA: b\r\n\r\n"
NO_STATUS = b"NATS/1.0 \xff\xff\xff\r\nA: b\r\n\r\n"
LARGE = b'{"nonce":"n","instance":"' + b"x" * 900_000 + b'"}'
GARBAGE = b"\xff\x00\xfe no JSON"
NEWER = b'{"v":99,"nonce":"n","jid":"x","status":"returned"}'
ATTACKS: dict[str, tuple[Attack, str]] = {
    "a return of garbage": (stored("return", GARBAGE, jid="x"), "malformed"),
    "a return nested deep": (stored("return", DEEP, jid="x"), "too-deep"),
    "a return that is large": (stored("return", LARGE, jid="x"), "too-large"),
    "a return of the future": (stored("return", NEWER, jid="x"), "newer"),
    "a return for the job of another": (
        stored("return", b'{"jid":"*","status":"returned"}', jid="*"),
        "foreign-job",
    ),
    "a return under the subject of another job": (
        stored("return", b'{"jid":"*","status":"returned"}', jid="x"),
        "other-job",
    ),
    "a return of far too many parts": (
        stored("return", b'{"jid":"x","status":"returned","parts":4000,"part":1}', jid="x"),
        "too-large",
    ),
    "a return of numbers that are too large": (
        stored("return", b'{"jid":"x","status":"returned","exit_code":99999999999999999999}', jid="x"),
        "malformed",
    ),
    "records of garbage": (stored("records", GARBAGE, jid="x"), "malformed"),
    "records of the job of another": (
        stored("records", encode(Records(jid="*", run="r", first=0, records=[{"kind": "end"}])), jid="*"),
        "foreign-job",
    ),
    "an event of the controller's": (
        stored("event", b'{"tag":"salt/job/1/ret/good","data":{}}', tag="salt/job/1/ret/good"),
        "foreign-tag",
    ),
    "an event nested deep": (stored("event", DEEP, tag="a"), "too-deep"),
    "a word that it is away, of garbage": (stored("away", GARBAGE), "malformed"),
    "a sync of garbage": (asked("sync", GARBAGE), "malformed"),
    "a sync nested deep": (asked("sync", DEEP), "too-deep"),
    "a sync that is large": (asked("sync", LARGE), "too-large"),
    "a sync with its answer to another": (asked("sync", b"{}", "dn.good.job"), "foreign-reply"),
    "facts of garbage": (asked("facts", GARBAGE), "malformed"),
    "facts nested deep": (asked("facts", b'{"nonce":"n","grains":' + b'{"a":' * 100_000), "too-deep"),
    "a question for pillar, of garbage": (asked("pillar", GARBAGE), "malformed"),
    "a renewal with its answer to another": (asked("renew", b"{}", "_INBOX.good.x"), "enrol"),
    "a return under a subject that is no text": (raw("return", NO_TEXT, jid="x"), "malformed"),
    "a return with the status of the broker": (raw("return", head=STATUS, jid="x"), "malformed"),
    "an event with headers that are no text": (raw("event", head=NO_STATUS, tag="a"), "malformed"),
    "a sync with headers that are no text": (
        raw("sync", head=NO_STATUS, reply=OWN.encode()),
        "malformed",
    ),
    "a sync with its answer to what is no text": (raw("sync", reply=NO_TEXT), "foreign-reply"),
    "progress under a subject that is no text": (raw("progress", NO_TEXT, jid="x"), "bad-subject"),
    "progress of garbage": (shown(GARBAGE), "malformed"),
    "progress of the job of another": (
        shown(encode(Progress(jid="x", done=1, total=1, state="s")).replace(b'"x"', b'"y"')),
        "other-job",
    ),
}


def test_what_is_sent_is_refused_counted_and_reported(fleet: FaultFleet) -> None:
    async def scenario(evil: Worker) -> None:
        other = await asyncio.to_thread(submit, fleet, "test.ping", "good")
        for name, (attack, reason) in ATTACKS.items():
            before = (await asyncio.to_thread(refusals, fleet)).get(reason, 0)
            await attack(evil, other)
            await asyncio.to_thread(
                wait_until,
                lambda before=before, reason=reason: refusals(fleet).get(reason, 0) > before,  # type: ignore[misc]
                f"{name} is not counted as {reason}: {refusals(fleet)}",
                10.0,
            )
        reasons = {reason for _, reason in ATTACKS.values()}
        await asyncio.to_thread(
            wait_until,
            lambda: reasons <= alarms(fleet, "evil"),
            f"{reasons - alarms(fleet, 'evil')} not reported",
        )
        await asyncio.to_thread(ping, fleet, "good")
        assert statuses(fleet, other) == {"good": "returned"}

    with_evil(fleet, scenario)
    assert set(refusals(fleet)) <= {reason for _, reason in ATTACKS.values()} | {
        "flood"
    }  # words, few of them


def test_a_bomb_is_not_unpacked_beyond_its_limit(fleet: FaultFleet) -> None:
    """Small as it travels, large when it is read: many of them in one job, on one page."""
    packed = zlib.compress(b"[" + b"[]," * (20 * MIB) + b"[]]", 9)
    over = zlib.compress(b"[" + b"0," * (100 * MIB), 9)
    deep = zlib.compress(b"[" * 5_000_000, 9)

    async def scenario(evil: Worker) -> None:
        before = resident(fleet.pid("controller"))
        for body in (packed, over, deep, b"\x00 no zlib"):
            jid = await asyncio.to_thread(submit, fleet, "test.echo", "evil")
            one = Return(jid=jid, status="returned", encoding="json+zlib", size=9, body=body)
            await evil.bus.store(SUBJECTS["return"].of(id="evil", jid=jid), encode(one))
            await asyncio.to_thread(wait_status, fleet, jid, "evil", "returned")
            with fleet.client() as client:
                assert "cannot be read" in str(client.jobs.system_return(jid, "evil")["body"])[:200]
        assert resident(fleet.pid("controller")) - before < ROOM
        await asyncio.to_thread(ping, fleet, "good")

    with_evil(fleet, scenario)


async def flood(evil: Worker, subject: str, data: bytes, number: int, reply: str = "") -> None:
    """Send without waiting; a broker that cuts it off is what is wanted."""
    with suppress(BusError, asyncio.TimeoutError):
        for _ in range(number):
            await evil.bus.publish(subject, data, reply=reply)
        await evil.bus.flush()


FLOODS: dict[str, tuple[str, bytes, int]] = {
    "requests": ("up.evil.svc.sync", b'{"nonce":"n","instance":"i"}', 20_000),
    "facts": (
        "up.evil.svc.facts",
        encode(Facts(nonce="n", digest="0" * 64, grains={"a": "x" * 400_000})),
        200,
    ),
    "events": ("up.evil.evt.mine.flood", encode(Event(tag="mine/flood", data={"x": "y" * 1000})), 10_000),
    "returns of 700 kB": ("up.evil.ret.x", b'{"jid":"x","status":"returned","why":"' + b"x" * 700_000, 200),
    "answers to pokes": (f"up.evil.ans.{gethostname().split('.')[0]}.x", b"{}", 50_000),
    "progress": ("up.evil.prg.x", encode(Progress(jid="x", done=1, total=2, state="s")), 20_000),
}


@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_is_bounded_and_others_notice_nothing(fleet: FaultFleet, name: str) -> None:
    subject, data, number = FLOODS[name]

    async def scenario(evil: Worker) -> None:
        before = resident(fleet.pid("controller"))
        flooding = asyncio.create_task(
            flood(evil, subject, data, number, reply=OWN if ".svc." in subject else "")
        )
        await asyncio.to_thread(ping, fleet, "good")
        await flooding
        await asyncio.to_thread(ping, fleet, "good")
        assert resident(fleet.pid("controller")) - before < ROOM
        with fleet.client() as client:
            assert client.ready()

    with_evil(fleet, scenario)


def test_100_megabytes_in_one_message_are_cut_off_by_the_broker(fleet: FaultFleet) -> None:
    """Past the client, which would refuse it: the raw protocol, in its own connection."""

    async def scenario(evil: Worker) -> None:
        before = resident(fleet.pid("controller"))
        with pytest.raises(TooLarge):
            await evil.bus.publish("up.evil.ret.x", b"x" * (100 * MIB))
        lost: list[Change] = []
        evil.bus.watch(lambda change: lost.append(change) if change.state is State.LOST else None)
        client = evil.bus._kept.link._client  # type: ignore[attr-defined]
        client._transport.write(b"PUB up.evil.ret.x %d\r\n" % (100 * MIB) + b"x" * (100 * MIB))
        await until(lambda: lost, timeout=30)
        await asyncio.to_thread(ping, fleet, "good")
        assert resident(fleet.pid("controller")) - before < ROOM

    with_evil(fleet, scenario)


def test_the_id_of_a_message_of_another_cannot_be_used_up(fleet: FaultFleet) -> None:
    """The broker takes an id once, whoever sends it; a job for all systems shows its jid to all of them."""

    async def scenario(evil: Worker) -> None:
        jid = await asyncio.to_thread(fleet.slow_job, "good", sleep=1)
        for part in range(3):
            for turn in ("", ".1"):
                id_ = f"good.{jid}.{part}{turn}"
                await evil.bus.store(SUBJECTS["return"].of(id="evil", jid=jid), b"{}", id=id_)
        await asyncio.to_thread(wait_status, fleet, jid, "good", "returned")

    with_evil(fleet, scenario)


def test_lies_about_itself_change_nothing_for_others(fleet: FaultFleet) -> None:
    async def scenario(evil: Worker) -> None:
        lie = Facts(nonce="n", digest="1" * 64, grains={"id": "good", "os": "Lie", "host": "good"})
        await evil.bus.request(SUBJECTS["facts"].of(id="evil"), encode(lie), timeout=10)
        with fleet.client() as client:
            assert client.systems.facts("good")["grains"]["id"] == "good"
            assert client.systems.facts("evil")["grains"]["id"] == "evil"
            assert client.systems.resolve("good") == ["good"]
            assert client.systems.resolve("G@id:good") == ["good"]

    with_evil(fleet, scenario)
