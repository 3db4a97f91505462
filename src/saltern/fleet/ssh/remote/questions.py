"""The socket at which a worker asks for files and pillar, as it would ask an agent."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec

from saltern.fleet.ssh.remote.folders import SOCKET
from saltern.system import long_sockets

MOST = 16 * 1024 * 1024  # bytes of a question: it may hold the return of a state
EVERY = 1.0  # seconds between two checks of which session listens
Answerer = Callable[[dict[str, Any]], dict[str, Any]]


class QuestionSocket:
    """Answers one line of JSON with another, each connection in a thread.

    Several sessions may follow one job. The worker asks the one that listens; when that one ends, another
    takes over.
    """

    def __init__(self, path: str, answer: Answerer) -> None:
        self._path = path
        self._answer = answer
        self._looked = time.monotonic()
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        self._socket, self._inode = self._listen()

    def _listen(self) -> tuple[socket.socket, int]:
        """Listen, and then give the socket its path: what is there can be connected to."""
        fresh = f"{self._path.removesuffix(SOCKET)}.{os.getpid()}{SOCKET}"
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with suppress(FileNotFoundError):
            os.remove(fresh)
        long_sockets.bind(line, fresh)
        line.listen(16)
        inode = os.stat(fresh).st_ino
        os.rename(fresh, self._path)
        return line, inode

    def start(self) -> None:
        """Start answering; requests wait until then."""
        threading.Thread(target=self._accept, args=(self._socket,), daemon=True).start()

    def keep(self) -> None:
        """Listen again if another session has taken the path and listens no longer."""
        now = time.monotonic()
        if now - self._looked < EVERY:
            return
        self._looked = now
        if not self._is_ours() and not self._is_answered():
            end_line(self._socket)
            self._socket, self._inode = self._listen()
            self.start()

    def _is_ours(self) -> bool:
        try:
            return os.stat(self._path).st_ino == self._inode
        except FileNotFoundError:
            return False

    def _is_answered(self) -> bool:
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
                long_sockets.connect(line, self._path)
        except OSError:
            return False
        return True

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                line, _ = listener.accept()
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
        end_line(self._socket)
        with suppress(FileNotFoundError):
            if self._is_ours():
                os.remove(self._path)


def end_line(line: socket.socket) -> None:
    """Close a socket at which a thread may wait."""
    with suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)
    line.close()
