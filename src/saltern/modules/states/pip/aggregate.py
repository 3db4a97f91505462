"""Several ``pip.installed`` states as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from saltern.language.chunk import Chunk
from saltern.language.events import Answer
from saltern.language.keywords import ENGINE_WORDS

WHAT = ("name", "pkgs")


def _how(chunk: Chunk) -> dict[str, object]:
    """All arguments but the packages; only states that agree in them are combined."""
    return {key: value for key, value in chunk.args.items() if key not in WHAT and key not in ENGINE_WORDS}


def _what(chunk: Chunk) -> list[object]:
    pkgs = chunk.args.get("pkgs")
    if isinstance(pkgs, list):
        return list(pkgs)
    return [pkgs] if pkgs else [chunk.args.get("name", chunk.name)]


def enlarge_chunk(chunk: Chunk, group: Sequence[Chunk], answered: Mapping[str, Answer]) -> Chunk:
    """The chunk with the packages of all others of its kind that have not run yet."""
    if chunk.fun != "installed" or "requirements" in chunk.args or "editable" in chunk.args:
        return chunk
    how = _how(chunk)
    wanted = _what(chunk)
    for other in group:
        fits = other.fun == chunk.fun and _how(other) == how
        if fits and other is not chunk and other.tag not in answered:
            wanted += [one for one in _what(other) if one not in wanted]
    return replace(chunk, args={**chunk.args, "pkgs": wanted})
