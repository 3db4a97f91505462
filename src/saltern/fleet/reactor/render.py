"""Renders reaction files for an event, and reads their reactions. Runs in a separate process: files may
contain code.
"""

from __future__ import annotations

import glob
import os
import time
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from saltern.config.settings import Settings
from saltern.engine.nested_engine import make_session
from saltern.engine.session import Session
from saltern.fleet.reactor.forms import Reaction, Wrong, read_reactions
from saltern.language.diagnostics import CompileError, SalternError
from saltern.language.source import SlsRef
from saltern.sources.tree import SlsSource

KEEP = 10.0  # seconds for which a session is used again


class RenderTask(Struct, frozen=True, kw_only=True):
    """An event, and its reaction files. With ``call``, a function to call instead."""

    id: str
    tag: str = ""
    data: dict[str, Any] = {}
    sources: list[str] = []
    options: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    call: Reaction | None = None


class RenderResult(Struct, frozen=True, kw_only=True):
    """The reactions in the order of the files, and their mistakes."""

    reactions: list[Reaction] = []
    wrong: list[Wrong] = []
    value: Any = None
    problem: str = ""


class Renderer:
    """Reuses a session for a while: for a small file, making one takes most of the time."""

    def __init__(self) -> None:
        self._known: tuple[tuple[Any, ...], float, Session] | None = None

    def session(self, task: RenderTask) -> Session:
        key = (task.id, task.options, task.extra)
        now = time.monotonic()
        if self._known is None or self._known[0] != key or now - self._known[1] > KEEP:
            settings = Settings(id=task.id, extra=task.extra, **task.options)
            self._known = (key, now, make_session(settings))
        return self._known[2]

    def render(self, task: RenderTask) -> RenderResult:
        """The reactions to an event. A file that cannot be rendered does not affect the others."""
        session = self.session(task)
        found: dict[tuple[str, str, str], Reaction] = {}
        wrong: list[Wrong] = []
        for source in task.sources:
            for path in paths_of(session, source) or [""]:
                if not path:
                    wrong.append(Wrong(line=0, why="the file is missing", source=source))
                    continue
                made, bad = render_file(session, path, source, task)
                found |= {(one.name, one.kind, one.function): one for one in made}
                wrong += bad
        return RenderResult(reactions=[*found.values()], wrong=wrong)

    def call(self, task: RenderTask) -> RenderResult:
        """Call an execution function on this machine: a ``caller`` reaction."""
        assert task.call is not None
        session = self.session(task)
        session.load_pillar()
        one = task.call
        try:
            return RenderResult(value=session.caller.function(one.function, one.args, one.kwargs))
        except (Exception, SystemExit) as problem:
            return RenderResult(problem=f"{one.function} failed: {type(problem).__name__}: {problem}")


def paths_of(session: Session, source: str) -> list[str]:
    """The files that a row of the map names: a path, a pattern of paths, or ``salt://``."""
    if source.startswith("salt://"):
        path, _, query = source.removeprefix("salt://").partition("?saltenv=")
        found = session.tree.find(path, query or "base")
        return [found] if found else []
    return sorted(path for path in glob.glob(os.path.expanduser(source)) if os.path.isfile(path))


def render_file(
    session: Session, path: str, source: str, task: RenderTask
) -> tuple[list[Reaction], list[Wrong]]:
    name = os.path.basename(path)
    try:
        text = session.tree.text(path)
        if text is None:
            return [], [Wrong(line=0, why="the file is missing", source=path)]
        sls = SlsSource(SlsRef("base", name.removesuffix(".sls")), path, name, text)
        document = session.renderers.sls(sls, {"tag": task.tag, "data": task.data})
    except CompileError as problem:
        return [], [Wrong(line=_line(one), why=one.what, source=path) for one in problem.diagnostics]
    except SalternError as problem:
        return [], [Wrong(line=0, why=str(problem), source=path)]
    made, wrong = read_reactions(document.data, lambda at: document.mark(at).line)
    shown = source if source.startswith("salt://") else path
    return [replace(one, source=shown) for one in made], [replace(one, source=shown) for one in wrong]


def _line(problem: Any) -> int:
    return problem.where.line if problem.where else 0
