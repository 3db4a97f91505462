"""The return of a system, added to its event: the table of events does not keep it twice."""

from __future__ import annotations

import re
import zlib
from typing import Any

import msgspec
from msgspec.structs import replace

from saltern.fleet.store import job_queries
from saltern.fleet.store.database import Connection
from saltern.fleet.store.events import StoredEvent
from saltern.fleet.store.job_queries import job

_RET = re.compile(r"salt/job/(?P<jid>[^/]+)/ret/(?P<id>.+)")
LARGEST = 4 * 1024 * 1024  # bytes of a return that a reaction file sees


def with_return(connection: Connection, event: StoredEvent) -> StoredEvent:
    """An event ``salt/job/JID/ret/ID`` with the function and the system's return, as in Salt."""
    found = _RET.fullmatch(event.tag)
    if found is None:
        return event
    row = job(connection, found["jid"])
    more = {"fun": row.function if row else "", "fun_args": [], "cmd": "_return"}
    more["return"] = read_return(connection, found["jid"], found["id"])
    return replace(event, data={**more, **event.data})


def read_return(connection: Connection, jid: str, system: str) -> Any:
    """What a system returned; None if it cannot be read or does not exist."""
    packed = job_queries.body(connection, jid, system)
    if packed is None:
        return None
    encoding, data = packed
    try:
        if encoding == "json+zlib":
            data = zlib.decompressobj().decompress(data, LARGEST + 1)
        value = msgspec.json.decode(data) if len(data) <= LARGEST else "the return is too large"
    except (zlib.error, msgspec.DecodeError):
        return None
    return value["local"] if isinstance(value, dict) and value.keys() == {"local"} else value
