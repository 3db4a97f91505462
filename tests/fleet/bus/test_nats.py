"""What the client library and the broker do to us, each found once and kept from happening again."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any

import pytest
import uvloop
from msgspec.structs import replace
from tests.fleet.harness import QUICK, NatsPlace, free_port, run, until

from saltern.fleet.bus.backoff import Backoff
from saltern.fleet.bus.client import NatsBus
from saltern.fleet.bus.connection import Connection
from saltern.fleet.bus.nats import Link
from saltern.fleet.bus.ports import (
    Change,
    Delivery,
    Disconnected,
    Message,
    NoAnswer,
    NotConnected,
    NotPermitted,
    ReaderOptions,
    State,
    TooLarge,
)
from saltern.fleet.protocol.streams import STREAMS

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
INFO = (
    b"INFO "
    + json.dumps({"server_id": "x", "version": "2.15.1", "headers": True, "max_payload": 1000}).encode()
)


class FakeBroker:
    """Speaks just enough of the protocol to misbehave. ``after`` is done when the client is connected."""

    def __init__(self, after: Talk, before_pong: bytes = b"") -> None:
        self.after = after
        self.before_pong = before_pong
        self.info = INFO
        self.connections = 0
        self.tasks: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self.port = free_port()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self.tasks[task] = writer
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            writer.write(self.info + b"\r\n")
            while (line := await reader.readline()).strip() != b"PING":
                if not line:
                    raise ConnectionResetError
            writer.write(self.before_pong + b"PONG\r\n")
            await self.after(reader, writer)
        writer.close()

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator[Connection]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        try:
            yield Connection(
                servers=(f"nats://127.0.0.1:{self.port}",), name="one", backoff=QUICK, timeout=2.0
            )
        finally:
            server.close()
            for task, writer in self.tasks.items():
                task.cancel()
                writer.close()
            await asyncio.gather(*self.tasks, return_exceptions=True)
            for writer in self.tasks.values():
                with contextlib.suppress(OSError):
                    await writer.wait_closed()


async def stay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while line := await reader.readline():
        if line.strip() == b"PING":
            writer.write(b"PONG\r\n")


@pytest.mark.parametrize(
    "error",
    [
        "User Authentication Expired",
        "User Authentication Revoked",
        "Authorization Violation",
        "Anything Else",
    ],
)
def test_an_error_of_the_broker_closes_the_connection_and_not_the_bus(error: str) -> None:
    """The library ends for good on all but two errors, and never tries again."""

    async def scenario() -> None:
        async def fail(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if broker.connections == 1:
                await asyncio.sleep(0.05)
                writer.write(f"-ERR '{error}'\r\n".encode())
            await stay(reader, writer)

        broker = FakeBroker(fail)
        changes: list[Change] = []
        async with broker.serving() as settings:
            bus = await NatsBus.connect(settings)
            bus.watch(changes.append)
            await until(lambda: [change.state for change in changes] == [State.LOST, State.CONNECTED])
            assert "uth" in changes[0].why or error.lower() in changes[0].why
            assert broker.connections == 2
            await bus.close()

    run(scenario())


def test_a_connection_that_breaks_with_something_left_to_send_is_made_again() -> None:
    """The library sends the rest before it reports the end; on a broken connection that fails, and it reports
    nothing.
    """

    async def scenario() -> None:
        cut = asyncio.Event()

        async def break_off(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if broker.connections == 1:
                await cut.wait()
                sock = writer.get_extra_info("socket")
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                writer.transport.abort()  # as a machine does whose process is gone
            await stay(reader, writer)

        broker = FakeBroker(break_off)
        changes: list[Change] = []
        async with broker.serving() as settings:
            bus = await NatsBus.connect(settings)
            bus.watch(changes.append)
            link = bus._kept.link
            assert link is not None
            await link._client._send_command(b"PUB a.b 8\r\nthe rest\r\n")  # what sends it has no turn yet
            cut.set()
            await until(lambda: [change.state for change in changes] == [State.LOST, State.CONNECTED])
            await bus.publish("a.b", b"more")
            await bus.close()

    run(scenario())


def test_a_connection_that_only_seems_to_be_made_is_none() -> None:
    """The library returns without a connection if another line than PONG comes first."""

    async def scenario() -> None:
        broker = FakeBroker(stay, before_pong=b"INFO {}\r\n")
        async with broker.serving() as settings:
            with pytest.raises(NotConnected, match="did not accept"):
                await NatsBus.connect(settings)

    run(scenario())


def test_a_broker_that_accepts_and_says_nothing_is_not_waited_for_for_ever() -> None:
    async def scenario() -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            port = silent.getsockname()[1]
            settings = Connection(servers=(f"nats://127.0.0.1:{port}",), name="one", timeout=0.3)
            with pytest.raises(NotConnected):
                await NatsBus.connect(settings)

    run(scenario(), timeout=20)


def test_nothing_at_the_address_is_an_error_that_names_it() -> None:
    settings = Connection(servers=(f"nats://127.0.0.1:{free_port()}",), name="one", timeout=2.0)
    with pytest.raises(NotConnected, match=rf"{settings.servers[0]}: .*(refused|failed)"):
        run(NatsBus.connect(settings))


def test_without_a_limit_the_first_connection_is_tried_until_the_broker_comes(server: NatsPlace) -> None:
    async def scenario() -> None:
        server.stop()
        settings = Connection(servers=(server.url("one"),), name="one", backoff=QUICK)
        bus = await NatsBus.connect(settings, wait=None)
        changes: list[Change] = []
        bus.watch(changes.append)
        await until(lambda: [change.state for change in changes[:2]] == [State.RETRY, State.RETRY])
        server.start()
        await bus.wait_connected()
        assert bus.connected
        await bus.close()

    run(scenario())


def test_the_next_server_of_the_list_is_tried(server: NatsPlace) -> None:
    async def scenario() -> None:
        dead = f"nats://127.0.0.1:{free_port()}"
        bus = await NatsBus.connect(Connection(servers=(dead, server.url("one")), name="one", backoff=QUICK))
        assert bus.connected
        server.stop()
        await until(lambda: not bus.connected)
        server.start()
        await until(lambda: bus.connected)
        await bus.close()

    run(scenario())


def test_a_broker_that_closes_each_connection_is_asked_less_and_less_often() -> None:
    asked: list[int] = []

    class Counting(Backoff, frozen=True):
        def delay(self, attempt: int, chance: Callable[[], float] = lambda: 0.0) -> float:
            asked.append(attempt)
            return 0.0

    async def scenario() -> None:
        async def leave(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(0.01)

        broker = FakeBroker(leave)
        async with broker.serving() as settings:
            bus = await NatsBus.connect(
                Connection(servers=settings.servers, name="one", backoff=Counting(stable=3600.0))
            )
            await until(lambda: len(asked) > 5)
            await bus.close()

    run(scenario())
    assert asked[:6] == [0, 1, 2, 3, 4, 5]


def test_a_connection_that_was_good_for_a_while_begins_with_the_first_step_again(server: NatsPlace) -> None:
    asked: list[int] = []

    class Counting(Backoff, frozen=True):
        def delay(self, attempt: int, chance: Callable[[], float] = lambda: 0.0) -> float:
            asked.append(attempt)
            return 0.02

    async def scenario() -> None:
        bus = await NatsBus.connect(
            Connection(servers=(server.url("one"),), name="one", backoff=Counting(stable=0.0))
        )
        for _ in range(2):
            server.stop()
            await until(lambda: not bus.connected)
            server.start()
            await until(lambda: bus.connected)
        await bus.close()

    run(scenario())
    assert asked.count(0) == 2


def test_what_is_too_large_for_the_broker_is_refused_here(server: NatsPlace) -> None:
    async def scenario() -> None:
        bus = await server.connect("one")
        with pytest.raises(TooLarge):
            await bus.publish("a", bytes(1 << 20) + b"x")
        with pytest.raises(TooLarge):
            await bus.publish_each(["a", "b"], bytes(1 << 20) + b"x")
        assert bus.connected
        await bus.close()

    run(scenario())


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_a_connection_that_the_loop_has_closed_is_one_that_ended(
    server: NatsPlace, loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    """Before the library knows it: uvloop raises an error of its own for a write then."""

    def cut(bus: NatsBus) -> None:
        client: Any = bus._kept.now()._client
        client._transport._io_writer.transport.abort()

    async def scenario() -> None:
        bus = await NatsBus.connect(Connection(servers=(server.url("one"),), name="one", backoff=QUICK))
        await bus.request("$JS.API.INFO", timeout=5)
        for use in (partial(bus.request, "a", timeout=5), bus.flush):
            cut(bus)
            with pytest.raises(Disconnected):
                await use()
            await until(lambda: bus.connected)
        await bus.close()

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(scenario())


def test_a_connection_that_ends_while_it_is_made_is_none(server: NatsPlace) -> None:
    """With uvloop, as a controller has it; in some attempts it has closed the connection by then."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        where = f"nats://127.0.0.1:{listening.getsockname()[1]}"

        def refuse() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection = listening.accept()[0]
                    connection.sendall(INFO + b"\r\n")
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    connection.close()

        async def scenario() -> None:
            for _ in range(50):
                with pytest.raises(NotConnected):
                    await Link(Connection(servers=(where,), name="one"), lambda _change: None).open(where)
            both = Connection(servers=(where, server.url("one")), name="one")
            await (await NatsBus.connect(both)).close()

        thread = threading.Thread(target=refuse, daemon=True)
        thread.start()
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(scenario())
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_large_data_for_many_subjects_is_not_multiplied_in_memory(server: NatsPlace) -> None:
    import tracemalloc

    async def scenario() -> None:
        one, two = await server.connect("one"), await server.connect("two")
        heard: list[int] = []

        async def take(message: Message) -> None:
            heard.append(len(message.data))

        await two.subscribe("a.last", take)
        data = bytes(1 << 19)
        tracemalloc.start()
        await one.publish_each([*(f"a.{number}" for number in range(200)), "a.last"], data)
        await one.flush()
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        await until(lambda: heard == [len(data)])
        assert most < 32 * len(data)
        await one.close()
        await two.close()

    run(scenario())


