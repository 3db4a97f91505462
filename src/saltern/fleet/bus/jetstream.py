"""The broker's stream API as data: the requests, and how to read the answers. No network.

The answers are JSON from the broker, which a credential of ours trusts; they are still read by shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from saltern.fleet.bus.ports import (
    BusError,
    Kept,
    NoStream,
    ReaderOptions,
    Stored,
    StreamRefused,
    StreamState,
)
from saltern.fleet.protocol.streams import Stream

S = TypeVar("S")

API = "$JS.API"
FETCH_BYTES = 8 * 1024 * 1024  # of the messages of one request; no message is larger than that
NANO = 1_000_000_000
MAX_READERS = 32  # of one stream; there is not one for each agent
MESSAGE_ID = "Nats-Msg-Id"
NOT_FOUND = 404
# Statuses that end a fetch: nothing there, time is up, the reader was deleted or the leader changed.
ENDS = frozenset({400, 404, 408, 409, 503})
NO_STREAM = frozenset({10059, 10060})
READER_GONE = 10014


class ApiError(Struct, frozen=True):
    """An error that the broker reports."""

    code: int = 0
    err_code: int = 0
    description: str = ""


class _Reply(Struct, frozen=True):
    error: ApiError | None = None
    stream: str = ""
    seq: int = 0
    duplicate: bool = False


class _State(Struct, frozen=True):
    messages: int = 0
    bytes: int = 0
    first_seq: int = 0
    last_seq: int = 0
    subjects: dict[str, int] | None = None


class _Info(Struct, frozen=True):
    state: _State = _State()
    total: int = 0
    config: dict[str, Any] = {}
    error: ApiError | None = None


def stream_config(stream: Stream, subjects: tuple[str, ...], replicas: int) -> dict[str, object]:
    """The configuration of a stream, with every limit: defaults of the broker change between its versions."""
    return {
        "name": stream.name,
        "subjects": list(subjects),
        "retention": "limits",
        "storage": "file",
        "discard": "new" if stream.refuses_when_full else "old",
        "num_replicas": replicas,
        "max_age": int(stream.max_age * NANO),
        "max_bytes": stream.max_bytes,
        "max_msgs": -1,
        "max_msgs_per_subject": 1 if stream.last_only else -1,
        "max_msg_size": -1,
        "max_consumers": MAX_READERS,
        "duplicate_window": int(stream.duplicates * NANO),
        "compression": "s2" if stream.compressed else "none",
        "allow_direct": stream.direct,
        "persist_mode": "default" if stream.synced or replicas > 1 else "async",
    }


def reader_config(options: ReaderOptions) -> dict[str, object]:
    config: dict[str, object] = {
        "durable_name": options.name,
        "name": options.name,
        "deliver_policy": "new" if options.from_now else "all",
        "ack_policy": "explicit",
        "ack_wait": int(options.ack_wait * NANO),
        "max_ack_pending": options.max_unacknowledged,
        "max_deliver": -1,
        "max_waiting": 64,
        "replay_policy": "instant",
    }
    if options.subjects:
        config["filter_subjects"] = list(options.subjects)
    return config


def fetch_request(count: int, wait: float) -> bytes:
    """Request the available messages, up to a number of bytes: large messages are then not all in memory at
    once, and do not arrive too late to be acknowledged.
    """
    end = {"expires": int(wait * NANO)} if wait else {"no_wait": True}
    return msgspec.json.encode({"batch": count, "max_bytes": FETCH_BYTES, **end})


def check(data: bytes) -> bytes:
    """The answer, if it is not an error."""
    read_stored(data)
    return data


def read_stored(data: bytes) -> Stored:
    answer = _read(_Reply, data)
    if answer.error is not None:
        raise problem(answer.error)
    return Stored(answer.stream, answer.seq, answer.duplicate)


def read_state(data: bytes) -> StreamState:
    state = _read(_Info, check(data)).state
    return StreamState(state.messages, state.bytes, state.first_seq, state.last_seq)


def read_subjects(data: bytes) -> tuple[set[str], int]:
    """One page of the subjects of a stream, and how many there are in all."""
    info = _read(_Info, check(data))
    return set(info.state.subjects or ()), info.total


def differs(data: bytes, wanted: Mapping[str, object]) -> bool:
    """True if a stream is not configured as wanted. The broker omits empty values."""
    config = _read(_Info, check(data)).config
    return any((config.get(key) or None) != (value or None) for key, value in wanted.items())


def read_kept(headers: Mapping[str, str], data: bytes) -> Kept:
    own = {key: value for key, value in headers.items() if not key.startswith("Nats-")}
    return Kept(headers["Nats-Subject"], int(headers["Nats-Sequence"]), data, own)


def read_ack_subject(reply: str) -> tuple[int, int]:
    """The stream number and the attempt of a delivered message, from the subject of its acknowledgement.

    ``$JS.ACK.<stream>.<reader>.<attempt>.<number>…``, or with a domain and an account after ``ACK``.
    """
    tokens = reply.split(".")
    at = 4 if len(tokens) < 12 else 6
    return int(tokens[at + 1]), int(tokens[at])


def problem(error: ApiError) -> BusError:
    if error.err_code in NO_STREAM:
        return NoStream(error.description)
    return StreamRefused(f"{error.description} ({error.err_code})")


def _read(shape: type[S], data: bytes) -> S:
    try:
        return msgspec.json.decode(data, type=shape)
    except msgspec.DecodeError:
        raise StreamRefused(f"the broker's answer cannot be read: {data[:80]!r}") from None
