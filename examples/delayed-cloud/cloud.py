"""A very small cloud: it lists and makes instances, and keeps them in a file.

``python3 cloud.py FILE COMMAND…`` serves on a free port of this machine while the command runs, and tells
it the address in the environment variable ``CLOUD``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread


class Cloud(ThreadingHTTPServer):
    def __init__(self, file: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.file = file
        self.instances = json.loads(file.read_text()) if file.exists() else []

    def make(self, wanted: dict[str, str]) -> dict[str, str]:
        """The name and size are the caller's choice, everything else is ours."""
        made = {**wanted, "id": str(uuid.uuid4()), "address": f"192.0.2.{10 + len(self.instances)}"}
        self.instances.append(made)
        self.file.write_text(json.dumps(self.instances))
        return made


class Handler(BaseHTTPRequestHandler):
    server: Cloud

    def do_GET(self) -> None:
        self._answer(200, self.server.instances)

    def do_POST(self) -> None:
        wanted = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._answer(201, self.server.make(wanted))

    def _answer(self, code: int, value: object) -> None:
        body = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Only the command talks."""


def main(file: str, *command: str) -> int:
    with Cloud(Path(file)) as cloud:
        Thread(target=cloud.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{cloud.server_port}/instances"
        done = subprocess.run(command, env={**os.environ, "CLOUD": address}, check=False)
        cloud.shutdown()
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
