"""Scopes of delayed blocks, their blocks and targets, as plain data and back."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import msgpack

from saltern.journal.body import Body
from saltern.language.delayed import (
    NO_BLOCKS,
    UNLIMITED,
    Block,
    BlockScope,
    Target,
    Unlimited,
    Words,
)
from saltern.language.high import Declaration
from saltern.language.source import SlsRef
from saltern.render.pipe import Stage
from saltern.render.pipeline import Home
from saltern.render.remote_port import RemoteHome
from saltern.sources.tree import SlsSource


class Scopes:
    """Every scope once, outer scopes first."""

    def __init__(self) -> None:
        self.bodies: list[Body] = []
        self._known: dict[int, int] = {}
        self._kept: list[BlockScope] = []  # keeps objects alive, so that no id is reused

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
        "variables": {name: value for name, value in scope.variables.items() if is_plain(value)},
        "source": _source_out(home.source) if isinstance(home, Home | RemoteHome) else None,
        "stages": [(stage.name, stage.argline) for stage in home.stages] if isinstance(home, Home) else [],
        **({"elsewhere": home.scope} if isinstance(home, RemoteHome) else {}),
    }


def scope_body_in(body: Body, before: Sequence[BlockScope]) -> BlockScope:
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
    """A scope with its outer scopes, on its own."""
    scopes = Scopes()
    scopes.index_of(scope)
    return msgpack.encode(scopes.bodies)


def scope_in(data: bytes) -> BlockScope:
    scopes: list[BlockScope] = []
    for one in msgpack.decode(data):
        scopes.append(scope_body_in(one, scopes))
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


def target_out(target: Target, scopes: Scopes) -> Body:
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


def target_in(body: Body, declared: Declaration, scopes: Sequence[BlockScope]) -> Target:
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
    """A file with delayed blocks may contain bytes that are not text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="surrogateescape")
    return text


def _text_in(text: str | bytes) -> str:
    return text if isinstance(text, str) else text.decode(errors="surrogateescape")


def is_plain(value: object) -> bool:
    if value is None or value.__class__ in (str, int, float, bool):
        return True
    if isinstance(value, list):
        return all(map(is_plain, value))
    return value.__class__ is dict and all(
        key.__class__ is str and is_plain(inner) for key, inner in value.items()
    )
