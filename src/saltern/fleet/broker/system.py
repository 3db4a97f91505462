"""The broker's system account: its status, its durability, and new claims. It opens no port."""

from __future__ import annotations

from typing import TypeVar

import msgspec
from msgspec import Struct

from saltern.fleet.bus.ports import Bus, BusError
from saltern.language.diagnostics import Diagnostic, OperationError

TIMEOUT = 5.0
NO_MEMBER = 10044  # the server is not in the cluster
T = TypeVar("T")


class _StoreConfig(Struct, frozen=True):
    sync_always: bool = False
    sync_interval: int = 0
    max_storage: int = 0
    store_dir: str = ""


class _Store(Struct, frozen=True):
    config: _StoreConfig = _StoreConfig()


class Vitals(Struct, frozen=True):
    """The broker's own statistics."""

    version: str = ""
    connections: int = 0
    total_connections: int = 0
    slow_consumers: int = 0
    mem: int = 0
    uptime: str = ""
    max_payload: int = 0
    jetstream: _Store = _Store()


class _Health(Struct, frozen=True):
    status: str = ""
    error: str = ""


class _Pushed(Struct, frozen=True):
    code: int = 0
    message: str = ""
    description: str = ""


class _Error(Struct, frozen=True):
    code: int = 0
    description: str = ""


class _Refused(Struct, frozen=True):
    err_code: int = 0
    description: str = ""


class _Removed(Struct, frozen=True):
    success: bool = False
    error: _Refused | None = None


class BrokerSystem:
    """Requests to the broker, over a bus with the system account's credential."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def vitals(self) -> Vitals:
        return await self._ask("VARZ", Vitals)

    async def health(self) -> str:
        """Empty if the broker is healthy; else what is wrong."""
        try:
            said = await self._ask("HEALTHZ", _Health)
        except BusError as problem:
            return f"the broker cannot be asked: {problem}"
        return "" if said.status == "ok" else said.error or said.status or "it gives no status"

    async def _ask(self, what: str, shape: type[T]) -> T:
        answer = await self._bus.request(f"$SYS.REQ.SERVER.PING.{what}", b"{}", timeout=TIMEOUT)
        return _data(answer.data, shape)

    async def push(self, jwt: str) -> None:
        """Send the claims of an account to the broker; it applies them before it answers."""
        answer = await self._bus.request("$SYS.REQ.CLAIMS.UPDATE", jwt.encode(), timeout=TIMEOUT)
        said = _data(answer.data, _Pushed)
        if said.code != 200:
            raise BusError(f"the broker refuses the claims: {said.message or said.description or said.code}")

    async def drop_peer(self, server: str) -> None:
        """Remove a server that is gone for good from the cluster: other servers take over its streams, as far
        as there are any. An unknown server is not an error.
        """
        data = msgspec.json.encode({"peer": server})
        answer = await self._bus.request("$JS.API.SERVER.REMOVE", data, timeout=TIMEOUT)
        try:
            error = msgspec.json.decode(answer.data, type=_Removed).error
        except msgspec.DecodeError:
            raise BusError("the answer of the broker cannot be read") from None
        if error is not None and error.err_code != NO_MEMBER:
            raise BusError(f"the brokers do not drop {server}: {error.description}")

    async def check_durability(self) -> Vitals:
        """Refuse a broker that acknowledges messages that a power failure could lose."""
        vitals = await self.vitals()
        if not vitals.jetstream.config.sync_always:
            what = "the broker acknowledges messages before they are on disk (sync_interval is not 'always')"
            fix = "set 'sync_interval: always' in its jetstream configuration, or use three brokers"
            raise OperationError(Diagnostic(code="fleet-broker-unsafe", what=what, fix=fix))
        return vitals


def _data(answer: bytes, shape: type[T]) -> T:
    """The payload of an answer. Raises an error if the broker answered with one."""
    try:
        parts = msgspec.json.decode(answer, type=dict[str, msgspec.Raw])
        if "data" not in parts:
            error = msgspec.json.decode(parts.get("error", msgspec.Raw(b"{}")), type=_Error)
            raise BusError(f"the broker answered with an error: {error.description or error.code}")
        return msgspec.json.decode(parts["data"], type=shape)
    except msgspec.DecodeError:
        raise BusError("the answer of the broker cannot be read") from None