def test_headers_count_and_what_is_too_large_with_them_is_refused_here(server: NatsPlace) -> None:
    """The broker would close the connection, and all that waits on it would end."""

    async def scenario() -> None:
        bus = await server.connect("one")
        with pytest.raises(TooLarge):
            await bus.store("a", bytes(1 << 20), id="x")
        assert bus.connected
        await bus.close()

    run(scenario())


HOSTILE = {
    "a subject that is no text": b"PUB kept.a.\xff\xfe 2\r\nhi\r\n",
    "a reply that is no text": b"PUB kept.a.b \xff\xfe 2\r\nhi\r\n",
    "a status that is no text": b"NATS/1.0 \xff\xff\xff\r\nA: b\r\n\r\n",
    "a status that looks like a number": "NATS/1.0 \N{SUPERSCRIPT TWO}\r\nA: b\r\n\r\n".encode(),
    "a status of the broker's": b"NATS/1.0 503\r\nA: b\r\n\r\n",
    "a status as a header": "NATS/1.0\r\nStatus: \N{SUPERSCRIPT TWO}\r\n\r\n".encode(),
    "headers that are none": b"\r\n\r\n",
    "a header that is no text": b"NATS/1.0\r\n\xff: \xfe\r\n\r\n",
}


def _raw(message: bytes) -> bytes:
    """What goes over the wire; of headers, a message that has them."""
    if message.startswith(b"PUB"):
        return message
    return b"HPUB kept.a.b %d %d\r\n%bhi\r\n" % (len(message), len(message) + 2, message)


