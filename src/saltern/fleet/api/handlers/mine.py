"""What systems have published for others."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, convert

from saltern.fleet.api.call import Call
from saltern.fleet.api.route import NoQuery
from saltern.fleet.store.mine import read_mine


class MineValue(Struct, frozen=True, kw_only=True):
    """The value of a function. ``allowed``: the target of the systems that may read it; empty: all."""

    function: str
    at: float
    value: Any
    allowed: str


class MineValues(Struct, frozen=True, kw_only=True):
    """All that a system has published."""

    items: list[MineValue]


async def get_mine(call: Call[NoQuery, None]) -> MineValues:
    """What a system has put into the mine."""
    rows = await call.read(read_mine, [call.path["system"]], ())
    return MineValues(items=[convert(one, MineValue, from_attributes=True) for one in rows])
