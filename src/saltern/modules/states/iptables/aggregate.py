"""Several ``iptables.append`` or ``iptables.insert`` states as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from saltern.language.chunk import Chunk
from saltern.language.events import Answer

TOGETHER = ("append", "insert")


def _rules(chunk: Chunk) -> list[object]:
    given = chunk.args.get("rules")
    return list(given) if isinstance(given, list) else [{"name": chunk.name, **chunk.args}]


def enlarge_chunk(chunk: Chunk, group: Sequence[Chunk], answered: Mapping[str, Answer]) -> Chunk:
    """The chunk with the rules of all others of its function that have not run yet, in their order."""
    if chunk.fun not in TOGETHER:
        return chunk
    others = [one for one in group if one.fun == chunk.fun and one.tag not in answered]
    rules = [rule for one in (others if chunk in others else [chunk, *others]) for rule in _rules(one)]
    return replace(chunk, args={**chunk.args, "rules": rules})
