"""Damage to bytes, from a seed: the same seed makes the same damage."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

ODD = (
    b"\x00",
    b"\xff",
    b"\xab",
    b"{{",
    b"}}",
    b"{%",
    b"!!python/object",
    b"&a *a",
    b"9" * 5000,
    b"[" * 500,
    b"\x1b[2J",
)
Damage = Callable[[bytes, Random], bytes]


def flip(data: bytes, chance: Random) -> bytes:
    """One bit."""
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]


def cut(data: bytes, chance: Random) -> bytes:
    return data[: chance.randrange(len(data))]


def drop(data: bytes, chance: Random) -> bytes:
    start = chance.randrange(len(data))
    return data[:start] + data[start + chance.randrange(1, 200) :]


def zero(data: bytes, chance: Random) -> bytes:
    start = chance.randrange(len(data))
    size = min(chance.randrange(1, 4096), len(data) - start)
    return data[:start] + bytes(size) + data[start + size :]


def insert(data: bytes, chance: Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice(ODD) + data[at:]


def repeat(data: bytes, chance: Random) -> bytes:
    start = chance.randrange(len(data))
    piece = data[start : start + chance.randrange(1, 300)]
    return data[:start] + piece * chance.randrange(2, 5) + data[start:]


DAMAGE: tuple[Damage, ...] = (flip, flip, flip, cut, drop, zero, insert, repeat)


def damaged(data: bytes, chance: Random) -> bytes:
    """One to three kinds of damage, one after the other."""
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        if data:
            data = chance.choice(DAMAGE)(data, chance)
    return data
