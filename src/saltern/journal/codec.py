"""Plans and answers as plain data, and back.

A chunk that is read back knows its file and finds its line in the text that the run had: what the user
may have changed meanwhile does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, msgpack

from saltern.language.chunk import Chunk, Requisite
from saltern.language.delayed import (
    NO_BLOCKS,
    UNLIMITED,
    Block,
    BlockScope,
    Frame,
    Target,
    Unlimited,
    Words,
)
from saltern.language.events import Answer
from saltern.language.high import Declaration
from saltern.language.late import literal, literals, unwrapped
from saltern.language.result import Outcome, Result
from saltern.language.source import Mark, Origin, Path, SlsRef
from saltern.plan.plan import Plan
from saltern.render.document import find_word
from saltern.render.pipe import Stage
from saltern.render.pipeline import Home
from saltern.render.remote import RemoteHome
from saltern.sources.tree import SlsSource

Body = dict[str, Any]
_RESULT = ("comment", "changes", "data", "ran", "quiet", "called")
_ANSWER = ("number", "started", "took", "timed", "parallel", "parent", "under", "depth", "frame", "sub")
_FRAME = (
    "path",
    "kind",
    "name",
    "depth",
    "caller",
    "parent",
    "jid",
    "parent_jid",
    "first",
    "states",
    "scoped",
)


class Remembered(Struct, frozen=True):
    """A file as the run knew it."""

    file: str
    text: str = ""
    at: tuple[int, ...] = ()  # where the state is, if the text is not kept

    def mark(self, path: Path = ()) -> Mark:
        if self.at:
            return Mark(self.file, *self.at)
        line, column = find_word(self.text, path)
        return Mark(self.file, line, column)


# -- results -------------------------------------------------------------------------------------------


def result_out(result: Result) -> Body:
    body: Body = {name: getattr(result, name) for name in _RESULT}
    body["outcome"] = result.outcome.value
    if result.warnings:
        body["warnings"] = result.warnings
    if result.extra:
        body["extra"] = dict(result.extra)
    if result.trace:
        body["trace"] = result.trace
    return body


def result_in(body: Body) -> Result:
    return Result(
        outcome=Outcome(body["outcome"]),
        warnings=tuple(body.get("warnings", ())),
        extra=body.get("extra", {}),
        trace=body.get("trace", ""),
        **{name: body[name] for name in _RESULT},
    )


def answer_out(answer: Answer, *, chunk: bool = False) -> Body:
    """With its ``chunk`` where that is not one of a plan."""
    body: Body = {name: getattr(answer, name) for name in _ANSWER}
    body["result"] = result_out(answer.result)
    if chunk:
        body["chunk"] = _chunk_out(answer.chunk, _Scopes())
    return body


def brief(scope: str, index: int, answer: Answer) -> tuple[object, ...] | None:
    """An answer that says little, as most do; None for one that says more."""
    result = answer.result
    if (
        result.changes
        or result.outcome is not Outcome.OK
        or result.warnings
        or result.extra
        or result.quiet
        or not (result.ran and result.called and answer.timed)
        or answer.parallel
    ):
        return None
    return scope, index, answer.number, answer.started, answer.took, result.comment, result.data


def brief_in(row: Sequence[Any], frame: Body | None) -> Body:
    """What ``brief`` left out is the same for all answers of a scope."""
    scope, index, number, started, took, comment, data = row
    said = {"comment": comment, "changes": {}, "data": data, "ran": True, "quiet": False, "called": True}
    inside = {"parent": frame["parent"], "under": frame["caller"], "depth": frame["depth"]} if frame else {}
    answer = {
        "number": number,
        "started": started,
        "took": took,
        "timed": True,
        "parallel": False,
        "parent": "",
        "under": -1,
        "depth": 0,
        "frame": scope,
        "sub": False,
        **inside,
        "result": {**said, "outcome": True},
    }
    return {"scope": scope, "place": index, "answer": answer}


def answer_in(body: Body, chunk: Chunk | None = None) -> Answer:
    known = chunk or _chunk_in(body["chunk"], {}, [])
    return Answer(chunk=known, result=result_in(body["result"]), **{name: body[name] for name in _ANSWER})


def frame_out(frame: Frame) -> Body:
    return {**{name: getattr(frame, name) for name in _FRAME}, "where": _mark_out(frame.where)}


def frame_in(body: Body) -> Frame:
    return Frame(where=Mark(*body["where"]), **{name: body[name] for name in _FRAME})


# -- plans ---------------------------------------------------------------------------------------------


def plan_out(plan: Plan) -> Body:
    scopes, files = _Scopes(), _Files()
    chunks = [_row(chunk, scopes, files) for chunk in plan.chunks]
    return {"rendered": plan.rendered, "files": files.rows, "chunks": chunks, "scopes": scopes.bodies}


def chunks_in(body: Body, sources: Mapping[str, str]) -> list[Chunk]:
    scopes: list[BlockScope] = []
    for one in body["scopes"]:
        scopes.append(_scope_in(one, scopes))
    files = body["files"]
    return [_chunk_in(_body(row, files), sources, scopes) for row in body["chunks"]]


def chunk_key(chunk: Chunk) -> bytes:
    """How it is written, with what it renders later."""
    later = [(one.name, one.when, one.block and one.block.text, one.context) for one in chunk.delayed]
    return msgpack.encode(
        [chunk.sls, chunk.state, chunk.fun, chunk.id, str(chunk.name), chunk.args, later],
        enc_hook=str,
        order="sorted",
    )


class _Files:
    """Where chunks come from, each place once."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, str, str]] = []
        self._known: dict[int, int] = {}
        self._kept: list[Origin] = []  # so that no id is used twice

    def index_of(self, declared: Declaration) -> int:
        known = self._known.get(id(declared.origin))
        if known is None:
            known = self._known[id(declared.origin)] = len(self.rows)
            self._kept.append(declared.origin)
            self.rows.append((declared.ref.env, declared.ref.name, declared.origin.file))
        return known


