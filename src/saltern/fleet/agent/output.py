"""The output of a worker, packed by the worker itself: the agent handles parts of it, never the whole."""

from __future__ import annotations

import hashlib

import msgspec
from msgspec.structs import replace

from saltern.fleet.agent.task import PART, JobFolder, Outcome, known_to_people
from saltern.fleet.protocol.codec import MAX_BODY, BadMessage, Body, check_depth, pack_body, unpack_body
from saltern.system import atomic

ERRORS = 8000  # characters of a command's standard error that are sent with its return


def pack_output(
    folder: JobFolder,
    outcome: Outcome,
    *,
    bare: bool = False,
    names: dict[str, str] | None = None,
    limit: int = MAX_BODY,
) -> Outcome:
    """Write the parts of the output beside the outcome, and say how many there are.

    ``bare``: without the name of the machine around it, which `saltern call` prints as ``local``. Output
    that is too long, or nested too deeply, is left out, and ``why`` says so.
    """
    why = known_to_people(folder.text("err", ERRORS).strip(), names or {})
    try:
        body = _pack(folder, bare, names or {}, limit)
    except BadMessage as problem:
        said = f"its output is not sent: {problem}"
        return replace(outcome, why="\n".join(filter(None, (why, said))))
    for number, part in enumerate(body.parts):
        atomic.write(folder.file(PART.format(number)), part, durable=False)
    return replace(
        outcome,
        why=why,
        encoding=body.encoding,
        size=body.size,
        digest=hashlib.sha256(b"".join(body.parts)).hexdigest(),
        parts=len(body.parts),
    )


def _pack(folder: JobFolder, bare: bool, names: dict[str, str], limit: int) -> Body:
    """The output as data; text that a program printed directly stays text."""
    with open(folder.file("out"), "rb") as file:
        data = file.read(limit + 1).strip()
    if len(data) > limit:
        raise BadMessage("too-large", f"more than {limit} bytes")
    if not data:
        return Body(encoding="json", size=0, parts=())
    check_depth(data)
    if names:
        data = known_to_people(data.decode(errors="replace"), names).encode()
    try:
        msgspec.json.decode(data)
        if bare:
            data = bytes(msgspec.json.decode(data, type=dict[str, msgspec.Raw])["local"])
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError):
        return pack_body(data.decode(errors="replace"), limit=limit)
    return pack_body(msgspec.Raw(data), limit=limit)


def read_output(folder: JobFolder, outcome: Outcome) -> object:
    """The output of a local worker as data; None if it is empty. Raises ``BadMessage`` if it cannot be
    unpacked.
    """
    parts = []
    for number in range(outcome.parts):
        with open(folder.file(PART.format(number)), "rb") as file:
            parts.append(file.read())
    if not parts:
        return None
    return unpack_body(Body(encoding=outcome.encoding, size=outcome.size, parts=tuple(parts)))
