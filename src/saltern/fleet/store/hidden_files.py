"""Texts of files that are rendered on the controller. Agents know each by a stub with a token."""

from __future__ import annotations

import hashlib
import secrets
import zlib
from collections.abc import Collection, Iterable

from sqlalchemy import Connection, delete, insert, select

from saltern.fleet.protocol.hidden_file import HiddenFile
from saltern.fleet.store.database import serialize
from saltern.fleet.store.render_tables import HIDDEN_FILES
from saltern.sources.stub import stub_text

STEP = 500


def stubs_of(connection: Connection, files: Collection[HiddenFile]) -> dict[HiddenFile, str]:
    """The texts of the stubs of those that are known."""
    digests = sorted({one.digest for one in files})
    found: dict[HiddenFile, str] = {}
    for first in range(0, len(digests), STEP):
        some = HIDDEN_FILES.c.digest.in_(digests[first : first + STEP])
        for row in connection.execute(select(HIDDEN_FILES).where(some)):
            found[HiddenFile(row.digest, row.words)] = stub_text(row.token, row.words)
    return found


def keep_hidden(connection: Connection, files: Iterable[tuple[HiddenFile, bytes]]) -> None:
    """Store the texts of files, each under a new token; known ones stay unchanged."""
    serialize(connection, "hidden files")
    fresh = dict(files)
    for known in stubs_of(connection, fresh):
        fresh.pop(known, None)
    for one, data in fresh.items():
        token = secrets.token_hex(16)
        stub = hashlib.sha256(stub_text(token, one.words).encode()).hexdigest()
        values = {"stub": stub, "token": token, "digest": one.digest, "words": one.words}
        connection.execute(insert(HIDDEN_FILES).values(**values, data=zlib.compress(data, 6)))


def hidden_texts(connection: Connection, stubs: Collection[str]) -> dict[str, bytes]:
    """The texts of files by the digests of their stubs; of those that are stubs."""
    found: dict[str, bytes] = {}
    wanted = sorted(stubs)
    for first in range(0, len(wanted), STEP):
        some = HIDDEN_FILES.c.stub.in_(wanted[first : first + STEP])
        query = select(HIDDEN_FILES.c.stub, HIDDEN_FILES.c.data).where(some)
        found.update((row.stub, zlib.decompress(row.data)) for row in connection.execute(query))
    return found


def prune_hidden(connection: Connection, kept: Collection[str]) -> int:
    """Remove the texts whose stub is in no stored tree; return how many."""
    serialize(connection, "hidden files")
    known = connection.scalars(select(HIDDEN_FILES.c.stub)).all()
    doomed = [one for one in known if one not in kept]
    for first in range(0, len(doomed), STEP):
        some = doomed[first : first + STEP]
        connection.execute(delete(HIDDEN_FILES).where(HIDDEN_FILES.c.stub.in_(some)))
    return len(doomed)
