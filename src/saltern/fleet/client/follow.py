"""Follow what happens: server-sent events, read line by line, over as many connections as it takes."""

from __future__ import annotations

import http.client
import json
import random
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from saltern.fleet.client.problems import ControllerError, Unreachable, unreachable
from saltern.fleet.client.session import Session, query_text, read_reply
from saltern.fleet.client.transport import Reply, Transport

SILENCE = 45.0  # seconds without a byte after which the connection is taken for dead: three keep-alives
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
        self.last = ""

    def notices(self) -> Iterator[Notice]:
        """Every notice, until one is of the kind ``ended``, or no controller is found for ``patience``."""
        tries, since = 0, time.monotonic()
        while True:
            try:
                for notice in self._connection():
                    tries, since = 0, time.monotonic()
                    yield notice
                    if notice.get("kind") == "ended":
                        return
            except Unreachable as problem:
                if time.monotonic() - since > self._patience:
                    raise
                self._on_break(problem)
            time.sleep(PAUSES[min(tries, len(PAUSES) - 1)] * random.uniform(0.5, 1.0))
            tries += 1

    def _connection(self) -> Iterator[Notice]:
        """What one connection brings."""
        transport = Transport(self._session.address, self._session.trust)
        headers = {**self._session.headers(), "Accept": "text/event-stream"}
        if self.last:
            headers["Last-Event-ID"] = self.last
        try:
            answer = transport.open_stream(self._path + query_text(self._query), headers, SILENCE)
            with answer:
                self._check(answer)
                for id_, notice in read_events(answer):
                    self.last = id_ or self.last
                    yield notice
        except (OSError, http.client.HTTPException, ValueError) as problem:
            raise unreachable(self._session.address, problem) from None
        finally:
            transport.close()

    def _check(self, answer: http.client.HTTPResponse) -> None:
        """Raise what the controller answers instead of a stream; one that is only busy is asked again."""
        if answer.status == 200:
            return
        names = {name.lower(): value for name, value in answer.getheaders()}
        try:
            read_reply(self._session.address, Reply(status=answer.status, headers=names, body=answer.read()))
        except ControllerError as problem:
            if problem.status in (502, 503, 504):
                raise Unreachable(problem.diagnostics[0], problem.status) from None
            raise


def read_events(lines: Iterable[bytes]) -> Iterator[tuple[str, Notice]]:
    """Each event of a stream: its id, or nothing, and its data."""
    id_, data = "", b""
    for line in lines:
        name, _, value = line.rstrip(b"\r\n").partition(b":")
        value = value.removeprefix(b" ")
        if name == b"id":
            id_ = value.decode()
        elif name == b"data":
            data += value
        elif not name and not value and data:  # an empty line ends an event
            yield id_, json.loads(data)
            id_, data = "", b""


def ignore(_problem: ControllerError) -> None:
    """Do nothing when a connection breaks."""
