"""An existing NATS server, named by its URL, in place of the controller's own broker.

Its operator decides who may do what there. saltern checks what it can: whether there are streams, whether
messages of the needed size pass, whether the version is supported. Agents still obey only signed messages.
"""

from __future__ import annotations

from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from saltern.fleet.broker.binary import parse_version
from saltern.fleet.broker.streams import make_streams
from saltern.fleet.bus.client import NatsBus
from saltern.fleet.bus.connection import Connection
from saltern.fleet.bus.ports import BusError, NoStream, NotConnected, NotPermitted, StreamRefused
from saltern.language.diagnostics import Diagnostic, OperationError

LEAST = (2, 11, 0)
LEAST_PAYLOAD = 1 << 20


class _Tier(Struct, frozen=True):
    error: dict[str, object] | None = None


class ExistingBroker:
    """``url`` may have several servers, separated by commas, and a user and password."""

    def __init__(self, url: str, *, replicas: int = 1) -> None:
        self.servers = tuple(one.strip() for one in url.split(",") if one.strip())
        self._replicas = replicas
        for one in self.servers or ("",):
            if urlsplit(one).scheme not in ("nats", "tls") or not urlsplit(one).hostname:
                raise _unfit(
                    f"{_shown_url(one)!r} is not the URL of a NATS server",
                    "write nats://HOST:PORT or tls://HOST:PORT",
                )

    async def connect_controller(self, name: str, connection: Connection | None = None) -> NatsBus:
        """A bus with the rights that the URL, or the given connection, has."""
        settings = connection or Connection(servers=self.servers, name=name)
        try:
            return await NatsBus.connect(settings)
        except NotConnected as problem:
            where = ", ".join(map(_shown_url, self.servers))
            what = f"the broker at {where} cannot be reached: {_without_secrets(str(problem), self.servers)}"
            raise _unfit(what, "check the URL, the network and the credentials") from None

    async def prepare(self, bus: NatsBus) -> None:
        """Check what can be checked, and make the streams."""
        facts = bus.server_facts
        if parse_version(facts.version) < LEAST:
            raise _unfit(f"the broker is version {facts.version} of NATS", "upgrade it to 2.11 or newer")
        if facts.max_payload < LEAST_PAYLOAD:
            what = f"the broker accepts messages of up to {facts.max_payload} bytes"
            raise _unfit(what, f"set max_payload to {LEAST_PAYLOAD} or more in its configuration")
        try:
            answer = msgspec.json.decode(await bus.api("INFO"), type=_Tier)
            if answer.error:
                raise StreamRefused(str(answer.error.get("description", "")))
            await make_streams(bus, replicas=self._replicas)
        except (NoStream, NotPermitted, StreamRefused, BusError) as problem:
            what = f"the broker has no JetStream for this account: {problem}"
            raise _unfit(
                what, "enable jetstream in its configuration, and allow it for the account"
            ) from None


def _shown_url(url: str) -> str:
    """The URL without user and password."""
    parts = urlsplit(url)
    return url.replace(f"{parts.netloc}", parts.netloc.rpartition("@")[2], 1) if "@" in parts.netloc else url


def _without_secrets(text: str, servers: tuple[str, ...]) -> str:
    for one in servers:
        text = text.replace(one, _shown_url(one))
    return text


def _unfit(what: str, fix: str) -> OperationError:
    return OperationError(Diagnostic(code="fleet-broker-unfit", what=what, fix=fix))
