"""Parts of pages for those that have no stream: too many are open, or a proxy holds them back.

Such a page asks for its parts every ten seconds and says so. What was rendered is shared by all who ask
within a few seconds, so that a thousand of them cost no more than a few.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from saltern.fleet.console.session import secret_of
from saltern.fleet.console.stream import Board, Streams, topics_of
from saltern.fleet.console.topics import find_topic

SHARED = 5.0  # seconds for which a rendered topic is given to others
MOST_KEPT = 200


class Polls:
    """The newest parts of topics, once."""

    def __init__(self, streams: Streams) -> None:
        self._streams = streams
        self._kept: dict[tuple[str, str], tuple[float, bytes]] = {}

    async def answer(self, request: Request) -> Response:
        """The parts of some topics in the form of the stream, or why there are none."""
        topics = topics_of(request)
        if refused := await self._streams.refusal(secret_of(request), topics):
            return refused
        root = request.scope.get("root_path", "")
        found = [await self._newest(name, root) for name in topics]
        return Response(b"".join(found), media_type="text/plain", headers={"Cache-Control": "no-store"})

    async def _newest(self, name: str, root: str) -> bytes:
        key, now = (name, root), self._streams.desk.now()
        followed = self._streams.boards.get(key)
        if followed is not None and followed.turn:
            return followed.since(-1, 0)
        at, data = self._kept.get(key, (0.0, b""))
        if not 0 <= now - at < SHARED:
            data = await self._render_board(name, root)
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            self._kept[key] = (now, data)
        return data

    async def _render_board(self, name: str, root: str) -> bytes:
        found = find_topic(name)
        assert found is not None
        board = Board(self._streams.desk, name, *found, root)
        await board.look()
        return board.since(-1, 0)
