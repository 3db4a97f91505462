"""Live pages: parts once for all readers, nothing missed, and no more streams than there is room for."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from tests.fleet.api.kit import Running
from tests.fleet.console.data import add_fleet, add_run
from tests.fleet.console.kit import Browser, running_console

from saltern.chains.statuses import Leg
from saltern.fleet.console import stream
from saltern.fleet.console.parts import Part, render_parts
from saltern.fleet.console.row import Data, Topic
from saltern.fleet.console.topics import find_topic

RUN = "20261116024712000009"


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running_console(tmp_path_factory.mktemp("stream")) as running:
        ids = [f"web-{number}" for number in range(4)]
        add_fleet(running.database, ids)
        add_run(running.database, RUN, [(one, "crnnn", Leg.RUNNING, "") for one in ids], at=time.time())
        yield running


@pytest.fixture
def reader(busy: Running) -> Browser:
    made = Browser(busy)
    made.sign_in("viewer")
    return made


class Open:
    """A stream that is read until it is left."""

    def __init__(self, browser: Browser, query: str) -> None:
        self.browser, self.query = browser, query
        self.data = b""
        self.status = 0
        self._left = asyncio.Event()
        self._news = asyncio.Event()
        self.task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Open:
        cookies = "; ".join(f"{name}={value}" for name, value in self.browser.cookies.items())
        scope: dict[str, Any] = {
            "type": "http", "method": "GET", "path": "/stream", "root_path": "", "scheme": "http",
            "query_string": self.query.encode(), "client": ("192.0.2.7", 1), "server": ("console.test", 80),
            "headers": [(b"host", b"console.test"), (b"cookie", cookies.encode())], "state": {},
        }  # fmt: skip
        self.task = asyncio.create_task(self.browser.app(scope, self._receive, self._send))
        await self.until(lambda: self.status != 0)
        return self

    async def __aexit__(self, *_problem: object) -> None:
        self._left.set()
        assert self.task is not None
        await asyncio.wait_for(self.task, 30)

    async def _receive(self) -> dict[str, str]:
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        self.status = message.get("status", self.status)
        self.data += message.get("body", b"")
        self._news.set()

    async def until(self, is_so: Any) -> None:
        async with asyncio.timeout(60):
            while not is_so():
                self._news.clear()
                await self._news.wait()

    def parts(self) -> list[dict[str, Any]]:
        lines = self.data.decode().split("\n")
        return [json.loads(one[6:]) for one in lines if one.startswith("data: {")]


def test_a_reader_gets_the_parts_of_its_topic(busy: Running, reader: Browser) -> None:
    async def read() -> list[str]:
        async with Open(reader, f"topics=run/{RUN}&after=0") as one:
            await one.until(lambda: len(one.parts()) >= 5)
            return [part["id"] for part in one.parts()]

    assert {*busy.run(read())} >= {"part-run-head", "part-run-waves", "part-run-matrix"}


def test_what_happens_reaches_all_readers_and_is_rendered_once(
    busy: Running, reader: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlalchemy import update

    from saltern.fleet.store.chain_tables import CHAIN_LEGS
    from saltern.fleet.store.events import NewEvent, store_events

    rendered: list[str] = []

    def counted(topic: Topic, data: Data) -> dict[str, Part]:
        rendered.append(topic.name)
        return render_parts(topic, data)

    monkeypatch.setattr(stream, "render_parts", counted)

    def change() -> None:
        with busy.database.write() as connection:
            mine = CHAIN_LEGS.c.system == "web-0"
            connection.execute(update(CHAIN_LEGS).where(mine).values(status="rebooting"))
            store_events(connection, [NewEvent(tag=f"saltern/chain/{RUN}/leg/web-0", data={}, at=1.0)])

    async def follow() -> None:
        query = f"topics=run/{RUN}&after=0"
        async with Open(reader, query) as first, Open(reader, query) as second:
            await asyncio.gather(
                *(one.until(lambda one=one: len(one.parts()) >= 5) for one in (first, second))
            )
            seen = len(rendered)
            await asyncio.to_thread(change)
            busy.bench.fleet.hub.wake()
            for one in (first, second):
                await one.until(lambda one=one: any("rebooting" in part["html"] for part in one.parts()))
            assert len(rendered) - seen <= 2

    busy.run(follow())


def test_a_stream_has_an_end_for_who_may_not_read_it(busy: Running, reader: Browser) -> None:
    assert Browser(busy).get("/stream?topics=fleet").status == 403
    assert reader.get("/stream?topics=nothing/1").status == 404
    assert reader.get("/stream").status == 404


def test_streams_are_bounded_in_all_and_for_each_session(
    busy: Running, reader: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "MOST_OF_SESSION", 2)

    async def hold() -> tuple[int, int]:
        query = "topics=fleet&after=0"
        async with Open(reader, query), Open(reader, query), Open(reader, query) as third:
            other = Browser(busy)
            other.cookies = dict(reader.cookies)
            monkeypatch.setattr(stream, "MOST_STREAMS", 2)
            async with Open(other, query) as fourth:
                return third.status, fourth.status

    assert busy.run(hold()) == (429, 429)


def test_nothing_is_left_when_all_readers_have_gone(busy: Running, reader: Browser) -> None:
    site = next(
        one.cell_contents
        for route in busy.server.app.app.routes  # type: ignore[attr-defined]
        for one in getattr(route.endpoint, "__closure__", None) or ()
        if hasattr(one.cell_contents, "fleet")
    )
    assert site.fleet.hub.following == 0


def test_topics_are_found_by_name() -> None:
    found = find_topic("run/2026")
    assert found is not None
    assert found[1] == {"run": "2026"}
    assert find_topic("run/") is None
    assert find_topic("run/a/b/c") is None


def test_who_has_no_stream_gets_the_parts_once_with_the_same_rights(
    busy: Running, reader: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = reader.get(f"/parts?topics=run/{RUN}")
    assert shown.status == 200 and shown.header("cache-control") == "no-store"
    found = [one for one in shown.text.split("\n\n") if one]
    assert [one.partition("\n")[0] for one in found] == ["event: part"] * 7
    assert all(f'"topic":"run/{RUN}"' in one for one in found)
    asked: list[str] = []
    monkeypatch.setattr(stream.Board, "look", lambda self: asked.append(self.name))
    assert reader.get(f"/parts?topics=run/{RUN}").body == shown.body, "it is shared for some seconds"
    assert asked == []
    assert reader.get("/parts?topics=none").status == 404
    assert Browser(busy).get(f"/parts?topics=run/{RUN}").status == 403
