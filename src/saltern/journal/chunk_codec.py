"""Plans and their chunks as plain data, and back.

A chunk that is read back knows its file and finds its line in the text that the run had, even if the user
has changed the file since.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, msgpack

from saltern.journal.body import Body
from saltern.journal.scope_codec import Scopes, scope_body_in, target_in, target_out
from saltern.language.chunk import Chunk, Requisite
from saltern.language.delayed import (
    BlockScope,
)
from saltern.language.high import Declaration
from saltern.language.late import literal, literals, unwrap_literals
from saltern.language.source import Mark, Origin, Path, SlsRef
from saltern.plan.plan import Plan
from saltern.render.document import find_word


class Remembered(Struct, frozen=True):
    """A file as it was during the run."""

    file: str
    text: str = ""
    at: tuple[int, ...] = ()  # the place of the state, if the text is not kept

    def mark(self, path: Path = ()) -> Mark:
        if self.at:
            return Mark(self.file, *self.at)
        line, column = find_word(self.text, path)
        return Mark(self.file, line, column)


def plan_out(plan: Plan) -> Body:
    scopes, files = Scopes(), _Files()
    chunks = [_row(chunk, scopes, files) for chunk in plan.chunks]
    return {"rendered": plan.rendered, "files": files.rows, "chunks": chunks, "scopes": scopes.bodies}


def chunks_in(body: Body, sources: Mapping[str, str]) -> list[Chunk]:
    scopes: list[BlockScope] = []
    for one in body["scopes"]:
        scopes.append(scope_body_in(one, scopes))
    files = body["files"]
    return [chunk_in(_body(row, files), sources, scopes) for row in body["chunks"]]


def chunk_key(chunk: Chunk) -> bytes:
    """The content of a chunk, with what it renders later, as a key."""
    later = [(one.name, one.when, one.block and one.block.text, one.context) for one in chunk.delayed]
    return msgpack.encode(
        [chunk.sls, chunk.state, chunk.fun, chunk.id, str(chunk.name), chunk.args, later],
        enc_hook=str,
        order="sorted",
    )


class _Files:
    """The origins of chunks, each recorded once."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, str, str]] = []
        self._known: dict[int, int] = {}
        self._kept: list[Origin] = []  # keeps objects alive, so that no id is reused

    def index_of(self, declared: Declaration) -> int:
        known = self._known.get(id(declared.origin))
        if known is None:
            known = self._known[id(declared.origin)] = len(self.rows)
            self._kept.append(declared.origin)
            self.rows.append((declared.ref.env, declared.ref.name, declared.origin.file))
        return known


def _row(chunk: Chunk, scopes: Scopes, files: _Files) -> tuple[object, ...]:
    """Compact, since there is a row for each state; rare fields are in a mapping at the end."""
    return (
        chunk.state,
        chunk.fun,
        chunk.id,
        str(chunk.name),
        chunk.order,
        unwrap_literals(chunk.args) if chunk.literal else chunk.args,
        files.index_of(chunk.declared),
        chunk.declared.key,
        chunk.declared.order,
        _rarely(chunk, scopes),
    )


def _body(row: Sequence[Any], files: Sequence[Sequence[str]]) -> Body:
    env, sls, file = files[row[6]]
    return {
        "state": row[0],
        "fun": row[1],
        "id": row[2],
        "name": row[3],
        "order": row[4],
        "args": row[5],
        "env": env,
        "sls": sls,
        "file": file,
        "key": row[7],
        "declared": row[8],
        **(row[9] or {}),
    }


def chunk_out(chunk: Chunk, scopes: Scopes) -> Body:
    files = _Files()
    return _body(_row(chunk, scopes, files), files.rows)


def _rarely(chunk: Chunk, scopes: Scopes) -> Body | None:
    declared = chunk.declared
    if not (chunk.words or chunk.requisites or chunk.delayed or chunk.broken or chunk.late or chunk.literal):
        return {"from": declared.included_from} if declared.included_from else None
    body: Body = {}
    if chunk.literal:
        body["literal"] = sorted(literals([chunk.name, chunk.args]))
    if chunk.requisites:
        body["requisites"] = [(one.kind, one.state, one.value, one.at) for one in chunk.requisites]
    for name in ("words", "late", "broken"):
        if value := getattr(chunk, name):
            body[name] = list(value) if name != "broken" else value
    if declared.included_from:
        body["from"] = declared.included_from
    if chunk.delayed:
        body["delayed"] = [target_out(target, scopes) for target in chunk.delayed]
    return body


def chunk_in(body: Body, sources: Mapping[str, str], scopes: Sequence[BlockScope]) -> Chunk:
    origin = Remembered(body["file"], sources.get(body["file"], ""), tuple(body.get("at", ())))
    declared = Declaration(
        id=body["id"],
        state=body["state"],
        key=body["key"],
        items=[body["fun"]],
        ref=SlsRef(body["env"], body["sls"]),
        origin=origin,
        words=frozenset(body.get("words", ())),
        included_from=tuple(body.get("from", ())),
        order=body.get("declared"),
    )
    if "literal" in body:
        body = {**body, **_literal_in(body)}
    return Chunk(
        state=body["state"],
        fun=body["fun"],
        id=body["id"],
        name=body["name"],
        order=body["order"],
        args=body["args"],
        literal="literal" in body,
        requisites=tuple(Requisite(*one) for one in body.get("requisites", ())),
        words=declared.words,
        late=tuple(body.get("late", ())),
        broken=body.get("broken", ""),
        delayed=tuple(target_in(one, declared, scopes) for one in body.get("delayed", ())),
        declared=declared,
    )


def _literal_in(body: Body) -> Body:
    """The parts of a chunk that may contain text marked as data."""
    is_data = frozenset(body["literal"]).__contains__
    targets = [{**one, "context": literal(one["context"], is_data)} for one in body.get("delayed", ())]
    return {
        "name": literal(body["name"], is_data),
        "args": literal(body["args"], is_data),
        "delayed": targets,
    }
