"""An engine that is not there: its answers were written down when a real one was asked."""

from __future__ import annotations

import json
import re
import socketserver
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from saltern.modules.lib.containers.engine import Engine, EngineError, Response

RECORD = Path(__file__).with_name("recorded.json")
LEFT_OUT = {"GraphDriver", "MaskedPaths", "ReadonlyPaths", "Platform", "Components"}
PLACE = re.compile(r"/\S*/docker\d+/(?:data|exec)")
Row = dict[str, object]


class RecordingEngine(Engine):
    """Asks a real engine, and writes down what it says."""

    rows: list[Row] = []

    def ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, object] | None = None,
        *,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Response:
        row: Row = {"ask": f"{method} {self._target(path, query)}"}
        try:
            answer = super().ask(method, path, query, body=body, headers=headers, timeout=timeout)
            row |= {"status": answer.status, "body": _kept(json.loads(answer.body or b"null"))}
        except EngineError as problem:
            row |= {"status": problem.status, "body": {"message": str(problem)}}
            raise
        finally:
            self.rows.append(row)
        return answer


def _kept(told: object) -> object:
    """Without what nobody asks for, and without the places and names of the machine it was made on."""
    if isinstance(told, str):
        return PLACE.sub("/var/lib/docker", told)
    if isinstance(told, dict) and "ServerVersion" in told:
        return {
            key: value for key, value in told.items() if isinstance(value, bool) or key == "ServerVersion"
        }
    if isinstance(told, dict):
        return {key: _kept(value) for key, value in told.items() if key not in LEFT_OUT}
    return [_kept(one) for one in told] if isinstance(told, list) else told


def write(rows: list[Row]) -> None:
    """Each answer once; the rest say which one it was."""
    answers: list[object] = []
    lines = []
    for row in rows:
        if row["body"] not in answers:
            answers.append(row["body"])
        lines.append([row["ask"], row["status"], answers.index(row["body"])])
    RECORD.write_text(json.dumps({"asked": lines, "answers": answers}, indent=1, sort_keys=True) + "\n")


class PlayingServer(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    asked: dict[str, list[tuple[int, object]]]


class Player(BaseHTTPRequestHandler):
    """The answers to one question in their order; the last again and again."""

    server: PlayingServer

    def log_message(self, format: str, *args: object) -> None:
        pass

    def address_string(self) -> str:
        return "here"

    def play(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        rows = self.server.asked.get(f"{self.command} {self.path}", [(500, {"message": "never asked"})])
        status, told = rows.pop(0) if len(rows) > 1 else rows[0]
        body = b"" if told is None else json.dumps(told).encode()
        self.send_response(status)
        if status not in (204, 304):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if status not in (204, 304) else b"")

    do_GET = do_POST = do_DELETE = do_PUT = play


@contextmanager
def played(place: Path) -> Iterator[str]:
    """Its address, while it answers."""
    record = json.loads(RECORD.read_text())
    server = PlayingServer(str(place / "played.sock"), Player)
    server.asked = {}
    for ask, status, number in record["asked"]:
        server.asked.setdefault(ask, []).append((status, record["answers"][number]))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"unix://{place / 'played.sock'}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
