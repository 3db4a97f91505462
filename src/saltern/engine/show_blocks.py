"""Show the text of delayed blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from saltern.engine.frames import public
from saltern.engine.session import Session
from saltern.language.delayed import PREV_RET, Block, BlockScope
from saltern.language.diagnostics import Diagnostics, did_you_mean
from saltern.language.source import SlsRef
from saltern.render.blocks import cut


def show_blocks(
    session: Session,
    refs: Sequence[SlsRef],
    name: str,
    found: Diagnostics,
    *,
    prev_ret: object,
    context: Mapping[str, object],
) -> dict[str, str]:
    """The text of a block of these files; with ``prev_ret``, its rendered text after such a return."""
    texts: dict[str, str] = {}
    known: set[str] = set()
    for ref in refs:
        source = session.tree.read(ref)
        if source is None:
            found.error("sls-not-found", f"no SLS is called {ref.name!r} in saltenv {ref.env!r}")
            continue
        session.renderers.require_text(source)
        scope = session.renderers.sls(source).blocks
        for block in _with_inner(scope.blocks.values()):
            known.add(block.name)
            if block.name == name:
                path = ">".join((ref.name, *block.outer, name))
                texts[path] = _block_text(session, block, scope, prev_ret, context)
    if not texts:
        fix = did_you_mean(name, known) or (f"there are {', '.join(sorted(known))}" if known else "")
        found.error("delayed-unknown", f"none of the named files has a block {name!r}", fix=fix)
    return texts


def _with_inner(blocks: Iterable[Block]) -> Iterator[Block]:
    for block in blocks:
        yield block
        if block.text:
            yield from _with_inner(cut(block.text, block.file, outer=(*block.outer, block.name))[1])


def _block_text(
    session: Session, block: Block, scope: BlockScope, prev_ret: object, context: Mapping[str, object]
) -> str:
    if prev_ret is None:
        return block.text.lstrip("\n") or f"# a Python function, at {block.mark}\n"
    outer = public(scope.variables) if block.words.scoped else {}
    values = {**outer, **context, PREV_RET: prev_ret}
    return session.renderers.block(block, scope, values).text.lstrip("\n")
