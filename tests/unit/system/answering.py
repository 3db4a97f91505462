"""A server on loopback that says the same to all who ask."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def answering(data: bytes, heard: list[bytes] | None = None) -> Iterator[int]:
    """Its port; ``heard`` is filled with what was asked."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_serve, args=(server, data, heard))
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join(60)


def _serve(server: socket.socket, data: bytes, heard: list[bytes] | None) -> None:
    while True:
        try:
            one, _ = server.accept()
        except OSError:
            return
        with one, suppress(OSError):
            said = one.recv(65536)
            if heard is not None:
                heard.append(said)
            one.sendall(data)