def _row(chunk: Chunk, scopes: _Scopes, files: _Files) -> tuple[object, ...]:
    """Short, since there are as many as states; what few have stands in a mapping at the end."""
    return (
        chunk.state,
        chunk.fun,
        chunk.id,
        str(chunk.name),
        chunk.order,
        unwrapped(chunk.args) if chunk.literal else chunk.args,
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


def _chunk_out(chunk: Chunk, scopes: _Scopes) -> Body:
    files = _Files()
    return _body(_row(chunk, scopes, files), files.rows)


def _rarely(chunk: Chunk, scopes: _Scopes) -> Body | None:
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
        body["delayed"] = [_target_out(target, scopes) for target in chunk.delayed]
    return body


def _chunk_in(body: Body, sources: Mapping[str, str], scopes: Sequence[BlockScope]) -> Chunk:
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
        delayed=tuple(_target_in(one, declared, scopes) for one in body.get("delayed", ())),
        declared=declared,
    )


def _literal_in(body: Body) -> Body:
    """The parts of a chunk that may hold texts that are data, whatever they look like."""
    is_data = frozenset(body["literal"]).__contains__
    targets = [{**one, "context": literal(one["context"], is_data)} for one in body.get("delayed", ())]
    return {
        "name": literal(body["name"], is_data),
        "args": literal(body["args"], is_data),
        "delayed": targets,
    }


# -- what is rendered later ----------------------------------------------------------------------------


class _Scopes:
    """Every scope once, those around it first."""

    def __init__(self) -> None:
        self.bodies: list[Body] = []
        self._known: dict[int, int] = {}
        self._kept: list[BlockScope] = []  # so that no id is used twice

    def index_of(self, scope: BlockScope) -> int:
        if id(scope) not in self._known:
            outer = None if scope.outer is None else self.index_of(scope.outer)
            self._known[id(scope)] = len(self.bodies)
            self._kept.append(scope)
            self.bodies.append(_scope_out(scope, outer))
        return self._known[id(scope)]


def _scope_out(scope: BlockScope, outer: int | None) -> Body:
    home = scope.home
    return {
        "outer": outer,
        "blocks": [_block_out(block) for block in scope.blocks.values()],
        "variables": {name: value for name, value in scope.variables.items() if _is_plain(value)},
        "source": _source_out(home.source) if isinstance(home, Home | RemoteHome) else None,
        "stages": [(stage.name, stage.argline) for stage in home.stages] if isinstance(home, Home) else [],
        **({"elsewhere": home.scope} if isinstance(home, RemoteHome) else {}),
    }


