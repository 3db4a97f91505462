"""The order of versions in rpm, and users' conditions on versions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from saltern.modules.api.params import BadArgument

if TYPE_CHECKING:
    from re import Match

Compare = Callable[[str, str], int]
PIECES = re.compile(r"(\d+)|([a-zA-Z]+)|(~)|(\^)")


def rpm_compare(one: str, other: str) -> int:
    """Compare as rpm does: epoch, version, release; a release counts only if both have one."""
    (epoch, version, release), (epoch2, version2, release2) = _parts(one), _parts(other)
    order = _label(epoch, epoch2) or _label(version, version2)
    return order or (_label(release, release2) if release and release2 else 0)


def _parts(text: str) -> tuple[str, str, str]:
    epoch, colon, rest = text.partition(":")
    if not colon or not epoch.isdigit():
        epoch, rest = "0", rest if colon and not epoch else text
    version, dash, release = rest.rpartition("-")
    return (epoch, version, release) if dash else (epoch, rest, "")


def _label(one: str, other: str) -> int:
    """Compare digits with digits, letters with letters; ``~`` sorts before the end, ``^`` after it."""
    mine, theirs = list(PIECES.finditer(one)), list(PIECES.finditer(other))
    for index in range(max(len(mine), len(theirs))):
        order = _piece(
            mine[index] if index < len(mine) else None, theirs[index] if index < len(theirs) else None
        )
        if order:
            return order
    return 0


def _rank(piece: Match[str] | None) -> int:
    """The rank of a piece by its kind: ``~``, the end, ``^``, letters, digits."""
    if piece is None:
        return 1
    return {"~": 0, "^": 2}.get(piece[0], 4 if piece[1] else 3)


def _piece(one: Match[str] | None, other: Match[str] | None) -> int:
    ranks = _rank(one), _rank(other)
    if ranks[0] != ranks[1] or one is None or other is None:
        return _sign(*ranks)
    if one[1]:
        return _sign(int(one[1]), int(other[1]))
    return _sign(one[0], other[0])


def _sign(one: int | str, other: int | str) -> int:
    return (one > other) - (one < other)  # type: ignore[operator]


# -- conditions --------------------------------------------------------------------------------


class Condition(Struct, frozen=True):
    """``>= 1.2``. With ``=`` the version may have ``*`` and ``?``."""

    relation: str
    version: str


RELATIONS: dict[str, Callable[[int], bool]] = {
    "<=": lambda order: order <= 0,
    ">=": lambda order: order >= 0,
    "<": lambda order: order < 0,
    ">": lambda order: order > 0,
    "!=": lambda order: order != 0,
    "=": lambda order: order == 0,
}
SPELLINGS = {"==": "=", "": "=", "<>": "!="}
WRITTEN = re.compile(r"(<=|>=|==|!=|<>|<|>|=)?\s*([^\s<>=!]\S*)")


def conditions(text: str, package: str) -> tuple[Condition, ...]:
    """The conditions in ``>=1.2,<2``. Raises ``BadArgument`` for an invalid one."""
    found = []
    for part in text.split(","):
        match = WRITTEN.fullmatch(part.strip())
        if match is None:
            raise BadArgument(
                f"{text!r} is not a version of {package}; write it as 1.2, 1.2.*, or '>=1.2,<2'"
            )
        relation = match[1] or ""
        found.append(Condition(SPELLINGS.get(relation, relation), match[2]))
    return tuple(found)


def fulfils(
    version: str, wanted: tuple[Condition, ...], compare: Compare, ignore_epoch: bool | None = None
) -> bool:
    """True if a version meets the conditions. ``ignore_epoch``: None ignores an epoch that is not given."""
    return all(_holds(version, one, compare, ignore_epoch) for one in wanted)


def _holds(version: str, wanted: Condition, compare: Compare, ignore_epoch: bool | None) -> bool:
    target = wanted.version
    if ignore_epoch or (ignore_epoch is None and ":" not in target):
        version, target = bare(version), bare(target)
    if wanted.relation == "=" and any(mark in target for mark in "*?["):
        from fnmatch import fnmatchcase

        return fnmatchcase(version, target)
    return RELATIONS[wanted.relation](0 if version == target else compare(version, target))


def bare(version: str) -> str:
    """The version without its epoch."""
    epoch, colon, rest = version.partition(":")
    return rest if colon and epoch.isdigit() else version
