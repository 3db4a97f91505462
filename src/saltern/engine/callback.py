"""Render files and blocks for a run on another machine, which gets the data and never the text.

The session is that of the other machine: its facts, its pillar, the tree of its job. Templates get answers
from ``salt`` from these alone, because a function would inspect this machine.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from saltern.engine.frames import public, render_target
from saltern.engine.session import Session
from saltern.language import secrets
from saltern.language.delayed import NO_BLOCKS, PREV_RET, BlockScope, Limit, Target, Unlimited
from saltern.language.diagnostics import CompileError, Diagnostic
from saltern.language.late import OPEN
from saltern.language.source import Mark, SlsRef
from saltern.language.texts import texts_in
from saltern.render.blocks import sls_words
from saltern.render.document import Document
from saltern.render.remote import Question, RootNames, Sent, SentProblem, places, sent_blocks, with_limit
from saltern.runtime.slots import PREFIX
from saltern.sources.tree import SlsSource

# Problems whose text names only files, IDs and shapes, not the content of a file.
PLAIN = frozenset(("sls-not-found", "file-too-large", "file-unreadable", "not-utf8", "renderer-refused"))
WITHHELD = "it cannot be rendered; the controller has the full message"


class UnknownBlock(Exception):
    """A block or a scope that this run does not have."""


class CallbackRenderer:
    """Renders for one run. ``scopes`` are the scopes of what it has rendered, by name.

    ``limit`` is the repeat limit of blocks whose tag has none; None: the other machine decides.
    """

    def __init__(self, session: Session, limit: Limit | None = None) -> None:
        self._session = session
        self._limit = -1 if isinstance(limit, Unlimited) else limit
        self._names = RootNames(session.settings.file_roots)
        self._env = ""
        self.scopes: dict[str, BlockScope] = {}

    def answer(self, question: Question, name: str) -> Sent:
        """The answer to a question; the blocks in it then belong to the scope ``name``.

        Raises ``CompileError``, and ``UnknownBlock`` for anything outside this run.
        """
        if not question.name and not question.block:
            return Sent(variables=_plain(public(self._scope(question.scope).variables)))
        self._session.renderers.rendered = set(question.rendered)
        self._env = question.env
        document = self._document(question)
        found = Sent(
            data=document.data,
            file=self._own(document.file),
            is_init=document.is_init,
            places=places(document),
            written=_special_texts(document),
            secrets=[one.encode("utf-8", "surrogateescape") for one in secrets.values()],
        )
        scope = document.blocks
        if scope is NO_BLOCKS:
            return found
        self.scopes[name] = scope
        blocks = [
            with_limit(replace(one, file=self._own(one.file)), self._limit) for one in sent_blocks(scope)
        ]
        imported = {known: (self._own(mark.file), mark.line) for known, mark in scope.imported.items()}
        return replace(found, scope=name, blocks=blocks, imported=imported)

    def _document(self, question: Question) -> Document:
        session = self._session
        source = None if question.block else self._source(question)
        if source is not None and question.previous is None:
            document = session.renderers.sls(source, session.renderers.without_globals(question.values))
            if question.values and document.blocks is not NO_BLOCKS:
                document.blocks.variables = {**question.values, **document.blocks.variables}
            return document
        return render_target(session, self._target(question, source), question.previous or {})

    def _target(self, question: Question, source: SlsSource | None) -> Target:
        if source is not None:
            scope = self._scope(question.scope) if question.scope else BlockScope()
            words = sls_words(source.text, source.path)
            return Target(
                kind="sls",
                name=question.sls,
                source=source,
                words=words,
                scope=scope,
                context=question.values,
            )
        scope = self._scope(question.scope)
        block = scope.blocks.get(question.block)
        if block is None:
            raise UnknownBlock(f"the file has no block {question.block!r}")
        return Target(
            kind="block",
            name=block.name,
            block=block,
            words=block.words,
            scope=scope,
            context=question.values,
        )

    def _scope(self, name: str) -> BlockScope:
        if name not in self.scopes:
            raise UnknownBlock(f"no file of this run has the scope {name!r}")
        return self.scopes[name]

    def _source(self, question: Question) -> SlsSource:
        found = self._session.tree.source(question.name, question.env)
        if found is None:
            raise UnknownBlock(f"the tree of this run has no file {question.name!r}")
        return SlsSource(SlsRef(question.env, question.sls), found[0], question.name, found[1])

    def _own(self, path: str) -> str:
        return self._names.shared_path(path, self._env)

    def problems(self, problem: CompileError) -> Sent:
        """The answer in place of data: the places and codes of problems."""
        return Sent(problems=[self._problem(one) for one in problem.diagnostics])

    def _problem(self, one: Diagnostic) -> SentProblem:
        where = one.where or Mark("")
        what = one.what if one.code in PLAIN else WITHHELD
        return SentProblem(one.code, what, self._own(where.file), where.line, where.column)


def _special_texts(document: Document) -> list[str]:
    """Texts in the data with a special meaning in a file, and that this file contains literally."""
    return [
        text
        for text in texts_in(document.data)
        if (PREFIX in text or OPEN in text) and text in document.source
    ]


def _plain(variables: Mapping[str, object]) -> dict[str, object]:
    """The variables that are data: macros and imports cannot be sent."""
    return {name: value for name, value in variables.items() if name != PREV_RET and _is_plain(value)}


def _is_plain(value: object) -> bool:
    if value is None or isinstance(value, str | int | float | bool):
        return True
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return isinstance(value, Mapping) and all(_is_plain(inner) for inner in value.values())