def _scope_in(body: Body, before: Sequence[BlockScope]) -> BlockScope:
    source = _source_in(body["source"])
    stages = tuple(Stage(*one) for one in body["stages"])
    blocks = [_block_in(one) for one in body["blocks"]]
    return BlockScope(
        blocks={block.name: block for block in blocks},
        variables=body["variables"],
        outer=None if body["outer"] is None else before[body["outer"]],
        home=_home_in(source, stages, body.get("elsewhere")),
        partial=True,
    )


def _home_in(source: SlsSource | None, stages: tuple[Stage, ...], elsewhere: str | None) -> object:
    if source is None or elsewhere is None:
        return Home(source, stages) if source else None
    return RemoteHome(source, elsewhere)


def scope_out(scope: BlockScope) -> bytes:
    """A scope with those around it, by itself."""
    scopes = _Scopes()
    scopes.index_of(scope)
    return msgpack.encode(scopes.bodies)


def scope_in(data: bytes) -> BlockScope:
    scopes: list[BlockScope] = []
    for one in msgpack.decode(data):
        scopes.append(_scope_in(one, scopes))
    return scopes[-1]


def _block_out(block: Block) -> Body:
    return {
        "name": block.name,
        "file": block.file,
        "line": block.line,
        "text": _text_out(block.text),
        "words": _words_out(block.words),
        "outer": block.outer,
        "python": block.call is not None,
    }


def _block_in(body: Body) -> Block:
    return Block(
        name=body["name"],
        file=body["file"],
        line=body["line"],
        text=_text_in(body["text"]),
        words=_words_in(body["words"]),
        outer=tuple(body["outer"]),
    )


def _target_out(target: Target, scopes: _Scopes) -> Body:
    source = target.source if isinstance(target.source, SlsSource) else None
    return {
        "kind": target.kind,
        "name": target.name,
        "when": target.when,
        "context": dict(target.context),
        "block": None if target.block is None else _block_out(target.block),
        "source": _source_out(source) if source else None,
        "words": _words_out(target.words),
        "scope": scopes.index_of(target.scope),
        "definition": target.definition,
    }


def _target_in(body: Body, declared: Declaration, scopes: Sequence[BlockScope]) -> Target:
    return Target(
        kind=body["kind"],
        name=body["name"],
        when=body["when"],
        context=body["context"],
        block=None if body["block"] is None else _block_in(body["block"]),
        source=_source_in(body["source"]),
        words=_words_in(body["words"]),
        scope=scopes[body["scope"]] if scopes else NO_BLOCKS,
        definition=tuple(body["definition"]),
        origin=declared.origin,
        path=(declared.id,),
    )


def _words_out(words: Words) -> Body:
    limit = "none" if isinstance(words.limit, Unlimited) else words.limit
    return {"scoped": words.scoped, "limit": limit, "refresh": sorted(words.refresh)}


def _words_in(body: Body) -> Words:
    limit = UNLIMITED if body["limit"] == "none" else body["limit"]
    return Words(scoped=body["scoped"], limit=limit, refresh=frozenset(body["refresh"]))


def _source_out(source: SlsSource) -> Body:
    ref = source.ref
    text = _text_out(source.text)
    return {"env": ref.env, "sls": ref.name, "path": source.path, "name": source.name, "text": text}


def _source_in(body: Body | None) -> SlsSource | None:
    if body is None:
        return None
    return SlsSource(SlsRef(body["env"], body["sls"]), body["path"], body["name"], _text_in(body["text"]))


def _text_out(text: str) -> str | bytes:
    """A file with delayed blocks may hold bytes that are no text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="surrogateescape")
    return text


def _text_in(text: str | bytes) -> str:
    return text if isinstance(text, str) else text.decode(errors="surrogateescape")


def _mark_out(mark: Mark) -> tuple[str, int, int]:
    return mark.file, mark.line, mark.column


def _is_plain(value: object) -> bool:
    if value is None or value.__class__ in (str, int, float, bool):
        return True
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return value.__class__ is dict and all(
        key.__class__ is str and _is_plain(inner) for key, inner in value.items()
    )
