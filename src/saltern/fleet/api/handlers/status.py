"""Whether the controller is well, what its API is, and who asks."""

from __future__ import annotations

from saltern import __version__
from saltern.fleet.api.call import Call
from saltern.fleet.api.route import NoQuery
from saltern.fleet.api.shapes import Health, Me


async def health(call: Call[NoQuery, None]) -> Health:  # noqa: ARG001
    return Health(version=__version__)


async def me(call: Call[NoQuery, None]) -> Me:
    return Me(name=call.who.name, roles=[*call.who.roles], via=call.who.via)
