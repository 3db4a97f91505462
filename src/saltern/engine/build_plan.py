"""File names → plan: the stages of compiling a whole run or a delayed frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from saltern.compiler.compile import CompilerOptions, compile_high, compile_low
from saltern.engine.delays import Delays
from saltern.engine.loaders import TreeLoader
from saltern.engine.session import Session
from saltern.language.chunk import Chunk
from saltern.language.delayed import NO_BLOCKS, scope_of
from saltern.language.diagnostics import Diagnostics
from saltern.language.high import High
from saltern.language.source import SlsRef
from saltern.modules.api.check import check
from saltern.plan.make import make_plan
from saltern.plan.plan import Plan


def build_plan(
    session: Session,
    refs: Sequence[SlsRef],
    loader: TreeLoader,
    options: CompilerOptions,
    found: Diagnostics,
    *,
    delays: Delays,
    checks: bool = True,
    mark_data: Callable[[list[Chunk]], None] | None = None,
    elsewhere: Callable[[str], str] | None = None,
) -> Plan:
    """Compile these files and order their states. Raises ``CompileError`` if any file is wrong.

    ``checks``: compare arguments with signatures. ``mark_data`` is called with the chunks before they are
    related to each other; ``elsewhere`` finds the scope of a name that this scope lacks.
    """
    high = compile_high(refs, loader, options, found)
    is_delayed = _is_delayed(high)
    if is_delayed:
        delays.define(high)
    elsewhere = elsewhere or (delays.inside if delays.defined else None)
    low = compile_low(high, options, session.caller.reacts, found, elsewhere)
    if mark_data is not None:
        mark_data(low.chunks)
    if is_delayed:
        _relate_delayed(low.chunks, loader, delays, found)
    if checks:
        check(low.chunks, session.registry, found, strict=session.settings.strict, files=session.tree)
    found.check()
    return make_plan(
        low.chunks,
        low.rendered,
        found,
        aggregates(session, low.chunks),
        elsewhere=elsewhere,
        strict=options.strict,
    )


def _is_delayed(high: High) -> bool:
    """True if any of the files uses delayed rendering."""
    return any(scope_of(file.origin) is not NO_BLOCKS for file in high.files.values())


def _relate_delayed(chunks: list[Chunk], loader: TreeLoader, delays: Delays, found: Diagnostics) -> None:
    """Attach to each chunk what it delays; turn references to registered returns into requisites."""
    from saltern.compiler.delayed import attach, called_blocks
    from saltern.compiler.registers import relate

    attach(chunks, loader, delays.limit, found)
    registers = relate(chunks, found, delays.registers)
    delays.registers.update((name, chunk.mark("register")) for name, chunk in registers.items())
    delays.called.update(block.definition for block in called_blocks(chunks))
    delays.wanted = delays.wanted or any(chunk.delayed for chunk in chunks)


def aggregates(session: Session, chunks: Sequence[Chunk]) -> Callable[[Chunk], bool] | None:
    """A predicate for chunks that are called together, by their own option or the configuration; None if
    there are none."""
    usual = session.settings.state_aggregate
    if not usual and not any("aggregate" in chunk.words for chunk in chunks):
        return None

    def wanted(chunk: Chunk) -> bool:
        word = chunk.args.get("aggregate", usual)
        asked = chunk.state in word if isinstance(word, list) else word is True
        return asked and not chunk.late and session.caller.aggregates(chunk.state)

    return wanted
