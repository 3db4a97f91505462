"""Requests to a rendering process, its answers, and its state: a session per run.

Nothing here uses the network or the database.
"""

from __future__ import annotations

import gc
import logging
from collections import OrderedDict
from io import StringIO
from typing import Any

import msgspec
from msgspec import Struct

from saltern.config.settings import Settings
from saltern.engine.callback import CallbackRenderer, UnknownBlock
from saltern.engine.session import Session
from saltern.facts.grains import Grains
from saltern.journal.scope_codec import scope_in, scope_out
from saltern.language import secrets
from saltern.language.delayed import UNLIMITED, BlockScope
from saltern.language.diagnostics import CompileError, SalternError
from saltern.render import document, yaml_places
from saltern.render.remote import Question, Sent, SentProblem
from saltern.report import diagnostics
from saltern.report.diagnostics import show

log = logging.getLogger(__name__)

MOST_RUNS = 128  # sessions that one process keeps
FAILED = "render-failed"
TEXTS = (yaml_places.forget_texts, document.forget_lines, diagnostics.forget_lines)  # what modules keep


class RunOptions(Struct, frozen=True, kw_only=True):
    """What the session of a run is made of; ``key`` names all of it, and another key makes another session.

    ``limit``: the repeat limit of the controller; -1 for none at all, None if it has none to say.
    """

    key: str
    id: str
    grains: dict[str, Any] = {}
    pinned: dict[str, Any] = {}
    overrides: dict[Any, Any] = {}
    options: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    limit: int | None = None


class RenderTask(Struct, frozen=True, kw_only=True):
    """One question of a run. ``run`` is only there if the process does not have the session yet.

    ``name``: what the scope of the answer is called. ``scopes``: those that were kept, by name, if the
    process does not have them. ``ended``: no question, but runs that have ended, by how their keys begin.
    """

    key: str
    run: RunOptions | None = None
    question: bytes
    name: str
    scopes: dict[str, bytes] = {}
    ended: list[str] = []


class RenderResult(Struct, frozen=True, kw_only=True):
    """``sent`` is what the system gets, as msgpack. ``lacks``: ask again with these, or with the session.

    ``refused``: why the question is none that this run may ask. ``detail``: a problem as people read it,
    which is not for the system. ``scope``: to be kept under the name of the task.
    """

    sent: bytes = b""
    lacks: str = ""
    refused: str = ""
    detail: str = ""
    scope: bytes = b""


SESSION = "\0session"  # what ``lacks`` says for a session


class RunRenderers:
    """The runs of one process, the most recently used."""

    def __init__(self) -> None:
        self._runs: OrderedDict[str, CallbackRenderer] = OrderedDict()

    def answer(self, task: RenderTask) -> RenderResult:
        """Answer a request; a problem of a template is also an answer."""
        secrets.forget()  # those of the run before
        if task.ended:
            return self._discard(tuple(task.ended))
        try:
            renderer = self._renderer(task)
        except SalternError as problem:
            return _failed_result(problem, [SentProblem(one.code, PILLAR) for one in problem.diagnostics])
        if renderer is None:
            return RenderResult(lacks=SESSION)
        question = msgspec.msgpack.decode(task.question, type=Question)
        for name, data in task.scopes.items():
            if name not in renderer.scopes:
                renderer.scopes[name] = scope_in(data)
        if question.scope and question.scope not in renderer.scopes:
            return RenderResult(lacks=question.scope)
        try:
            sent = renderer.answer(question, task.name)
        except UnknownBlock as problem:
            return RenderResult(refused=str(problem))
        except CompileError as problem:
            return _failed_result(problem, renderer.problems(problem).problems)
        return _result(sent, renderer.scopes.get(sent.scope))

    def _discard(self, ended: tuple[str, ...]) -> RenderResult:
        """Forget the texts and the pillar of runs that have ended."""
        self._runs = OrderedDict((key, one) for key, one in self._runs.items() if not key.startswith(ended))
        for forget in TEXTS:
            forget()
        if not self._runs:
            gc.collect()  # the objects of a session form reference cycles
        return RenderResult()

    def _renderer(self, task: RenderTask) -> CallbackRenderer | None:
        renderer = self._runs.get(task.key)
        if renderer is None and task.run is not None:
            secrets.forget()
            renderer = CallbackRenderer(_session(task.run), _limit(task.run))
            self._runs[task.key] = renderer
            if len(self._runs) > MOST_RUNS:
                self._runs.popitem(last=False)
        elif renderer is not None:
            self._runs.move_to_end(task.key)
        return renderer


PILLAR = "the pillar that it is rendered with cannot be compiled; the controller has the whole message"


def _session(run: RunOptions) -> Session:
    """The session of a run on another machine: its facts, its pillar, the tree of its job."""
    grains = {**run.grains, **run.pinned, "id": run.id}
    settings = Settings(id=run.id, extra=run.extra, **run.options)
    made = Session(
        settings, grains=Grains(settings, lambda: grains, ()), pillar=run.overrides, facts_only=True
    )
    made.grains.clear()  # custom grains of the tree are those of this machine
    made.grains.update(grains)
    made.load_pillar()
    return made


def _limit(run: RunOptions) -> Any:
    return UNLIMITED if run.limit == -1 else run.limit


def _result(sent: Sent, scope: BlockScope | None) -> RenderResult:
    try:
        data = msgspec.msgpack.encode(sent, enc_hook=_refuse)
    except (_Unsendable, OverflowError, UnicodeEncodeError) as problem:
        what = f"it has a value that cannot be sent: {problem}"
        failed = Sent(problems=[SentProblem(FAILED, what, sent.file)])
        return RenderResult(sent=msgspec.msgpack.encode(failed), detail=f"{sent.file}: {what}")
    return RenderResult(sent=data, scope=scope_out(scope) if scope is not None else b"")


class _Unsendable(Exception):
    """A value that is neither text, number, list nor mapping."""


def _refuse(value: object) -> object:
    if isinstance(value, set | frozenset | tuple):
        return list(value)
    if isinstance(value, dict):
        return dict(value)
    raise _Unsendable(type(value).__name__)


def _failed_result(problem: SalternError, problems: list[SentProblem]) -> RenderResult:
    out = StringIO()
    show(problem.diagnostics, out)
    sent = msgspec.msgpack.encode(Sent(problems=problems))
    return RenderResult(sent=sent, detail=secrets.mask(out.getvalue().rstrip()))
