"""Follows server-sent events, read line by line, over as many connections as it takes."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from saltern.fleet.client.http import HttpAnswer, HttpProblem
from saltern.fleet.client.problems import ControllerError, Unreachable, foreign, unreachable
from saltern.fleet.client.session import Session, query_text, read_reply
from saltern.fleet.client.transport import Reply, Transport

SILENCE = 45.0  # seconds without a byte after which the connection counts as dead: three keep-alives
PATIENCE = 300.0  # seconds for which a controller is looked for
MEDIA = "text/event-stream"
PAUSES = (0.1, 0.3, 1.0, 2.0, 5.0)
Notice = dict[str, Any]
OnBreak = Callable[[ControllerError], None]


class Stream:
    """One answer of the controller that is a stream of notices. ``events``: once it is open, the id of each
    notice, or nothing, and the notice.
    """

    def __init__(self, session: Session) -> None:
        self.heard = 0.0  # when the last valid bytes came
        self.events: Iterator[tuple[str, Notice]] | None = None
        self._session = session
        self._transport = Transport(session.address, session.trust)

    @property
    def was_open(self) -> bool:
        """True if a connection was made, so that a request may have arrived."""
        return self._transport.was_open

    def open(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None = None) -> Any:
        """Send a request. None: its answer is a stream; otherwise what the controller answers instead."""
        given = {**self._session.headers(), "Accept": MEDIA, **headers}
        try:
            answer = self._transport.open_stream(method, path, given, body, SILENCE)
            if answer.headers.get("content-type", "").startswith(MEDIA):
                self.events = self._read(answer)
                return None
            reply = Reply(status=answer.status, headers=answer.headers, body=answer.read())
            self.close()
        except (OSError, HttpProblem) as problem:
            raise unreachable(self._session.address, problem) from None
        return read_reply(self._session.address, reply)

    def first(self) -> Notice:
        """The notice that the stream begins with."""
        for _, notice in self.events or ():
            return notice
        raise unreachable(self._session.address, HttpProblem("the stream ended before it began"))

    def _read(self, answer: HttpAnswer) -> Iterator[tuple[str, Notice]]:
        try:
            yield from read_events(self._note_times(answer.pieces()))
        except (OSError, HttpProblem, ValueError, msgspec.DecodeError) as problem:
            raise unreachable(self._session.address, problem) from None

    def _note_times(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """The same lines, recording when each was read: a stream without events is also alive."""
        for piece in pieces:
            yield piece
            self.heard = time.monotonic()

    def close(self) -> None:
        self._transport.close()


class Follower:
    """Reads notices, and continues after the last one when the connection breaks. ``begun``: a stream that is
    already open, and is read first.
    """

    def __init__(
        self,
        session: Session,
        path: str,
        query: dict[str, object],
        *,
        patience: float,
        on_break: OnBreak,
        begun: Stream | None = None,
    ) -> None:
        self.last = ""
        self.on_break = on_break
        self._session = session
        self._path = path
        self._query = query
        self._patience = patience
        self._begun = begun
        self._heard = 0.0  # when the last valid bytes came

    def notices(self) -> Generator[Notice]:
        """Every notice, until one is of the kind ``ended``, or no controller is found for ``patience``."""
        gc.freeze()  # what is loaded stays
        gc.enable()  # a follower may stay for days
        tries, since = 0, time.monotonic()
        while True:
            try:
                for notice in self._connection():
                    yield notice
                    if notice.get("kind") == "ended":
                        return
            except Unreachable as problem:
                if time.monotonic() - max(since, self._heard) > self._patience:
                    raise
                self.on_break(problem)
            if self._heard > since:
                tries, since = 0, self._heard
            pause(tries)
            tries += 1

    def close(self) -> None:
        """Leave a stream that is open and was not read."""
        begun, self._begun = self._begun, None
        if begun is not None:
            begun.close()

    def _connection(self) -> Iterator[Notice]:
        """The notices of one connection."""
        stream, self._begun = self._begun or Stream(self._session), None
        try:
            for id_, notice in stream.events or self._open(stream):
                self.last, self._heard = id_ or self.last, stream.heard
                yield notice
        finally:
            self._heard = max(self._heard, stream.heard)
            stream.close()

    def _open(self, stream: Stream) -> Iterator[tuple[str, Notice]]:
        """Ask for the notices. Raises what the controller answers instead, unless it is only busy."""
        headers = {"Last-Event-ID": self.last} if self.last else {}
        try:
            answer = stream.open("GET", self._path + query_text(self._query), headers)
        except ControllerError as problem:
            if problem.status in (502, 503, 504):
                raise Unreachable(problem.diagnostics[0], problem.status) from None
            raise
        if stream.events is None:
            raise foreign(self._session.address, 200, str(answer))
        return stream.events


def pause(tries: int) -> None:
    """Wait before the next try: longer each time."""
    import random

    time.sleep(PAUSES[min(tries, len(PAUSES) - 1)] * random.uniform(0.5, 1.0))


def read_events(pieces: Iterable[bytes]) -> Iterator[tuple[str, Notice]]:
    """Each event of a stream, which arrives in pieces of any size: its id, or nothing, and its data."""
    decode = msgspec.json.Decoder(Notice).decode
    rest = b""
    for piece in pieces:
        *events, rest = (rest + piece).replace(b"\r\n", b"\n").split(b"\n\n")  # an empty line ends an event
        for event in events:
            id_, data = _fields(event)
            if data:
                yield id_, decode(data)


def _fields(event: bytes) -> tuple[str, bytes]:
    """The id and the data of an event."""
    id_, data = "", b""
    for line in event.split(b"\n"):
        name, _, value = line.partition(b":")
        if name == b"id":
            id_ = value.removeprefix(b" ").decode()
        elif name == b"data":
            data += value.removeprefix(b" ")
    return id_, data


def ignore(_problem: ControllerError) -> None:
    """Do nothing when a connection breaks."""
