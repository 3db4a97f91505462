"""Followers: every stored notice once and in order, over any number of broken connections."""

from __future__ import annotations

import asyncio
import socket
import time
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fleet.api.kit import Running, add_events, add_job, add_return, running_api

from saltern.fleet.api import stream
from saltern.fleet.api.follow import events_start
from saltern.fleet.client.client import Client
from saltern.fleet.client.follow import Follower, ignore, read_events
from saltern.fleet.client.problems import ControllerError, Unreachable
from saltern.fleet.controller.job_events import job_ended, status_event
from saltern.fleet.protocol.notices import Happened, Missed, Notice, Progressed
from saltern.fleet.store.events import newest_event, store_events
from saltern.fleet.store.jobs import Change


def tags(notices: Any, number: int) -> list[str]:
    return [one["tag"] for one in islice(notices, number)]


def test_events_are_followed_from_a_cursor(api: Running, client: Client) -> None:
    add_events(api.database, "a/1", "b/2", "a/3")
    assert tags(client.follow(after=0), 3) == ["a/1", "b/2", "a/3"]
    assert tags(client.follow(after=0, tag="a/*"), 2) == ["a/1", "a/3"]
    following = client.follow(after=2)
    assert tags(following, 1) == ["a/3"]
    add_events(api.database, "a/4")
    assert tags(following, 1) == ["a/4"]


def test_a_job_is_followed_from_its_present_state_to_its_end(api: Running, client: Client) -> None:
    add_job(api.database, "1", ("db1", "web1"))
    add_return(api.database, "1", "web1")
    following = client.follow("1")
    first = next(following)
    assert (first["kind"], first["system"], first["status"]) == ("status", "web1", "returned")
    add_return(api.database, "1", "db1")
    with api.database.write() as connection:
        done = Change("1", "db1", "returned")
        news = [status_event(done, 20.0), job_ended("1", {"returned": 2}, 20.0), status_event(done, 21.0)]
        store_events(connection, news)
    assert [one["kind"] for one in following] == ["status", "ended"]


def test_a_job_that_is_over_is_shown_and_the_stream_ends(api: Running, client: Client) -> None:
    add_job(api.database, "1", ("web1",))
    add_return(api.database, "1", "web1")
    for after in (None, 0, 1000):
        kinds = [one["kind"] for one in client.follow("1", after=after)]
        assert kinds[-2:] == ["status", "ended"]


def test_a_job_that_is_not_there_cannot_be_followed(client: Client) -> None:
    with pytest.raises(ControllerError, match="there is no job 'x'"):
        next(client.follow("x"))


@pytest.mark.parametrize("header", ["x", "-1", "9" * 30, "1.5"])
def test_a_wrong_cursor_is_refused(api: Running, client: Client, header: str) -> None:
    follower = Follower(client.session, "/v1/events", {}, patience=0, on_break=ignore)
    follower.last = header
    with pytest.raises(ControllerError, match="Last-Event-ID"):
        next(follower.notices())


def test_a_cursor_that_is_not_known_any_more_is_reported(api: Running) -> None:
    add_events(api.database, "a", "b", "c")
    with api.database.read() as connection:
        assert events_start(connection, 2).first == []
        restored = events_start(connection, 70)
    assert (restored.cursor, restored.first) == (3, [Missed(number=3)])
    with api.database.write() as connection:
        connection.exec_driver_sql("DELETE FROM events WHERE number < 3")
    with api.database.read() as connection:
        assert events_start(connection, 0).first == [Missed(count=2, number=0)]


def test_a_follower_outlives_the_controller(tmp_path: Path) -> None:
    broken: list[ControllerError] = []
    with running_api(tmp_path) as api:
        add_events(api.database, "one")
        following = Client(api.socket).follow(after=0, on_break=broken.append)
        assert tags(following, 1) == ["one"]
    with running_api(tmp_path) as api:
        add_events(api.database, "two", "three")
        assert tags(following, 2) == ["two", "three"]


def test_a_controller_that_stays_away_is_reported(tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match="there is no such socket"):
        next(Client(str(tmp_path / "none.sock")).follow(patience=0))


