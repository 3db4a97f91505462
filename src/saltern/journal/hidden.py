"""The journal of an ended run, without the data of its ``no_log`` states.

While a run can be resumed, its journal needs their arguments, and the returns that later states read. Once it
has ended, only reports are made from it. A salted checksum remains, which shows whether a state is still
written as before, for ``apply --failed-from``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from saltern.journal.body import Body
from saltern.journal.chunk_codec import chunk_key, chunks_in
from saltern.journal.codec import result_in, result_out
from saltern.journal.fold import fold
from saltern.journal.form import Record
from saltern.journal.run_state import RunState
from saltern.language.chunk import HIDDEN, Chunk
from saltern.language.hidden import labels, relabel_values, shown_chunk, shown_result

DROPPED = "dropped"  # in a record: the return was removed
SUM = "sum"  # in a row of a plan: salt and checksum of the state as written
Changed = tuple[str, object]


def hides(body: Mapping[str, Any]) -> bool:
    """True if an encoded plan has a state marked ``no_log``."""
    return any("no_log" in (row[9] or {}).get("words", ()) and row[5].get("no_log") for row in body["chunks"])


def may_hide(body: Mapping[str, Any]) -> bool:
    """True if a plan hides something, or has delayed texts that may contain hidden data."""
    later = any(one["blocks"] or one["variables"] for one in body["scopes"])
    return later or hides(body) or any("delayed" in (row[9] or {}) for row in body["chunks"])


def chunk_sum(chunk: Chunk, salt: str) -> str:
    return sha256(salt.encode() + chunk_key(chunk)).hexdigest()


def without_hidden(records: Sequence[Record]) -> Iterator[Changed]:
    """The same records with the same meaning for every report."""
    run = _Run(fold(records))
    for record in records:
        change = _CHANGES.get(record.kind)
        yield record.kind, change(run, record.body) if change is not None else record.body


class _Run:
    """The hidden parts of a run, and their replacements."""

    def __init__(self, state: RunState) -> None:
        self.failed = bool(state.end and state.end["failed"])
        self.chunks = {
            path: chunks_in(scope.plan, state.sources) for path, scope in state.scopes.items() if scope.plan
        }
        hidden = [chunk for chunks in self.chunks.values() for chunk in chunks if chunk.hidden]
        self.files = {chunk.declared.origin.file for chunk in hidden}
        self._labels = labels(hidden)

    def is_hidden(self, body: Body) -> bool:
        return self.chunks[body["scope"]][body["place"]].hidden

    def relabel(self, value: Any) -> Any:
        return relabel_values(value, self._labels)


def _head(run: _Run, body: Any) -> Body:
    """The head without command-line data, which is needed again only if something failed."""
    pillar = body.get("pillar") if run.failed else {}
    return {**body, "pillar": pillar, "request": run.relabel(body.get("request"))}


def _sources(run: _Run, body: Any) -> Body:
    return {file: "" if file in run.files else text for file, text in body.items()}


def _plan(run: _Run, body: Any, path: str = "") -> Body:
    rows = [_row(run, row, chunk) for row, chunk in zip(body["chunks"], run.chunks[path], strict=True)]
    return {**body, "chunks": rows, "scopes": [_without_texts(scope) for scope in body["scopes"]]}


def _row(run: _Run, row: Sequence[Any], chunk: Chunk) -> list[Any]:
    seen, more = shown_chunk(chunk), dict(row[9] or {})
    mark = chunk.mark()
    if chunk.hidden or chunk.delayed:
        salt = os.urandom(16).hex()
        more[SUM] = [salt, chunk_sum(chunk, salt)]
    if chunk.declared.origin.file in run.files:
        more["at"] = [mark.line, mark.column]
    if "requisites" in more:
        more["requisites"] = run.relabel(more["requisites"])
    if "delayed" in more:
        more["delayed"] = [_target(target, chunk) for target in more["delayed"]]
    if chunk.hidden:
        more.pop("literal", None)
        more.pop("broken", None)
        return [*row[:2], seen.id, seen.name, row[4], seen.args, *row[6:9], more]
    return [*row[:5], run.relabel(row[5]), *row[6:9], more or None]


def _target(target: Body, chunk: Chunk) -> Body:
    context = {} if chunk.hidden else target["context"]
    source = target["source"] and {**target["source"], "text": ""}
    return {**target, "context": context, "source": source, "block": _block(target["block"])}


def _block(block: Body | None) -> Body | None:
    return None if block is None else {**block, "text": ""}


def _without_texts(scope: Body) -> Body:
    source = scope["source"] and {**scope["source"], "text": ""}
    return {**scope, "blocks": [_block(one) for one in scope["blocks"]], "variables": {}, "source": source}


def _frame(run: _Run, body: Any) -> Body:
    return {**body, "plan": _plan(run, body["plan"], body["frame"]["path"])}


def _drop_result(run: _Run, body: Any) -> Body:
    if "result" not in body or not run.is_hidden(body):
        return dict(body)
    return {**{key: value for key, value in body.items() if key != "result"}, DROPPED: True}


def _barrier(run: _Run, body: Any) -> Body:
    if not run.is_hidden(body):
        return dict(body)
    chunk = run.chunks[body["scope"]][body["place"]]
    return {**body, "result": result_out(shown_result(chunk, result_in(body["result"])))}


def _with_chunk(run: _Run, body: Any) -> Body:
    """An answer with its own chunk: of a listener, or a placeholder for a frame."""
    chunk = body["answer"]["chunk"]
    words, args = chunk.get("words", ()), chunk["args"]
    if "no_log" in words and args.get("no_log"):
        kept = {"no_log": True}
        chunk = {**chunk, "name": HIDDEN, "args": kept, "id": run.relabel(chunk["id"]), "delayed": []}
        chunk.pop("literal", None)
    return {**body, "answer": {**body["answer"], "chunk": chunk}}


_CHANGES = {
    "run": _head,
    "sources": _sources,
    "plan": _plan,
    "frame": _frame,
    "done": _drop_result,
    "barrier": _barrier,
    "listened": _with_chunk,
    "stand-in": _with_chunk,
}