@pytest.mark.parametrize("name", HOSTILE)
def test_no_message_makes_a_connection_deaf(server: NatsPlace, name: str) -> None:
    """The broker passes on any bytes as subjects and headers; the library ends at those that are no text."""

    async def scenario() -> None:
        one, two = await server.connect("one"), await server.connect("two")
        await one.make_stream(replace(STREAMS["RETURNS"], name="KEPT"), ("kept.>",))
        heard: list[bytes] = []

        async def hear(message: Message) -> None:
            heard.append(message.data)

        await one.subscribe("kept.>", hear)
        reader = await one.reader(ReaderOptions(stream="KEPT", name="r"))
        link = two._kept.link  # type: ignore[attr-defined]
        link._client._transport.write(_raw(HOSTILE[name]) + b"PUB kept.a.last 2\r\nok\r\n")
        await until(lambda: b"ok" in heard)
        read: list[Delivery] = []
        while len(read) < 2:
            read += await reader.fetch(10, 5.0)
        await reader.done(read)
        assert sorted(one.kept.data for one in read) == [b"hi", b"ok"]
        assert heard.count(b"hi") == 1
        await one.close()
        await two.close()

    run(scenario())


def test_a_broker_that_does_not_read_is_not_written_to_without_end() -> None:
    """Requests whose time is over are no reason to keep their bytes in memory."""

    async def scenario() -> None:
        async def ignore(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(3600)

        broker = FakeBroker(ignore)
        broker.info = INFO.replace(b"1000", b"%d" % (8 << 20))
        async with broker.serving() as settings:
            bus = await NatsBus.connect(settings)
            for _ in range(12):
                with pytest.raises(NoAnswer):
                    await bus.request("a", bytes(4 << 20), timeout=0.05)
            link: Any = bus._kept.link
            assert link._client._transport._io_writer.transport.get_write_buffer_size() < 16 << 20
            await link.shut(0.1)
            await bus.close()

    run(scenario())


def test_a_refusal_is_recognised_whatever_the_case_of_the_subject(server: NatsPlace) -> None:
    """The library gives errors in lower case, and ids keep theirs."""

    async def scenario() -> None:
        bus = await server.connect("limited")
        with pytest.raises(NotPermitted):
            await bus.request("dn.Web1=2Eexample.Job", timeout=3600)
        with pytest.raises(NotPermitted):
            await bus.subscribe("dn.Web1.JOB", _ignore)
        await bus.close()

    run(scenario(), timeout=20)


async def _ignore(_message: Message) -> None: ...


def test_wrong_credentials_are_an_error_that_says_so(server: NatsPlace) -> None:
    url = server.url("one").replace("secret", "wrong")
    with pytest.raises(NotConnected, match=r"(?i)authorization"):
        run(NatsBus.connect(Connection(servers=(url,), name="one")))


def test_a_dead_peer_is_noticed_without_its_word(server: NatsPlace) -> None:
    """A machine that vanishes closes nothing: pings do."""
    import os
    import signal

    async def scenario() -> None:
        settings = Connection(servers=(server.url("one"),), name="one", backoff=QUICK, ping=0.1)
        bus = await NatsBus.connect(settings)
        assert server.process is not None
        os.kill(server.process.pid, signal.SIGSTOP)
        try:
            await until(lambda: not bus.connected)
            with pytest.raises(Disconnected):
                await bus.publish("a")
        finally:
            os.kill(server.process.pid, signal.SIGCONT)
        await until(lambda: bus.connected)
        await bus.close()

    run(scenario())


def test_a_fault_of_ours_does_not_leave_the_bus_deaf(
    server: NatsPlace, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever watches or gives credentials may fail; the bus tries again."""

    async def scenario() -> None:
        settings = Connection(servers=(server.url("one"),), name="one", backoff=QUICK)
        bus = await NatsBus.connect(settings)
        changes: list[Change] = []

        def watcher(change: Change) -> None:
            changes.append(change)
            raise ValueError("a moody watcher")

        bus.watch(watcher)
        real, attempts = bus._kept._open_link, iter(range(3))

        async def opened() -> Link:
            if next(attempts, None) is not None:
                raise ValueError("a moody credential")
            return await real()

        bus._kept._open_link = opened  # type: ignore[method-assign]
        server.stop()
        await until(lambda: sum(change.state is State.RETRY for change in changes) >= 3)
        server.start()
        await until(lambda: bus.connected)
        await bus.close()

    run(scenario())
    assert "a moody watcher" in caplog.text and "a moody credential" in caplog.text


def test_the_client_brings_nothing_of_the_engine_and_no_web_library() -> None:
    """An agent is small: aiohttp alone, which the library imports if it is there, would be 9 MB."""
    program = "import sys, saltern.fleet.bus.client, saltern.fleet.identity.membership; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert (
        not {"aiohttp", "cryptography", "jinja2", "yaml", "saltern.engine", "saltern.modules", "sqlite3"}
        & loaded
    )
