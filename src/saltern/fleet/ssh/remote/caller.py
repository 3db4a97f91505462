"""The caller at the other end of the channel: frames to it, and frames from it as they come."""

from __future__ import annotations

import io
import json
import queue
import struct
import threading
from typing import Any

SIZES = struct.Struct(">II")
Frame = tuple[dict[str, Any], bytes]


class Gone(Exception):
    """The channel has ended."""


class Caller:
    """A thread reads frames; any thread may send."""

    def __init__(self, stream_in: io.BufferedReader, stream_out: io.BufferedWriter) -> None:
        self._in, self._out = stream_in, stream_out
        self._frames: queue.Queue[Frame | None] = queue.Queue(64)
        self._sending = threading.Lock()
        self._reader: threading.Thread | None = None

    def send(self, head: dict[str, Any], body: bytes = b"") -> None:
        text = json.dumps(head).encode()
        with self._sending:
            try:
                self._out.write(SIZES.pack(len(text), len(body)) + text + body)
                self._out.flush()
            except OSError:
                raise Gone from None

    def receive(self) -> Frame:
        """The next frame. Raises ``Gone``."""
        if self._reader is None:
            return self._read()
        return _there(self._frames.get())

    def receive_soon(self, wait: float) -> Frame | None:
        """The next frame if it comes within some seconds. From now on a thread reads. Raises ``Gone``."""
        if self._reader is None:
            self._reader = threading.Thread(target=self._keep_reading, daemon=True)
            self._reader.start()
        try:
            return _there(self._frames.get(timeout=wait))
        except queue.Empty:
            return None

    def _keep_reading(self) -> None:
        while True:
            try:
                self._frames.put(self._read())
            except (Gone, OSError, ValueError):
                return self._frames.put(None)

    def _read(self) -> Frame:
        head_size, body_size = SIZES.unpack(self._exactly(SIZES.size))
        return json.loads(self._exactly(head_size)), self._exactly(body_size)

    def _exactly(self, size: int) -> bytes:
        data = self._in.read(size)
        if len(data) < size:
            raise Gone
        return data


def _there(frame: Frame | None) -> Frame:
    if frame is None:
        raise Gone
    return frame
