"""Follows server-sent events, read line by line, over as many connections as it takes."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from saltern.fleet.client.http import HttpAnswer, HttpProblem
from saltern.fleet.client.problems import ControllerError, Unreachable, unreachable
from saltern.fleet.client.session import Session, query_text, read_reply
from saltern.fleet.client.transport import Reply, Transport

SILENCE = 45.0  # seconds without a byte after which the connection counts as dead: three keep-alives
PATIENCE = 300.0  # seconds for which a controller is looked for
PAUSES = (0.1, 0.3, 1.0, 2.0, 5.0)
Notice = dict[str, Any]
OnBreak = Callable[[ControllerError], None]


class Follower:
    """Reads notices, and continues after the last one when the connection breaks."""

    def __init__(
        self, session: Session, path: str, query: dict[str, object], *, patience: float, on_break: OnBreak
    ) -> None:
        self._session = session
        self._path = path
        self._query = query
        self._patience = patience
        self._on_break = on_break
        self._heard = 0.0  # when the last valid bytes came
        self.last = ""

    def notices(self) -> Iterator[Notice]:
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
                self._on_break(problem)
            if self._heard > since:
                tries, since = 0, self._heard
            _pause(tries)
            tries += 1

    def _connection(self) -> Iterator[Notice]:
        """The notices of one connection."""
        transport = Transport(self._session.address, self._session.trust)
        headers = {**self._session.headers(), "Accept": "text/event-stream"}
        if self.last:
            headers["Last-Event-ID"] = self.last
        try:
            answer = transport.open_stream(self._path + query_text(self._query), headers, SILENCE)
            self._check(answer)
            for id_, notice in read_events(self._note_times(answer.pieces())):
                self.last = id_ or self.last
                yield notice
        except (OSError, HttpProblem, ValueError, msgspec.DecodeError) as problem:
            raise unreachable(self._session.address, problem) from None
        finally:
            transport.close()

    def _note_times(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """The same lines, recording when each was read: a stream without events is also alive."""
        for piece in pieces:
            yield piece
            self._heard = time.monotonic()

    def _check(self, answer: HttpAnswer) -> None:
        """Raise the error that the controller answers instead of a stream, unless it is only busy."""
        if answer.status == 200:
            return
        try:
            reply = Reply(status=answer.status, headers=answer.headers, body=answer.read())
            read_reply(self._session.address, reply)
        except ControllerError as problem:
            if problem.status in (502, 503, 504):
                raise Unreachable(problem.diagnostics[0], problem.status) from None
            raise


def _pause(tries: int) -> None:
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
