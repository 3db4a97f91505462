"""The socket at which a worker asks for files and pillar, as it would ask an agent."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec

from saltern.system import long_sockets

MOST = 1024 * 1024
Answerer = Callable[[dict[str, Any]], dict[str, Any]]


class QuestionSocket:
    """Answers one line of JSON with another, each connection in a thread."""

    def __init__(self, path: str, answer: Answerer) -> None:
        self._path = path
        self._answer = answer
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        with suppress(FileNotFoundError):
            os.remove(path)
        long_sockets.bind(self._socket, path)
        self._socket.listen(16)
        self._inode = os.stat(path).st_ino

    def start(self) -> None:
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                line, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(line,), daemon=True).start()

    def _serve(self, line: socket.socket) -> None:
        data = bytearray()
        with line, suppress(OSError, msgspec.DecodeError):
            while not data.endswith(b"\n") and len(data) < MOST and (more := line.recv(65_536)):
                data += more
            answer = self._answer(msgspec.json.decode(data, type=dict[str, Any]))
            line.sendall(msgspec.json.encode(answer) + b"\n")

    def close(self) -> None:
        """Listen no longer. A later session of the same job may have put its own socket there: that stays."""
        self._socket.close()
        with suppress(FileNotFoundError):
            if os.stat(self._path).st_ino == self._inode:
                os.remove(self._path)
