"""Puts contents into the stream BLOBS, if it lacks them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator

from saltern.fleet.bus.ports import Bus, StreamRefused, StreamState
from saltern.fleet.files.parallel import each
from saltern.fleet.files.pieces import STREAM, count_pieces, cut, digest_of, list_name, write_list
from saltern.fleet.files.scan import Content, read_pieces
from saltern.fleet.protocol.streams import STREAMS
from saltern.fleet.protocol.subjects import SUBJECTS, subjects_of
from saltern.language.diagnostics import Diagnostic, OperationError

TIMEOUT = 30.0


class Blobs:
    """The stream from a controller's side. It is listed again whenever another controller may have changed
    it.
    """

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._names: set[str] = set()
        self._state: StreamState | None = None
        self.stored = 0  # bytes
        self.count = 0

    async def make(self, replicas: int = 1) -> None:
        await self._bus.make_stream(STREAMS[STREAM], subjects_of(STREAM), replicas=replicas)

    async def refresh(self) -> None:
        """List the stream, unless its contents are known."""
        state = await self._bus.stream_state(STREAM)
        if state != self._state:
            self._names = await self.list_names()
            self._state = state

    async def list_names(self) -> set[str]:
        """The names of all blobs."""
        row = SUBJECTS["blob"]
        found = await self._bus.subjects(STREAM, row.wild())
        return {fields["digest"] for subject in found if (fields := row.parse(subject))}

    async def settle(self) -> None:
        """Call this after own changes: only changes of others are a reason to list again."""
        before, after = self._state, await self._bus.stream_state(STREAM)
        mine = before is not None and after.messages == len(self._names)
        self._state = after if mine else None

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def has(self, digest: str, size: int) -> bool:
        """True if a content of this size was in the stream at the last ``refresh``."""
        return (digest if count_pieces(size) == 1 else list_name(digest)) in self._names

    async def put(self, name: str, data: bytes) -> None:
        """Store one blob, unless it exists."""
        if name in self._names:
            return
        try:
            await self._bus.store(SUBJECTS["blob"].of(digest=name), data, timeout=TIMEOUT)
        except StreamRefused as problem:
            raise _full(problem) from None
        self._names.add(name)
        self.stored += len(data)
        self.count += 1

    async def put_data(self, data: bytes) -> str:
        """Store a content from memory; return its digest."""
        digest = digest_of(data)
        await self._put_pieces(digest, len(data), cut(data))
        return digest

    async def put_file(self, digest: str, content: Content) -> None:
        """Store the content of a file."""
        await self._put_pieces(digest, content.size, read_pieces(content, digest))

    async def _put_pieces(self, digest: str, size: int, pieces: Iterator[bytes]) -> None:
        single = count_pieces(size) == 1
        if (digest if single else list_name(digest)) in self._names:
            return
        digests = []
        while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
            digests.append(digest if single else digest_of(piece))
            await self.put(digests[-1], piece)
        if not single:  # last: whenever a list exists, so does everything that it names
            await self.put(list_name(digest), write_list(size, digests))

    async def remove(self, names: Iterable[str]) -> None:
        async def remove(name: str) -> None:
            await self._bus.remove(STREAM, SUBJECTS["blob"].of(digest=name))
            self._names.discard(name)

        await each(names, remove)


def _full(problem: StreamRefused) -> OperationError:
    return OperationError(
        Diagnostic(
            code="blobs-full",
            what=f"the broker does not accept more files: {problem}",
            fix="remove large files from the roots, keep fewer trees (keep_trees), or give the broker's disk"
            " more space",
        )
    )
