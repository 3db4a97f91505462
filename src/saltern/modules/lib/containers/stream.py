"""Streams of the engine: progress of a pull or a build, and output of commands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from saltern.modules.api.refused import Refused

STDOUT, STDERR = 1, 2
HEADER = 8  # one byte for the stream, three empty, four for the length


def progress(body: bytes) -> list[dict[str, Any]]:
    """The messages of a pull, push, load or build. Raises ``Refused`` for a message of failure."""
    found = [_message(line) for line in body.splitlines() if line.strip()]
    problem = next((one["error"] for one in found if one.get("error")), None)
    if problem is not None:
        raise Refused(str(problem).strip())
    return found


def _message(line: bytes) -> dict[str, Any]:
    try:
        reported = msgspec.json.decode(line)
    except msgspec.DecodeError:
        return {"stream": line.decode("utf-8", "replace")}
    return reported if isinstance(reported, dict) else {"stream": str(reported)}


def built_id(messages: list[dict[str, Any]]) -> str:
    """The ID of the built image; empty if the messages do not contain it."""
    reported = [
        one["aux"]["ID"] for one in messages if isinstance(one.get("aux"), dict) and "ID" in one["aux"]
    ]
    return str(reported[-1]) if reported else ""


def loaded_names(messages: list[dict[str, Any]]) -> list[str]:
    """The loaded images: names, or IDs of images without one."""
    lines = (str(one.get("stream", "")) for one in messages)
    return [
        line.partition(":")[2].strip()
        for line in lines
        if line.startswith(("Loaded image:", "Loaded image ID:"))
    ]


def layers(messages: list[dict[str, Any]]) -> dict[str, list[str]]:
    """The layers that a pull or a push transferred, and those that existed."""
    kinds = {
        "Pull complete": "Pulled",
        "Already exists": "Already_Pulled",
        "Pushed": "Pushed",
        "Layer already exists": "Already_Pushed",
    }
    found: dict[str, list[str]] = {}
    for one in messages:
        if (kind := kinds.get(str(one.get("status")))) and one.get("id"):
            found.setdefault(kind, []).append(str(one["id"]))
    return found


def output(body: bytes, *, raw: bool = False) -> tuple[str, str]:
    """Stdout and stderr of a command; ``raw`` for a command with a terminal, which has no separate stderr."""
    if raw:
        return body.decode("utf-8", "replace"), ""
    parts: dict[int, list[bytes]] = {STDOUT: [], STDERR: []}
    for kind, piece in _frames(body):
        parts.setdefault(kind, []).append(piece)
    out, err = (b"".join(parts[kind]).decode("utf-8", "replace") for kind in (STDOUT, STDERR))
    return out, err


def _frames(body: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + HEADER <= len(body):
        size = int.from_bytes(body[at + 4 : at + HEADER], "big")
        yield body[at], body[at + HEADER : at + HEADER + size]
        at += HEADER + size
