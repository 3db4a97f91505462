"""Ask the controller, through the agent, for files that it renders.

Waits for a controller that is away, and reports what the run waits for. After
``delayed_callback_timeout`` the file counts as one that cannot be rendered.
"""

from __future__ import annotations

import base64
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from saltern.config.settings import Settings
from saltern.language import secrets
from saltern.language.delayed import PREV_RET, BlockScope, Target
from saltern.language.diagnostics import CompileError, Diagnostic, OperationError
from saltern.language.source import Mark
from saltern.render.document import Document
from saltern.render.remote import Question, RootNames, Sent, SentProblem, made_document
from saltern.render.remote_port import RemoteHome
from saltern.sources.agent_socket import ask
from saltern.sources.stub import stub_token
from saltern.sources.tree import SlsSource

STEP = 0.5  # seconds between two requests to a controller that is away
DETAILS = "the controller has the full message: saltern events --no-follow --tag 'saltern/render/*'"


class Ask(Protocol):
    """Asks the agent at a socket; raises ``OperationError`` if it is away for longer than ``wait``."""

    def __call__(self, path: str, question: dict[str, object], *, wait: float) -> dict[str, Any]: ...


class ControllerFiles:
    """Implements ``render.remote_port.Remote`` for one run."""

    def __init__(self, settings: Settings, ask: Ask = ask) -> None:
        self._ask_agent = ask
        self._socket = settings.agent_socket
        self._job = settings.agent_job
        self._names = RootNames(settings.file_roots)
        self._wait = settings.delayed_callback_timeout

    def sls(self, source: SlsSource, values: Mapping[str, object], rendered: Sequence[str]) -> Document:
        given = dict(values)
        previous: Any = given.pop(PREV_RET, None)
        question = _file(source, values=_sendable(given), previous=_sendable(previous), rendered=rendered)
        return made_document(self._ask(question, source), source, stub_token(source.text))

    def frame(
        self, target: Target, previous: Mapping[str, object], parent: str, rendered: Sequence[str]
    ) -> Document:
        home, outer = target.scope.home, None
        values = dict(target.context)
        scope = home.scope if isinstance(home, RemoteHome) else ""
        if target.block is not None:
            assert isinstance(home, RemoteHome)
            stub, outer = home.source, target.scope
            question = Question(scope=scope, block=target.name)
        else:
            assert isinstance(target.source, SlsSource)
            stub = target.source
            if target.words.scoped and not scope:
                values = {**_public(target.scope.variables), **values}
            question = _file(stub, scope=scope)
        question = msgspec.structs.replace(
            question,
            parent=parent,
            values=_sendable(values),
            previous=_sendable(dict(previous)),
            rendered=list(rendered),
            refresh=sorted(target.words.refresh),
        )
        return made_document(self._ask(question, stub), stub, stub_token(stub.text), outer)

    def variables(self, scope: BlockScope) -> dict[str, object]:
        assert isinstance(scope.home, RemoteHome)
        return dict(self._ask(Question(scope=scope.home.scope), scope.home.source).variables)

    # -- asking ------------------------------------------------------------------------------------

    def _ask(self, question: Question, stub: SlsSource) -> Sent:
        packed = base64.b64encode(msgspec.msgpack.encode(question, enc_hook=str)).decode()
        asked: dict[str, object] = {
            "ask": "render",
            "jid": self._job,
            "source": f"salt://{stub.name}",
            "parent": question.parent,
            "block": question.block,
            "question": packed,
        }
        answer = self._wait_for_answer(asked, question, stub)
        if problem := answer.get("problem"):
            raise _refusal(problem, stub, question)
        sent = msgspec.msgpack.decode(base64.b64decode(answer["sent"]), type=Sent)
        if sent.problems:
            raise CompileError(*(self._diagnostic(one, stub) for one in sent.problems))
        secrets.add([one.decode("utf-8", "surrogateescape") for one in sent.secrets])
        blocks = [msgspec.structs.replace(one, file=self._here(one.file)) for one in sent.blocks]
        imported = {name: (self._here(file), line) for name, (file, line) in sent.imported.items()}
        return msgspec.structs.replace(sent, file=self._here(sent.file), blocks=blocks, imported=imported)

    def _wait_for_answer(
        self, asked: dict[str, object], question: Question, stub: SlsSource
    ) -> dict[str, Any]:
        """The answer; waits for a controller that is away."""
        end = time.monotonic() + self._wait
        reported = False
        while True:
            try:
                answer = self._ask_agent(self._socket, asked, wait=max(STEP, end - time.monotonic()))
            except OperationError as problem:
                answer = {"away": problem.diagnostics[0].what}
            if not (why := answer.get("away")):
                return answer
            if time.monotonic() + STEP > end:
                raise _away(str(why), stub, question, self._wait)
            if not reported:
                reported = True
                print(
                    f"saltern: waiting for a controller to render {_describe(stub, question)}: {why}",
                    file=sys.stderr,
                )
            time.sleep(STEP)

    def _here(self, path: str) -> str:
        return self._names.here(path)

    def _diagnostic(self, one: SentProblem, stub: SlsSource) -> Diagnostic:
        where = Mark(self._here(one.file), one.line, one.column) if one.file else Mark(stub.path)
        return Diagnostic(code=one.code, what=one.what, where=where, fix=DETAILS)


def _file(source: SlsSource, **more: Any) -> Question:
    return Question(env=source.ref.env, sls=source.ref.name, name=source.name, **more)


def _public(variables: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in variables.items() if not name.startswith("_")}


def _sendable(value: Any) -> Any:
    """A copy that can be sent: values that are not data, such as macros of the caller's file, are left
    out.
    """
    if isinstance(value, Mapping):
        return {key: _sendable(inner) for key, inner in value.items() if not callable(inner)}
    if isinstance(value, list | tuple | set | frozenset):
        return [_sendable(inner) for inner in value]
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode() if not value.isascii() else str(value)
    return value


def _describe(stub: SlsSource, question: Question) -> str:
    block = f"block {question.block!r} of " if question.block else ""
    return f"{block}salt://{stub.name}"


def _refusal(problem: str, stub: SlsSource, question: Question) -> CompileError:
    what = f"the controller did not render {_describe(stub, question)}: {problem}"
    return CompileError(Diagnostic(code="render-refused", what=what, where=Mark(stub.path)))


def _away(why: str, stub: SlsSource, question: Question, seconds: float) -> CompileError:
    return CompileError(
        Diagnostic(
            code="controller-away",
            what=f"{_describe(stub, question)} is rendered on the controller, and no controller has answered"
            f" for {seconds:.0f} seconds: {why}",
            where=Mark(stub.path),
            fix="start the controller, and apply again; delayed_callback_timeout in the configuration of"
            " the agent says how long a run waits",
        )
    )
