"""Who connects and who leaves, as reported by the broker: no heartbeats are needed."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from msgspec import Struct

from saltern.fleet.bus.ports import Bus, Message
from saltern.fleet.identity.jwt import BadJwt, decode_user
from saltern.fleet.protocol.ids import BadId, decode_token


class _Client(Struct, frozen=True):
    id: int = 0
    host: str = ""
    name: str = ""
    jwt: str = ""


class _Server(Struct, frozen=True):
    id: str = ""


class _Event(Struct, frozen=True):
    client: _Client = _Client()
    server: _Server = _Server()
    reason: str = ""


class ClientEvent(Struct, frozen=True, kw_only=True):
    """A connection began or ended. ``system`` is empty for controllers and for machines that ask to join."""

    name: str
    system: str
    label: str
    host: str
    connection: str
    connected: bool
    why: str = ""


async def watch_clients(system_bus: Bus, account: str, on_client: Callable[[ClientEvent], None]) -> None:
    """Call ``on_client`` for each connection of the fleet's account that begins or ends."""

    def handler(connected: bool) -> Callable[[Message], object]:
        async def on(message: Message) -> None:
            on_client(read_event(message.data, connected=connected))

        return on

    for word, connected in (("CONNECT", True), ("DISCONNECT", False)):
        await system_bus.subscribe(f"$SYS.ACCOUNT.{account}.{word}", handler(connected))  # type: ignore[arg-type]


def read_event(data: bytes, *, connected: bool) -> ClientEvent:
    """Read an event. The name comes from the credential, which the broker has checked; a label can be
    anything.
    """
    event = msgspec.json.decode(data, type=_Event)
    client = event.client
    name = _name(client.jwt)
    return ClientEvent(
        name=name,
        system=_system(name),
        label=client.name,
        host=client.host,
        connection=f"{event.server.id}:{client.id}",
        connected=connected,
        why=event.reason,
    )


def _name(jwt: str) -> str:
    try:
        return decode_user(jwt).name
    except BadJwt:
        return ""


def _system(name: str) -> str:
    try:
        return decode_token(name)
    except BadId:
        return ""
