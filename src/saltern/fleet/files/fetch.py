"""Fetches contents by digest for an agent; nothing is used before its digest is checked."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable

from saltern.fleet.bus.ports import Bus, BusError, Disconnected, NoAnswer
from saltern.fleet.files.changes import apply_change, decode_change
from saltern.fleet.files.manifest import (
    MAX_MANIFEST,
    BadManifest,
    Index,
    Manifest,
    decode_index,
    decode_manifest,
    encode,
)
from saltern.fleet.files.pieces import (
    PIECE,
    STREAM,
    change_name,
    count_pieces,
    digest_of,
    list_name,
    piece_size,
    read_list,
)
from saltern.fleet.files.problems import NotFetched
from saltern.fleet.files.site_source import SiteSource
from saltern.fleet.protocol.subjects import SUBJECTS

STEPS = (0.05, 0.2, 0.5, 1.0)
Write = Callable[[bytes], None]


class Fetcher:
    """Reads the stream BLOBS. ``received`` counts the bytes."""

    def __init__(
        self, bus: Bus, *, wait: float = 60.0, absent_wait: float = 5.0, site: SiteSource | None = None
    ) -> None:
        """``wait``: how long to try while there is no connection; ``absent_wait``: while the broker does
        not have it, until a controller publishes it again. ``site`` is asked first.
        """
        self._bus = bus
        self._site = site
        self._wait = wait
        self._absent_wait = absent_wait
        self.received = 0

    async def index(self, digest: str) -> Index:
        index = decode_index(await self._fetch_verified(digest, PIECE))
        if digest_of(encode(index)) != digest:
            raise BadManifest("the index is not in its canonical form")
        return index

    async def manifest(self, digest: str, older: dict[str, Manifest]) -> Manifest:
        """A manifest: from the change since an older one (by digest), else complete."""
        for before, manifest in older.items():
            if found := await self._apply_change(before, manifest, digest):
                return found
        data = await self._blob(digest, required=False)
        if data is None:
            whole = bytearray()
            await self._pieces(digest, MAX_MANIFEST, whole.extend)
            return decode_manifest(bytes(whole))
        return decode_manifest(_check(data, digest))

    async def _apply_change(self, before: str, manifest: Manifest, digest: str) -> Manifest | None:
        data = await self._blob(change_name(before, digest), required=False)
        if data is None:
            return None
        try:
            found = apply_change(manifest, decode_change(data))
        except BadManifest:
            return None
        return found if digest_of(encode(found)) == digest else None

    async def content(self, digest: str, size: int, write: Write) -> None:
        """Pass the pieces of a content to ``write``. The content is complete and correct only if this
        returns.
        """
        if count_pieces(size) > 1:
            return await self._pieces(digest, size, write, exactly=True)
        data = await self._fetch_verified(digest, size)
        if len(data) != size:
            raise NotFetched(f"the size of the content {digest[:12]} differs from the manifest")
        write(data)
        return None

    async def _pieces(self, digest: str, limit: int, write: Write, *, exactly: bool = False) -> None:
        listed = read_list(await self._blob(list_name(digest)) or b"", limit)
        if listed is None or (exactly and listed[0] != limit):
            raise NotFetched(f"the list of pieces of {digest[:12]} is damaged")
        whole = hashlib.sha256()
        size, names = listed
        for number, name in enumerate(names):
            piece = await self._fetch_verified(name, piece_size(size, number))
            whole.update(piece)
            await asyncio.to_thread(write, piece)
        if whole.hexdigest() != digest:
            raise NotFetched(f"the pieces of {digest[:12]} make up another content")

    async def _fetch_verified(self, name: str, limit: int) -> bytes:
        data = await self._blob(name) or b""
        if self._site is not None and digest_of(data) != name:  # the fleet may have the right one
            data = await self._blob(name, ask_site=False) or b""
        return _check(data, name, limit)

    async def _blob(self, name: str, *, required: bool = True, ask_site: bool = True) -> bytes | None:
        """One message of the stream; tried again while there is a chance to get it."""
        loop = asyncio.get_running_loop()
        began, why, attempt = loop.time(), "", 0
        while True:
            limit = self._wait
            try:
                data = await self._read(name, self._site if ask_site else None)
                if data is not None:
                    self.received += len(data)
                    return data
                if not required:
                    return None
                why, limit = "the broker does not have it", self._absent_wait
            except (Disconnected, NoAnswer) as problem:
                why = str(problem)
            except BusError as problem:
                raise NotFetched(f"the content {name[:12]} cannot be fetched: {problem}") from None
            if loop.time() - began >= limit:
                raise NotFetched(f"the content {name[:12]} cannot be fetched: {why}")
            await asyncio.sleep(STEPS[min(attempt, len(STEPS) - 1)])
            attempt += 1

    async def _read(self, name: str, site: SiteSource | None) -> bytes | None:
        """From the site, if it knows; else from the fleet."""
        given = await site.piece(name) if site is not None else None
        if given is not None:
            return given.data
        kept = await self._bus.last(STREAM, SUBJECTS["blob"].of(digest=name))
        return kept.data if kept is not None else None


def _check(data: bytes, digest: str, limit: int = PIECE) -> bytes:
    if len(data) > limit or digest_of(data) != digest:
        raise NotFetched(f"the broker did not answer with the content {digest[:12]}")
    return data
