"""The other side of a session, once the bundle is there."""

from __future__ import annotations

import io


def serve(stream_in: io.BufferedReader, stream_out: io.BufferedWriter, base: str) -> None:
    """Answer the caller until the channel ends."""
