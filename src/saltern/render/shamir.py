"""Combine a key that was split between groups from the parts of some of them.

Shamir's scheme over GF(256), as in sops: a part has a value for each byte of the key, and ends with the
point at which these values were taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

MODULUS = 0x11B
ORDER = 255  # of the multiplicative group


def combine_parts(parts: Sequence[bytes]) -> bytes:
    """The key. Raises ``ValueError`` if the parts do not belong together."""
    points = [part[-1] for part in parts if len(part) > 1]
    if len({len(part) for part in parts}) != 1 or len(set(points)) != len(parts) or 0 in points:
        raise ValueError("the parts of its key do not belong together")
    weights = [_weight(at, points) for at in range(len(points))]
    rows = zip(*(part[:-1] for part in parts), strict=True)
    return bytes(
        _sum(_times(weight, value) for weight, value in zip(weights, row, strict=True)) for row in rows
    )


def _weight(at: int, points: Sequence[int]) -> int:
    """The weight of the value at one point for the value at 0: Lagrange's polynomial."""
    weight = 1
    for index, point in enumerate(points):
        if index != at:
            weight = _times(weight, _divide(point, point ^ points[at]))
    return weight


def _sum(values: Iterable[int]) -> int:
    found = 0
    for value in values:
        found ^= value
    return found


def _tables() -> tuple[list[int], list[int]]:
    powers, logarithms, value = [], [0] * 256, 1
    for exponent in range(ORDER):
        powers.append(value)
        logarithms[value] = exponent
        value ^= value << 1  # times the generator
        value ^= MODULUS if value > 255 else 0
    return powers, logarithms


_POWERS, _LOGARITHMS = _tables()


def _times(one: int, other: int) -> int:
    return _POWERS[(_LOGARITHMS[one] + _LOGARITHMS[other]) % ORDER] if one and other else 0


def _divide(one: int, by: int) -> int:
    return _POWERS[(_LOGARITHMS[one] - _LOGARITHMS[by]) % ORDER] if one else 0
