"""A stream held open by a thousand clients, over real sockets: few are served, and pages still come."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator

import pytest
from tests.fleet.api.kit import Running
from tests.fleet.console.data import demo
from tests.fleet.console.kit import Browser, running_console

from saltern.fleet.console import stream

CLIENTS = 1000
AT_ONCE = 50  # that connect in the same moment
PATIENCE = 120.0  # seconds, on a busy machine
Held = tuple[int, asyncio.StreamWriter]


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running_console(tmp_path_factory.mktemp("sockets"), host="127.0.0.1", port=0) as running:
        demo(running.database, time.time())
        yield running


async def hold(port: int, cookie: str, turn: asyncio.Semaphore) -> Held:
    """One client: asks for the stream, reads the first line, and keeps the connection."""
    async with turn, asyncio.timeout(PATIENCE):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = (
            f"GET /stream?topics=fleet&after=0 HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncookie: {cookie}\r\n\r\n"
        )
        writer.write(head.encode())
        line = await reader.readline()
        return int(line.split()[1]), writer


async def page_status(port: int, cookie: str) -> int:
    async with asyncio.timeout(PATIENCE):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = f"GET /account HTTP/1.1\r\nhost: x\r\ncookie: {cookie}\r\nconnection: close\r\n\r\n"
        writer.write(head.encode())
        status = int((await reader.readline()).split()[1])
        writer.close()
        return status


def test_a_thousand_clients_hold_few_streams_and_pages_are_answered(busy: Running) -> None:
    visitor = Browser(busy)
    visitor.sign_in("viewer")
    cookie = "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())
    port = busy.server.port

    async def attack() -> tuple[Counter[int], int]:
        turn = asyncio.Semaphore(AT_ONCE)
        held = await asyncio.gather(*(hold(port, cookie, turn) for _ in range(CLIENTS)))
        answered = await page_status(port, cookie)
        for _, writer in held:
            writer.close()
        return Counter(status for status, _ in held), answered

    statuses, answered = asyncio.run(attack())
    assert statuses[200] == stream.MOST_OF_SESSION
    assert set(statuses) <= {200, 429, 503} and statuses.total() == CLIENTS
    assert answered == 200

    async def left() -> int:
        async with asyncio.timeout(PATIENCE):
            while True:
                again, writer = await hold(port, cookie, asyncio.Semaphore(1))
                writer.close()
                if again == 200:
                    return again

    assert asyncio.run(left()) == 200, "what was held is free again"