def test_who_is_not_allowed_any_more_is_disconnected(api: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "KEEP_ALIVE", 0.01)
    asked: list[float] = []

    def authenticate(headers: object, peer: object, now: float) -> None:
        asked.append(now)

    following = Client(api.socket).follow(after=0)
    add_events(api.database, "one")
    assert tags(following, 1) == ["one"]
    monkeypatch.setattr(api.server.app.desk.access, "authenticate", authenticate)
    with pytest.raises(ControllerError) as caught:
        next(following)
    assert caught.value.code == "api-not-authenticated" and len(asked) >= 2


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(counts=st.lists(st.integers(0, 4), min_size=1, max_size=6))
def test_all_events_come_once_over_broken_connections(api: Running, counts: list[int]) -> None:
    """A reader takes some events of each connection and then loses it, while events are added."""
    with api.database.read() as connection:
        newest = str(newest_event(connection))
    client = Client(api.socket)
    follower = Follower(client.session, "/v1/events", {"after": newest}, patience=30, on_break=ignore)
    seen: list[str] = []
    added = 0
    for count in counts:
        add_events(api.database, *(f"e/{added + number}" for number in range(count)))
        added += count
        seen += tags(follower.notices(), min(count, added - len(seen)))
    seen += tags(follower.notices(), added - len(seen))
    assert seen == [f"e/{number}" for number in range(added)]


class Sent:
    """A server's end of a connection whose reader takes nothing."""

    def __init__(self) -> None:
        self.aborted = False
        self.data = b""

    async def send(self, message: Any) -> None:
        self.data += message.get("body", b"")
        if len(self.data) > 1000:
            await asyncio.sleep(3600)

    async def receive(self) -> Any:
        await asyncio.sleep(3600)

    def abort(self) -> None:
        self.aborted = True


def test_a_reader_that_takes_nothing_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "STALLED", 0.05)
    closed = []

    async def endless() -> Any:
        try:
            for number in range(1_000_000):
                yield Happened(tag="x", number=number)
        finally:
            closed.append(number)

    async def scenario() -> Sent:
        sent = Sent()

        async def allowed() -> bool:
            return True

        scope = {"type": "http", "saltern_id": "1", "state": {"abort": sent.abort}}
        await stream.EventStream(endless(), asyncio.Event(), allowed)(scope, sent.receive, sent.send)
        return sent

    sent = asyncio.run(scenario())
    assert sent.aborted and len(sent.data) < 2000 and closed and closed[0] < 1000


def test_a_reader_that_never_reads_holds_nothing_for_long(
    api: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same with real sockets: the server ends the connection by itself."""
    monkeypatch.setattr(stream, "STALLED", 0.2)
    for number in range(40):
        add_events(api.database, *(f"{number}/{one}/{'x' * 400}" for one in range(100)))
    with socket.socket(socket.AF_UNIX) as reader:
        reader.connect(api.socket)
        reader.sendall(b"GET /v1/events?after=0 HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n")
        reader.settimeout(30)
        server = api.server._servers[0][0]
        wait_until(lambda: server.server_state.connections)
        wait_until(lambda: not server.server_state.connections)
        data = b""
        with pytest.raises((ConnectionResetError, EOFError)):
            while True:
                part = reader.recv(1 << 20)
                if not part:
                    raise EOFError
                data += part
    assert data.startswith(b"HTTP/1.1 200") and len(data) < 1_500_000


def test_live_notices_have_no_id_and_stored_ones_do() -> None:
    stored: Notice = Happened(tag="a\nb", number=7, data={"x": "line\nbreak"})
    text = stream.encode_notice(stored)
    assert text.startswith(b"id: 7\nevent: event\ndata: ") and text.endswith(b"\n\n")
    live = stream.encode_notice(Progressed(jid="1", system="a", number=7))
    assert live.startswith(b"event: progress\ndata: ")
    (found,) = read_events(text.splitlines(keepends=True))
    assert found[0] == "7" and found[1]["data"] == {"x": "line\nbreak"}


def test_many_waiting_followers_cost_little(api: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """They share what is read from the database, and hold little memory each."""
    many = 300
    reads: list[int] = []
    hub = api.bench.fleet.hub
    original = hub._calls.read

    async def counted(query: Any, *arguments: Any) -> Any:
        reads.append(1)
        return await original(query, *arguments)

    add_events(api.database, "before")
    before = resident()
    readers = [socket.socket(socket.AF_UNIX) for _ in range(many)]
    for reader in readers:
        reader.settimeout(30)
        reader.connect(api.socket)
        reader.sendall(b"GET /v1/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n")
    wait_until(lambda: hub.following == many and all(not one.done() for one in hub._reads.values()))
    assert (resident() - before) / many < 200_000
    monkeypatch.setattr(hub._calls, "read", counted)
    add_events(api.database, "after")
    api.loop.call_soon_threadsafe(hub.wake)
    for reader in readers:
        data = b""
        while b'"after"' not in data:
            data += reader.recv(65536)
        reader.close()
    assert len(reads) < many / 3
    wait_until(lambda: hub.following == 0)


def resident() -> int:
    """Bytes of memory that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def wait_until(true: Any) -> None:
    """Wait for something to become true; the test's own time limit ends it if it never does."""
    while not true():
        time.sleep(0.01)
