"""The format of a bundle in transit: a list of names and sizes, then the files, compressed together.

``remote/bootstrap.py`` unpacks it. A host makes each file with three system calls, where the libraries for
common archives take tens.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping

LEVEL = 6
SIZE = struct.Struct(">I")


def pack_files(files: Mapping[str, bytes]) -> bytes:
    names = sorted(files)
    listing = json.dumps([[name, len(files[name])] for name in names]).encode()
    return zlib.compress(b"".join([SIZE.pack(len(listing)), listing, *map(files.__getitem__, names)]), LEVEL)


def unpack_files(data: bytes) -> dict[str, bytes]:
    """The files in it, by name."""
    plain = zlib.decompress(data)
    (size,) = SIZE.unpack_from(plain)
    files, at = {}, SIZE.size + size
    for name, length in json.loads(plain[SIZE.size : at]):
        files[name] = plain[at : at + length]
        at += length
    return files
