"""What the signatures say of the chunks, before anything runs.

Unknown functions, unknown arguments and missing ones are told as warnings, since a state of this very
run may bring the module; with ``strict`` they are errors. Reached, such a state fails and the run goes on.
"""

from __future__ import annotations

from collections.abc import Iterable

from saltern.language.chunk import Chunk
from saltern.language.diagnostics import Diagnostics
from saltern.language.keywords import ENGINE_WORDS, INTERNAL
from saltern.modules.params import Schema, unknown_argument
from saltern.modules.registry import Registry, schema

_NEVER_UNKNOWN = ENGINE_WORDS | INTERNAL
_SLIPS = sorted(word for word in ENGINE_WORDS if len(word) > 4)
_STARTS = frozenset(word[:3] for word in _SLIPS)


def check(chunks: Iterable[Chunk], registry: Registry, found: Diagnostics, *, strict: bool = False) -> None:
    tell = found.error if strict else found.warn
    schemas: dict[tuple[str, str], Schema | None] = {}
    for chunk in chunks:
        key = (chunk.state, chunk.fun)
        if key not in schemas:
            function = registry.state(*key)
            schemas[key] = schema(function) if function is not None else None
        known = schemas[key]
        if known is None:
            tell("state-unknown", registry.unknown_state(*key), where=chunk.mark())
            continue
        if not known.open:
            for name in chunk.args.keys() - known.params.keys() - _NEVER_UNKNOWN:
                if not isinstance(name, str) or not name.startswith("__"):
                    what = f"{chunk.function}: {unknown_argument(str(name), (*known.params, *_SLIPS))}"
                    tell("argument-unknown", what, where=chunk.mark(str(name)))
        else:
            for name in chunk.args.keys() - known.params.keys() - _NEVER_UNKNOWN:
                if (word := _meant(name)) and word not in chunk.args:
                    what = f"{chunk.function} gets an argument {name!r}; did you mean {word!r}?"
                    found.warn("argument-suspicious", what, where=chunk.mark(name))
        for name in known.required:
            if name not in chunk.args:
                tell("argument-missing", f"{chunk.function} needs the argument {name!r}", where=chunk.mark())


_asked: dict[object, str] = {}


def _meant(name: object) -> str:
    """The requisite or keyword that a name is a slip of: a function that takes any argument takes it, too."""
    if str(name)[:3] not in _STARTS:
        return ""
    if name not in _asked:
        from difflib import get_close_matches

        near = get_close_matches(str(name), _SLIPS, n=1, cutoff=0.87)
        _asked[name] = near[0] if near else ""
    return _asked[name]
