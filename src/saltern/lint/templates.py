"""The rule about templates of files: it checks what ``source`` and ``template`` of states name.

A template that calls a function or uses accumulated text is rendered during a run, after states that may
have changed the result: only its syntax is checked. Any other template is rendered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from saltern.language.chunk import Chunk
from saltern.language.diagnostics import CompileError, Diagnostic
from saltern.language.late import OPEN
from saltern.language.source import Mark, SlsRef
from saltern.lint.findings import Findings
from saltern.lint.states import Unit
from saltern.modules.api.registry import schema
from saltern.runtime.slots import PREFIX
from saltern.sources.tree import SlsSource

_SALT = "salt://"
_ASKS = re.compile(r"\b(?:salt\b(?!://)|accumulator\b)")
_DATA = ("defaults", "context")  # the last one wins
_SOME = {"include_pat", "exclude_pat", "maxdepth"}  # not all files of a directory
_CODE = "py"  # a Python renderer: parsed, never run


def source_template(unit: Unit, found: Findings) -> None:
    """Report the mistakes in the templates that states name."""
    for chunk in unit.states():
        engine = chunk.args.get("template")
        if not isinstance(engine, str) or not engine or not _renders(unit, chunk):
            continue
        if unknown := _unknown_engine(unit, chunk, engine):
            found.add(unknown)
            continue
        for name, path in _sources(unit, chunk):
            text = _text(unit, path)
            if text is not None:
                found.add(_problems(unit, chunk, engine, SlsSource(_ref(chunk), path, name, text)))


def _renders(unit: Unit, chunk: Chunk) -> bool:
    function = unit.session.registry.state(chunk.state, chunk.fun)
    return function is not None and "template" in schema(function).converters


def _unknown_engine(unit: Unit, chunk: Chunk, engine: str) -> list[Diagnostic]:
    if engine in ("jinja", _CODE) or OPEN in engine or PREFIX in engine:
        return []
    try:
        unit.session.renderers.text("", engine=engine, env=chunk.env)
    except CompileError as problem:
        return [
            Diagnostic(code="source-template", what=one.what, where=chunk.mark("template"), fix=one.fix)
            for one in problem.diagnostics
            if one.code == "unknown-renderer"
        ]
    return []


def _sources(unit: Unit, chunk: Chunk) -> Iterator[tuple[str, str]]:
    """The first source that exists, or all files below it: their names below the root, and their paths."""
    given = chunk.args.get("source") or chunk.name
    for one in given if isinstance(given, list) else [given]:
        text = next(iter(one), "") if isinstance(one, dict) else one
        if not isinstance(text, str) or not text.startswith(_SALT) or OPEN in text or PREFIX in text:
            return
        name, _, query = text.removeprefix(_SALT).partition("?saltenv=")
        env = query or str(chunk.args.get("saltenv") or chunk.env)
        if files := list(_files(unit, chunk, name.rstrip("/"), env)):
            yield from files
            return


def _files(unit: Unit, chunk: Chunk, name: str, env: str) -> Iterator[tuple[str, str]]:
    tree = unit.session.tree
    if chunk.fun != "recurse":
        names = [name]
    elif chunk.args.keys() & _SOME:
        return
    else:
        names = [one for one in tree.names(env) if one.startswith(f"{name}/")]
    for one in names:
        path = tree.find(one, env)
        if path is not None:
            yield one, path


def _text(unit: Unit, path: str) -> str | None:
    """The text of the template; None if it is not text, which is never rendered."""
    try:
        return unit.session.tree.text(path)
    except CompileError:
        return None


def _problems(unit: Unit, chunk: Chunk, engine: str, source: SlsSource) -> list[Diagnostic]:
    try:
        if engine == "jinja" and _ASKS.search(source.text):
            unit.session.renderers.check_template(source.text, chunk.env, source.name, source.path)
        elif engine != _CODE and not _ASKS.search(source.text):
            unit.session.renderers.text(
                source.text,
                engine=engine,
                env=chunk.env,
                path=source.name,
                sls=chunk.sls,
                values=_values(unit, chunk),
            )
    except CompileError as problem:
        return [_add_place(one, chunk, source) for one in problem.diagnostics]
    return []


def _values(unit: Unit, chunk: Chunk) -> dict[str, object]:
    """The values for the template: arguments of the state (also unknown ones), defaults and context."""
    function = unit.session.registry.state(chunk.state, chunk.fun)
    known = schema(function).converters if function is not None else {}
    extra = {name: value for name, value in chunk.args.items() if name not in known}
    own = {name: chunk.args.get(name) for name in ("source", "user", "group", "mode")}
    data = [_mapping(chunk.args.get(word)) for word in _DATA]
    return {**own, "name": chunk.name, "attrs": None, **extra, **data[0], **data[1], "accumulator": {}}


def _mapping(value: object) -> Mapping[str, object]:
    if isinstance(value, list):
        return {key: inner for one in value if isinstance(one, dict) for key, inner in one.items()}
    return value if isinstance(value, dict) else {}


def _ref(chunk: Chunk) -> SlsRef:
    return SlsRef(chunk.env, chunk.sls)


def _add_place(problem: Diagnostic, chunk: Chunk, source: SlsSource) -> Diagnostic:
    """The problem with the file's path, and the state that renders it."""
    where = problem.where
    if where is None or where.file == source.name:
        where = Mark(source.path, where.line if where else 0, where.column if where else 0)
    used = (f"rendered by {chunk.function} {chunk.label!r}", chunk.mark("source"))
    return Diagnostic(
        code="source-template",
        what=problem.what,
        where=where,
        fix=problem.fix,
        also=(*problem.also, used) if used[1] else problem.also,
        detail=problem.detail,
    )
