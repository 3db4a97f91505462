"""A wire between ssh and sshd that is cut after a number of bytes, in either direction: a real connection."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

SOME = 65_536
UP, DOWN = "up", "down"  # to the host, and from it


class Wire:
    """Listens on a port of its own. ``cut_after`` bytes of ``direction``, over all connections, the one that
    carries them is cut, once; what came before has arrived."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.counts = {UP: 0, DOWN: 0}
        self.cuts = 0
        self.opened = 0
        self._direction, self._left = "", 0
        self.is_cut = False  # for good: no connection is taken either
        self._lock = threading.Lock()
        self._lines: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def arm(self, direction: str, cut_after: int) -> None:
        with self._lock:
            self.counts, self.cuts, self.opened = {UP: 0, DOWN: 0}, 0, 0
            self._direction, self._left = direction, cut_after

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            self.opened += 1
            if self.is_cut:
                near.close()
                continue
            try:
                far = socket.create_connection(("127.0.0.1", self._to))
            except OSError:  # what is there has not started yet, or is started anew
                near.close()
                continue
            self._lines += [near, far]
            for source, sink, direction in ((near, far, UP), (far, near, DOWN)):
                threading.Thread(target=self._pass, args=(source, sink, direction), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, direction: str) -> None:
        with suppress(OSError):
            while data := source.recv(SOME):
                allowed = self._spend(direction, len(data))
                sink.sendall(data[:allowed])
                if allowed < len(data):
                    break
        for line in (source, sink):
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
            line.close()

    def _spend(self, direction: str, size: int) -> int:
        """How many of these bytes may pass."""
        with self._lock:
            self.counts[direction] += size
            if direction != self._direction:
                return size
            if size <= self._left:
                self._left -= size
                return size
            allowed, self._direction = self._left, ""
            self.cuts += 1
            return allowed

    def cut(self) -> None:
        """End what is open, and take nothing until ``restore``."""
        self.is_cut = True
        self._end(self._lines)
        self._lines = []

    def restore(self) -> None:
        self.is_cut = False

    def close(self) -> None:
        self._end([self._listener, *self._lines])

    @staticmethod
    def _end(lines: list[socket.socket]) -> None:
        for line in lines:
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
            line.close()
