"""What the engine sends bit by bit: progress of a pull or a build, and output of commands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from saltern.modules.api.refused import Refused

STDOUT, STDERR = 1, 2
HEADER = 8  # one byte for the stream, three of nothing, four for the length


def progress(body: bytes) -> list[dict[str, Any]]:
    """Every message of a pull, push, load or build. Raises ``Refused`` with one that reports a failure."""
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
    """The image that a build ended with; empty if it does not say."""
    reported = [
        one["aux"]["ID"] for one in messages if isinstance(one.get("aux"), dict) and "ID" in one["aux"]
    ]
    return str(reported[-1]) if reported else ""


def loaded_names(messages: list[dict[str, Any]]) -> list[str]:
    """What ``load`` brought: names, or IDs of images without one."""
    lines = (str(one.get("stream", "")) for one in messages)
    return [
        line.partition(":")[2].strip()
        for line in lines
        if line.startswith(("Loaded image:", "Loaded image ID:"))
    ]


def layers(messages: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Which layers a pull or a push moved, and which were there."""
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
    """Stdout and stderr of a command; ``raw`` for one with a terminal, which has no stderr of its own."""
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
