"""Live pages: server-sent events with parts of pages.

A topic is rendered when it changes, at most twice a second and for at most a tenth of the time, once for all
its readers. A reader gets the newest version of each part that has changed, so that a slow reader skips
outdated ones, and nothing waits for it.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from saltern.fleet.access.ports import CONTROLLER, Peer
from saltern.fleet.access.ports import Request as Permission
from saltern.fleet.api.call import Desk
from saltern.fleet.console.ask import Ask
from saltern.fleet.console.parts import render_parts
from saltern.fleet.console.row import Topic
from saltern.fleet.console.session import secret_of
from saltern.fleet.console.topics import find_topic
from saltern.fleet.protocol.notices import Happened, Notice, Progressed
from saltern.fleet.store.events import newest_event
from saltern.language.diagnostics import SalternError

HEARTBEAT = 5.0  # seconds
STALLED = 30.0  # seconds for which a reader may take nothing
MOST_STREAMS = 1000
MOST_OF_SESSION = 12
MOST_TOPICS = 20  # of one stream
FASTEST = 0.5  # seconds between two renderings
SHARE = 10  # rendering takes at most one part in this many of the time
CHECK = 30.0  # seconds after which the reader's permission is checked again
_HEADERS = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"x-accel-buffering", b"no")]


class Sent(Struct, frozen=True):
    """A part as it is sent. ``turn`` grows with every change of the topic; ``number``: of the event."""

    turn: int
    number: int
    data: bytes
    digest: str


class Board:
    """One topic with its readers."""

    def __init__(self, desk: Desk, name: str, row: Topic, names: Mapping[str, str], root: str) -> None:
        self.name, self.row, self.names = name, row, names
        self.readers = 0
        self.turn = 0
        self.parts: dict[str, Sent] = {}
        self.news = asyncio.Event()  # something may have changed
        self.changed = asyncio.Event()  # for readers; replaced at each change
        self._ask = Ask(desk, who=CONTROLLER)
        self._desk = desk
        self._root = root

    def hear(self, notice: Notice) -> None:
        if isinstance(notice, Progressed):
            if self.row.progress:
                self.news.set()
        elif isinstance(notice, Happened) and self._is_mine(notice.tag):
            self.news.set()

    def _is_mine(self, tag: str) -> bool:
        filled = (one.format_map(self.names) for one in self.row.tags)
        return any(tag.startswith(one) for one in filled)

    async def keep(self) -> None:
        """Render now, and again after every change."""
        while True:
            self.news.clear()
            started = time.perf_counter()
            with suppress(SalternError):
                await self.look()
            took = time.perf_counter() - started
            await asyncio.sleep(max(FASTEST, SHARE * took))
            await self.news.wait()

    async def look(self) -> None:
        number = await asyncio.to_thread(_newest, self._desk)
        now = self._desk.now()
        data = await self.row.gather(self._ask, self.names, now)
        found = render_parts(self.row, {"root": self._root, "now": now, **data})
        new = {
            name: part
            for name, part in found.items()
            if name not in self.parts or self.parts[name].digest != part.digest
        }
        if not new:
            return
        self.turn += 1
        for name, part in new.items():
            body = {"id": f"part-{name}", "hash": part.digest, "html": part.html}
            data_ = msgspec.json.encode({"topic": self.name, "number": number, **body})
            self.parts[name] = Sent(self.turn, number, b"event: part\ndata: %s\n\n" % data_, part.digest)
        self.changed.set()
        self.changed = asyncio.Event()

    def since(self, turn: int, after: int) -> bytes:
        """What a reader lacks: by its turn, or, if it is new, by the last event of its page."""
        if turn < 0:
            return b"".join(one.data for one in self.parts.values() if one.number >= after)
        return b"".join(one.data for one in self.parts.values() if one.turn > turn)


def _newest(desk: Desk) -> int:
    with desk.fleet.database.read() as connection:
        return newest_event(connection)


class Streams:
    """All readers of this process, and the topics that they follow."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.sessions: Counter[str] = Counter()
        self.boards: dict[tuple[str, str], Board] = {}
        self._tasks: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._watch: asyncio.Task[None] | None = None

    @property
    def open(self) -> int:
        return self.sessions.total()

    async def answer(self, request: Request) -> Response:
        """The stream of some topics, or why there is none."""
        secret, topics = secret_of(request), topics_of(request)
        if refused := await self.refusal(secret, topics):
            return refused
        if self.open >= MOST_STREAMS or self.sessions[secret] >= MOST_OF_SESSION:
            return _refuse(
                429,
                "too many pages are open: close some, or wait; pages reload instead",
            )
        after = request.query_params.get("after", "0")
        start = int(after) if after.isascii() and after.isdigit() and len(after) < 17 else 0
        return Reader(self, secret, topics, start, request.scope.get("root_path", ""))

    async def refusal(self, secret: str, topics: list[str]) -> Response | None:
        """Why this visitor gets nothing about these topics; None: they do."""
        rows = {name: find_topic(name) for name in topics}
        if not secret or not await self.is_allowed(secret, [row for row in rows.values() if row]):
            return _refuse(403, "sign in, with a role that may read this")
        if not topics or None in rows.values() or len(topics) > MOST_TOPICS:
            return _refuse(404, "no such topic")
        return None

    async def is_allowed(self, secret: str, rows: list[tuple[Topic, Mapping[str, str]]]) -> bool:
        """True if the session is still valid, and may read its topics."""

        def decided() -> bool:
            now, access = self.desk.now(), self.desk.access
            who = access.authenticate({"authorization": f"Bearer {secret}"}, Peer(), now)
            return who is not None and all(
                access.decide(who, Permission(action=row.action), lambda _target, _systems: (), now).allowed
                for row, _ in rows
            )

        return await asyncio.to_thread(decided)

    def join(self, name: str, root: str) -> Board:
        key = (name, root)
        board = self.boards.get(key)
        if board is None:
            found = find_topic(name)
            assert found is not None
            board = self.boards[key] = Board(self.desk, name, *found, root)
            self._tasks[key] = asyncio.create_task(board.keep())
        board.readers += 1
        if self._watch is None or self._watch.done():
            self._watch = asyncio.create_task(self._follow())
        return board

    async def leave(self, board: Board, root: str) -> None:
        board.readers -= 1
        key = (board.name, root)
        if board.readers or self.boards.get(key) is not board:
            return
        del self.boards[key]
        await _end(self._tasks.pop(key))
        if not self.boards and self._watch is not None:
            watch, self._watch = self._watch, None
            await _end(watch)

    async def _follow(self) -> None:
        """Follow the events of the fleet, once for all topics."""
        async for notice in self.desk.fleet.follow(None):
            for board in [*self.boards.values()]:
                board.hear(notice)


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError, Exception):
        await task


