"""Names of files → plan: the stages in between, for a whole run and for each delayed frame of it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field

from saltern.compiler.compile import Rules, compile_high, compile_low
from saltern.engine.session import Session
from saltern.language.chunk import Chunk
from saltern.language.delayed import NO_BLOCKS, PREV_RET, Block, Limit, scope_of
from saltern.language.diagnostics import Diagnostic, Diagnostics, OperationError
from saltern.language.high import High
from saltern.language.source import Mark, SlsRef
from saltern.modules.api.check import check
from saltern.plan.make import make_plan
from saltern.plan.plan import Plan
from saltern.sources.tree import SlsSource

if TYPE_CHECKING:
    from saltern.compiler.ports import Loaded
    from saltern.targeting.top import Assigned


class TreeLoader:
    """What the compiler asks for: files of the tree, rendered."""

    def __init__(self, session: Session) -> None:
        self._tree = session.tree
        self._renderers = session.renderers
        self.asked: dict[SlsRef, Assigned] = {}  # by the top file

    def where(self, ref: SlsRef) -> Mark | None:
        return self.asked[ref].mark() if ref in self.asked else None

    def source(self, ref: SlsRef) -> SlsSource | None:
        return self._tree.read(ref)

    def load(self, ref: SlsRef) -> Loaded | None:
        source = self._tree.read(ref)
        return None if source is None else self._renderers.sls(source)

    def names(self, env: str) -> list[str]:
        return self._tree.sls_names(env)

    def knows(self, env: str) -> bool:
        return env in self._tree


class TemplateLoader(TreeLoader):
    """The same, with one file from outside the roots under a name of its own."""

    def __init__(self, session: Session, path: str, env: str) -> None:
        super().__init__(session)
        self.ref = SlsRef(env, os.path.basename(path).removesuffix(".sls"))
        text = session.tree.text(path)
        if text is None:
            raise OperationError(Diagnostic(code="template-missing", what=f"there is no file {path!r}"))
        self._source = SlsSource(self.ref, path, os.path.basename(path), text)

    def load(self, ref: SlsRef) -> Loaded | None:
        return self._renderers.sls(self._source) if ref == self.ref else super().load(ref)


class RenderedLoader(TreeLoader):
    """The same, with one text under ``ref`` that is rendered already; what it includes sees ``values``.

    A ``block`` goes by a name of its own: it may include the very file it stands in.
    """

    def __init__(
        self, session: Session, document: Loaded, block: str = "", values: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(session)
        self.ref = SlsRef(document.ref.env, f"{document.ref.name}>{block}") if block else document.ref
        self._document = document
        self._values = self._renderers.allowed(values or {})

    def load(self, ref: SlsRef) -> Loaded | None:
        if ref == self.ref:
            return self._document
        source = self._tree.read(ref)
        if source is None:
            return None
        document = self._renderers.sls(source, self._values)
        if document.blocks is not NO_BLOCKS:  # what is scoped in it sees the context, too
            context = {name: value for name, value in self._values.items() if name != PREV_RET}
            document.blocks.variables = {**context, **document.blocks.variables}
        return document


class Delays(Struct):
    """The delayed blocks of a run: which there are, and which somebody calls."""

    limit: Limit = 1
    defined: dict[tuple[str, ...], Block] = field(default_factory=dict)
    called: set[tuple[str, ...]] = field(default_factory=set)
    wanted: bool = False  # whether any state delays anything
    registers: dict[str, Mark] = field(default_factory=dict)  # of all scopes so far
    warnings: dict[Diagnostic, None] = field(default_factory=dict)  # of frames; each is told once

    def define(self, high: High) -> None:
        for file in high.files.values():
            for block in scope_of(file.origin).blocks.values():
                self.defined[block.definition] = block

    def unused(self) -> list[Block]:
        return [block for definition, block in self.defined.items() if definition not in self.called]

    def inside(self, id_: str, why: str = "and requisites stay in their scope") -> str:
        """Where an ID stands that no state of the scope has: a block that is not rendered yet."""
        for block in self.defined.values():
            if re.search(rf"^['\"]?{re.escape(id_)}['\"]?:", block.text, re.MULTILINE):
                return f"it is inside block {block.name!r} ({block.mark}), {why}"
        return ""


def planned(
    session: Session,
    refs: Sequence[SlsRef],
    loader: TreeLoader,
    rules: Rules,
    found: Diagnostics,
    *,
    delays: Delays,
    checks: bool = True,
    mended: Callable[[list[Chunk]], None] | None = None,
    elsewhere: Callable[[str], str] | None = None,
) -> Plan:
    """Raises ``CompileError`` if any file is wrong. ``checks``: hold the arguments against the signatures.

    ``mended`` is shown the chunks before they are related to each other; ``elsewhere`` says where a
    name is that this scope lacks.
    """
    high = compile_high(refs, loader, rules, found)
    is_delayed = _is_delayed(high)
    if is_delayed:
        delays.define(high)
    elsewhere = elsewhere or (delays.inside if delays.defined else None)
    low = compile_low(high, rules, session.caller.reacts, found, elsewhere)
    if mended is not None:
        mended(low.chunks)
    if is_delayed:
        _delayed(low.chunks, loader, delays, found)
    if checks:
        check(low.chunks, session.registry, found, strict=session.settings.strict, files=session.tree)
    found.check()
    return make_plan(
        low.chunks,
        low.rendered,
        found,
        aggregates(session, low.chunks),
        elsewhere=elsewhere,
        strict=rules.strict,
    )


def _is_delayed(high: High) -> bool:
    """Whether any of the files has to do with delayed rendering at all."""
    return any(scope_of(file.origin) is not NO_BLOCKS for file in high.files.values())


def _delayed(chunks: list[Chunk], loader: TreeLoader, delays: Delays, found: Diagnostics) -> None:
    from saltern.compiler.delayed import attach, called
    from saltern.compiler.registers import relate

    attach(chunks, loader, delays.limit, found)
    registers = relate(chunks, found, delays.registers)
    delays.registers.update((name, chunk.mark("register")) for name, chunk in registers.items())
    delays.called.update(block.definition for block in called(chunks))
    delays.wanted = delays.wanted or any(chunk.delayed for chunk in chunks)


def aggregates(session: Session, chunks: Sequence[Chunk]) -> Callable[[Chunk], bool] | None:
    """Which chunks want to be done together, by their own word or the configuration's; None: none does."""
    usual = session.settings.state_aggregate
    if not usual and not any("aggregate" in chunk.words for chunk in chunks):
        return None

    def wanted(chunk: Chunk) -> bool:
        word = chunk.args.get("aggregate", usual)
        asked = chunk.state in word if isinstance(word, list) else word is True
        return asked and not chunk.late and session.caller.aggregates(chunk.state)

    return wanted
