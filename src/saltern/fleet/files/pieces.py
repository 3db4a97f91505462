"""Content in pieces, and the names under which the stream BLOBS keeps them.

A content of one piece is kept under its own digest, and so is each piece of a longer one. A longer one also
has a list of its pieces, found by a name made from the digest. A reader checks everything it gets: a piece
against its digest, and the whole against the digest of the content.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

PIECE = 512 * 1024
MAX_PIECES = 16_000  # so that a list of them is also one piece
MAX_CONTENT = PIECE * MAX_PIECES
_SIZE = 32
STREAM = "BLOBS"


def digest_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def count_pieces(size: int) -> int:
    return max(1, -(-size // PIECE))


def list_name(digest: str) -> str:
    """The name of the list of pieces of a content."""
    return _derive_name("pieces", digest)


def change_name(before: str, after: str) -> str:
    """The name of what changed between two manifests."""
    return _derive_name("change", before, after)


def _derive_name(*words: str) -> str:
    return digest_of(b"saltern " + " ".join(words).encode())


def cut(data: bytes) -> Iterator[bytes]:
    """The pieces of a content; an empty content has one empty piece."""
    for start in range(0, max(len(data), 1), PIECE):
        yield data[start : start + PIECE]


def write_list(size: int, digests: list[str]) -> bytes:
    return size.to_bytes(8) + b"".join(map(bytes.fromhex, digests))


def read_list(data: bytes, limit: int) -> tuple[int, list[str]] | None:
    """Size and pieces of a content; None if this is not such a list, or the content is longer than
    ``limit``.
    """
    size, named = int.from_bytes(data[:8]), data[8:]
    if size > limit or len(named) != count_pieces(size) * _SIZE:
        return None
    return size, [named[start : start + _SIZE].hex() for start in range(0, len(named), _SIZE)]


def piece_size(size: int, number: int) -> int:
    """How many bytes piece ``number`` of a content of this size has."""
    return min(PIECE, size - number * PIECE)