def topics_of(request: Request) -> list[str]:
    return [one for one in request.query_params.get("topics", "").split(",") if one]


def _refuse(status: int, what: str) -> Response:
    return PlainTextResponse(f"{what}\n", status, headers={"Retry-After": "10"})


class Reader(Response):
    """The answer to one page."""

    def __init__(self, streams: Streams, secret: str, topics: list[str], after: int, root: str) -> None:
        self._streams, self._secret, self._topics = streams, secret, topics
        self._after, self._root = after, root
        self.background = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._streams.sessions[self._secret] += 1
        boards = [self._streams.join(name, self._root) for name in self._topics]
        gone = asyncio.create_task(_wait_until_gone(receive))
        closing = asyncio.create_task(_wait(self._streams.desk.closing))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
            async for data in self._parts(boards, gone, closing):
                async with asyncio.timeout(STALLED):
                    await send({"type": "http.response.body", "body": data, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except TimeoutError:
            scope["state"].get("abort", lambda: None)()
        finally:
            self._streams.sessions[self._secret] -= 1
            self._streams.sessions += Counter()  # sessions without a stream are forgotten
            for task in (gone, closing):
                await _end(task)
            for board in boards:
                await self._streams.leave(board, self._root)

    async def _parts(
        self, boards: list[Board], gone: asyncio.Task[None], closing: asyncio.Task[None]
    ) -> AsyncIterator[bytes]:
        turns = {board.name: -1 for board in boards}
        checked = time.monotonic()
        yield b"retry: 2000\n\n"
        while not gone.done() and not closing.done():
            waits = [asyncio.create_task(_wait(board.changed)) for board in boards]
            data = b"".join(board.since(turns[board.name], self._after) for board in boards)
            for board in boards:
                turns[board.name] = board.turn if board.turn else -1
            if data:
                yield data
            try:
                await asyncio.wait({*waits, gone, closing}, timeout=HEARTBEAT, return_when="FIRST_COMPLETED")
            finally:
                for one in waits:
                    one.cancel()
                await asyncio.gather(*waits, return_exceptions=True)
            if not any(one.done() and not one.cancelled() for one in waits):
                yield b"event: beat\ndata: %d\n\n" % int(self._streams.desk.now())
            if time.monotonic() - checked > CHECK:
                checked = time.monotonic()
                rows = [(board.row, board.names) for board in boards]
                if not await self._streams.is_allowed(self._secret, rows):
                    yield b"event: signed-out\ndata: 0\n\n"
                    return


async def _wait_until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _wait(event: asyncio.Event) -> None:
    await event.wait()
