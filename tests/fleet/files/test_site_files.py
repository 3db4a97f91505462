"""Files that a site keeps for its agents: its store, its service, and an agent that asks it first."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from tests.fleet.harness import run, until

from saltern.fleet.broker.site_server import SiteServer
from saltern.fleet.broker.site_store import SiteStore
from saltern.fleet.bus.memory import EVERYTHING, MemoryBus, MemoryHub
from saltern.fleet.bus.ports import Kept, Message, NoAnswer
from saltern.fleet.files.blobs import Blobs
from saltern.fleet.files.fetch import Fetcher
from saltern.fleet.files.pieces import PIECE, digest_of
from saltern.fleet.files.problems import NotFetched
from saltern.fleet.files.site_source import PAUSE, SiteSource
from saltern.fleet.protocol.site_messages import BLOB_ANSWER, BlobAnswer
from saltern.fleet.protocol.subjects import SUBJECTS

MIB = 1024 * 1024


def named(number: int) -> str:
    return digest_of(str(number).encode())


class Place:
    """A fleet with some blobs, a site that serves, and agents; on one bus in memory."""

    def __init__(self, folder: Path, *, limit: int = 100 * MIB, later: float = 5.0) -> None:
        self.hub = MemoryHub()
        self.link = CountingBus(self.hub)
        self.store = SiteStore(str(folder / "files"), limit)
        self.said: list[str] = []
        self.server = SiteServer(self.link, self.store, self.said.append, later=later)
        self.blobs = Blobs(self.hub.connect("c1"))
        self.now = 0.0

    async def start(self) -> None:
        await self.blobs.make()
        await self.server.start()

    def fetcher(self, name: str) -> Fetcher:
        bus = self.hub.connect(name)
        source = SiteSource(bus, name, clock=lambda: self.now)
        return Fetcher(bus, wait=0.3, absent_wait=0.3, site=source)

    async def fetch(self, name: str, digest: str, size: int) -> bytes:
        whole = bytearray()
        await self.fetcher(name).content(digest, size, whole.extend)
        return bytes(whole)


class CountingBus(MemoryBus):
    """The bus of the site: it counts what it reads of the fleet, and may be made to wait or to fail."""

    def __init__(self, hub: MemoryHub) -> None:
        super().__init__(hub, "_site-east", EVERYTHING)
        hub.buses.append(self)
        self.reads: list[str] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.is_cut = False

    async def last(self, stream: str, subject: str, *, timeout: float = 5.0) -> Kept | None:
        self.reads.append(subject)
        await self.gate.wait()
        if self.is_cut:
            raise NoAnswer("the link is cut")
        return await super().last(stream, subject, timeout=timeout)


def with_place(
    folder: Path, scenario: Callable[[Place], Awaitable[None]], *, limit: int = 100 * MIB, later: float = 5.0
) -> None:
    async def whole() -> None:
        place = Place(folder, limit=limit, later=later)
        await place.start()
        try:
            await scenario(place)
        finally:
            await place.server.stop()
            for bus in list(place.hub.buses):
                await bus.close()

    run(whole())


def test_many_agents_cost_the_link_one_reading(tmp_path: Path) -> None:
    async def scenario(place: Place) -> None:
        data = os.urandom(3 * PIECE + 5)
        digest = await place.blobs.put_data(data)
        place.link.gate.clear()
        together = [asyncio.create_task(place.fetch(f"e{n}", digest, len(data))) for n in range(5)]
        await until(lambda: place.link.reads)
        place.link.gate.set()
        assert await asyncio.gather(*together) == [data] * 5
        assert await place.fetch("late", digest, len(data)) == data
        assert len(place.link.reads) == len(set(place.link.reads)) == 5  # four pieces and the list of them
        assert place.server.fetched == pytest.approx(len(data), rel=0.01)

    with_place(tmp_path, scenario)


def test_one_who_waits_is_told_so_and_gets_it_in_the_end(tmp_path: Path) -> None:
    async def scenario(place: Place) -> None:
        digest = await place.blobs.put_data(b"slow")
        place.link.gate.clear()
        agent = place.hub.connect("e1")
        subject = SUBJECTS["site-blob"].of(id="e1", digest=digest)
        answer = await agent.request(subject, timeout=5)
        assert answer.headers[BLOB_ANSWER] == BlobAnswer.LATER.value
        waiting = asyncio.create_task(place.fetch("e2", digest, 4))
        await asyncio.sleep(0.1)
        assert not waiting.done()
        place.link.gate.set()
        assert await waiting == b"slow"
        assert len(place.link.reads) == 1

    with_place(tmp_path, scenario, later=0.02)


def test_what_the_site_cannot_have_the_fleet_gives(tmp_path: Path) -> None:
    async def scenario(place: Place) -> None:
        place.link.is_cut = True
        digest = await place.blobs.put_data(b"text")
        assert await place.fetch("e1", digest, 4) == b"text"
        assert len(place.link.reads) == 1

    with_place(tmp_path, scenario)


def test_what_the_fleet_does_not_have_is_not_asked_for_twice(tmp_path: Path) -> None:
    async def scenario(place: Place) -> None:
        source = SiteSource(place.hub.connect("e1"), "e1")
        given = await source.piece(named(1))
        assert given is not None
        assert given.data is None
        with pytest.raises(NotFetched, match="does not have it"):
            await place.fetch("e2", named(1), 4)
        digest = await place.blobs.put_data(b"came later")  # the site has kept no answer of before
        assert await place.fetch("e3", digest, 10) == b"came later"

    with_place(tmp_path, scenario)


def test_a_site_that_does_not_answer_is_left_alone_for_a_while(tmp_path: Path) -> None:
    """So is one of an earlier version, which nobody serves."""

    async def scenario(place: Place) -> None:
        digest = await place.blobs.put_data(b"text")
        agent = place.hub.connect("e1")
        source = SiteSource(agent, "e1", clock=lambda: place.now)
        asked: list[str] = []

        async def odd(message: Message) -> None:
            asked.append(message.subject)
            await agent.publish(message.reply, b"?", headers={BLOB_ANSWER: "a word of a later version"})

        sub = await place.hub.connect("odd").subscribe("up.*.blob.*", odd)
        await place.server.stop()
        for expected in (1, 1):
            assert await source.piece(digest) is None
            assert len(asked) == expected
        place.now = PAUSE
        assert await source.piece(digest) is None
        assert len(asked) == 2
        await sub.stop()

    async def alone(place: Place) -> None:
        place.link.subscriptions.clear()
        await scenario(place)

    with_place(tmp_path, alone)


def test_wrong_bytes_of_the_site_are_not_taken(tmp_path: Path) -> None:
    async def scenario(place: Place) -> None:
        digest = await place.blobs.put_data(b"right")
        place.store.write(digest, b"wrong")
        assert await place.fetch("e1", digest, 5) == b"right"

    with_place(tmp_path, scenario)


def test_a_full_disk_is_said_once_and_agents_get_their_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_name: str, _data: bytes) -> None:
        raise OSError(28, "No space left on device")

    async def scenario(place: Place) -> None:
        monkeypatch.setattr(place.store, "write", full)
        for number in range(3):
            data = f"text {number}".encode()
            digest = await place.blobs.put_data(data)
            assert await place.fetch(f"e{number}", digest, len(data)) == data
        assert len(place.said) == 1
        assert "No space left on device" in place.said[0]

    with_place(tmp_path, scenario)


def test_answers_go_to_who_asked_and_names_are_digests(tmp_path: Path) -> None:
    async def scenario(place: Place) -> None:
        digest = await place.blobs.put_data(b"text")
        heard: list[str] = []

        async def hear(message: Message) -> None:
            heard.append(message.subject)

        await place.hub.connect("e2").subscribe("dn.e2.job", hear)
        agent = place.hub.connect("e1")
        ask = SUBJECTS["site-blob"]
        await agent.publish(ask.of(id="e1", digest=digest), reply="dn.e2.job")
        await agent.publish(ask.of(id="e1", digest=digest))
        await agent.publish(ask.of(id="e1", digest="../../x"), reply="_INBOX.e1.1")
        await until(lambda: place.server.refusals.total() == 3)
        assert place.server.refusals == {"foreign-reply": 2, "malformed": 1}
        assert heard == place.link.reads == []

    with_place(tmp_path, scenario)


def test_the_store_keeps_to_its_limit_and_drops_what_was_not_used(tmp_path: Path) -> None:
    store = SiteStore(str(tmp_path), 10 * 1032)
    for number in range(10):
        store.write(named(number), bytes(1000))
    assert store.total == 10 * 1032
    assert store.read(named(0)) == bytes(1000)
    store.write(named(10), bytes(1000))
    assert (named(0) in store, named(1) in store, named(10) in store) == (True, False, True)
    store.write(named(11), bytes(20_000))  # never fits
    assert named(11) not in store
    assert store.total == sum(one.stat().st_size for one in tmp_path.rglob("*") if one.is_file())


def test_a_store_of_before_is_used_and_a_smaller_limit_obeyed(tmp_path: Path) -> None:
    first = SiteStore(str(tmp_path), MIB)
    for number in range(4):
        first.write(named(number), bytes(1000))
        os.utime(tmp_path / named(number)[:2] / named(number), (number, number))
    (tmp_path / "new").mkdir(exist_ok=True)
    (tmp_path / "new" / "left").write_bytes(b"of a process that was killed")
    again = SiteStore(str(tmp_path), 2 * 1032)
    assert [named(number) in again for number in range(4)] == [False, False, True, True]
    assert again.read(named(3)) == bytes(1000)
    assert not (tmp_path / "new" / "left").exists()
    assert SiteStore(str(tmp_path), MIB, max_count=2).total <= 2 * 1032


@pytest.mark.parametrize("damage", ["cut", "changed", "gone", "all gone"])
def test_what_is_damaged_is_not_there_and_can_be_kept_again(tmp_path: Path, damage: str) -> None:
    store = SiteStore(str(tmp_path), MIB)
    store.write(named(1), b"text")
    path = tmp_path / named(1)[:2] / named(1)
    if damage in ("cut", "changed"):
        path.write_bytes(path.read_bytes()[:-1] + (b"" if damage == "cut" else b"X"))
    else:
        path.unlink()
        if damage == "all gone":
            path.parent.rmdir()
            (tmp_path / "new").rmdir()
    assert store.read(named(1)) is None
    assert (named(1) in store, store.total) == (False, 0)
    store.write(named(1), b"text")
    assert store.read(named(1)) == b"text"


def test_a_piece_that_is_written_while_a_damaged_one_is_read_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several agents ask for the same piece: the one that saw the damage must not remove the new copy."""
    store, name = SiteStore(str(tmp_path), 1000), "a" * 64
    store.write(name, b"old")
    for path in tmp_path.glob("??/*"):
        path.unlink()
    load = store._load

    def slowly(wanted: str) -> bytes | None:
        found = load(wanted)
        monkeypatch.setattr(store, "_load", load)
        store.write(name, b"new")
        return found

    monkeypatch.setattr(store, "_load", slowly)
    assert store.read(name) == b"new"
    assert store.read(name) == b"new"
