"""The hash of a password in Samba: MD4 (RFC 1320) of its UTF-16. OpenSSL 3 has no MD4 by default."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

HASH = re.compile(r"[0-9A-F]{32}\Z")
_ALL = 0xFFFFFFFF
_BEGIN = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476)

Mix = Callable[[int, int, int], int]

# Each round: the mixing function, the added constant, the order of words, and the rotations.
ROUNDS: tuple[tuple[Mix, int, tuple[int, ...], tuple[int, ...]], ...] = (
    (lambda x, y, z: (x & y) | (~x & z), 0, tuple(range(16)), (3, 7, 11, 19)),
    (
        lambda x, y, z: (x & y) | (x & z) | (y & z),
        0x5A827999,
        tuple(4 * low + high for high in range(4) for low in range(4)),
        (3, 5, 9, 13),
    ),
    (
        lambda x, y, z: x ^ y ^ z,
        0x6ED9EBA1,
        (0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15),
        (3, 9, 11, 15),
    ),
)


def nt_hash(password: str) -> str:
    return md4(password.encode("utf-16-le")).hex().upper()


def md4(data: bytes) -> bytes:
    padded = data + b"\x80" + bytes(-(len(data) + 9) % 64) + struct.pack("<Q", 8 * len(data))
    words = _BEGIN
    for start in range(0, len(padded), 64):
        words = _block(words, struct.unpack_from("<16I", padded, start))
    return struct.pack("<4I", *words)


def _block(begin: tuple[int, int, int, int], block: tuple[int, ...]) -> tuple[int, int, int, int]:
    a, b, c, d = begin
    for mix, constant, order, turns in ROUNDS:
        for step, place in enumerate(order):
            total = (a + mix(b, c, d) + block[place] + constant) & _ALL
            turn = turns[step % 4]
            a, b, c, d = d, (total << turn | total >> (32 - turn)) & _ALL, b, c
    one, two, three, four = begin
    return (one + a) & _ALL, (two + b) & _ALL, (three + c) & _ALL, (four + d) & _ALL
