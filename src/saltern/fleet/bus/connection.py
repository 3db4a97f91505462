"""The address and the credential for a broker, and what the broker reports about itself."""

from __future__ import annotations

from ssl import SSLContext
from typing import Protocol

from msgspec import Struct

from saltern.fleet.bus.backoff import Backoff


class Credential(Protocol):
    """A JWT, and the key that proves that it is ours. Read again for each connection."""

    def jwt(self) -> str: ...

    def sign(self, nonce: bytes) -> bytes: ...


class Connection(Struct, frozen=True, kw_only=True):
    """How to reach the broker. ``name`` is the name in the credential; ``label`` is what the broker shows."""

    servers: tuple[str, ...]
    name: str
    label: str = ""
    credential: Credential | None = None
    tls: SSLContext | None = None
    server_name: str = ""
    backoff: Backoff = Backoff()
    timeout: float = 5.0
    ping: float = 20.0


class ServerFacts(Struct, frozen=True):
    """What the broker reports about itself on connecting."""

    version: str
    max_payload: int
