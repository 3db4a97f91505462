"""Strips compiled libraries of what only debuggers read: in some wheels that is most of the file."""

from __future__ import annotations

import struct

MAGIC = b"\x7fELF"
WIDE = 2  # of the byte that says whether addresses have 64 bits
LITTLE = 1
# where the table of segments begins, the place of that of sections, and the counts, in the first header
HEADERS = {False: ("I", 28, 32, 42, 46), True: ("Q", 32, 40, 54, 58)}
SEGMENTS = {False: (4, 16), True: (8, 32)}  # offset and size of a segment in the file, in its row


def loaded_part(data: bytes) -> bytes:
    """A shared library up to the end of its loaded part. Any other file stays as it is."""
    try:
        return _loaded_part(data) if data.startswith(MAGIC) else data
    except (struct.error, IndexError, KeyError):
        return data


def _loaded_part(data: bytes) -> bytes:
    is_wide, order = data[4] == WIDE, "<" if data[5] == LITTLE else ">"
    word, segments_at, sections_at, counts_at, section_counts_at = HEADERS[is_wide]
    (first,) = struct.unpack_from(order + word, data, segments_at)
    size, count = struct.unpack_from(f"{order}HH", data, counts_at)
    end = first + size * count
    for row in range(first, end, size):
        begin, length = (struct.unpack_from(order + word, data, row + at)[0] for at in SEGMENTS[is_wide])
        end = max(end, begin + length)
    kept = bytearray(data[:end])
    struct.pack_into(order + word, kept, sections_at, 0)
    struct.pack_into(f"{order}HHH", kept, section_counts_at, 0, 0, 0)
    return bytes(kept)
