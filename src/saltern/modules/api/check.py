"""Check the chunks against the signatures of their functions, before anything runs.

Unknown functions, unknown arguments and missing ones are reported as warnings, since a state of this
run may install the module; with ``strict`` they are errors. When reached, such a state fails and the run
continues, unless Salt's function takes any argument: then only a mistyped argument that decides what is done
fails it.

Arguments of Salt that have no effect here are known by name, and reported as such. If ignoring one
would change something that was not requested, the state fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from saltern.language.chunk import Chunk
from saltern.language.diagnostics import Diagnostics
from saltern.language.keywords import ENGINE_WORDS, INTERNAL
from saltern.language.requisites import IN_FORMS, REQUISITES
from saltern.modules.api.params import Schema, unknown_argument
from saltern.modules.api.registry import STATES, Registry, schema

if TYPE_CHECKING:
    from saltern.modules.api.template_names import Files

REQUISITE_WORDS = frozenset((*REQUISITES, *IN_FORMS))
_NEVER_UNKNOWN = ENGINE_WORDS | INTERNAL
_SLIPS = sorted(word for word in ENGINE_WORDS if len(word) > 4)
_STARTS = frozenset(word[:3] for word in _SLIPS)
CLOSE = 0.8  # how similar a template variable must be to an argument to count as a mistyped one
Report = Callable[..., None]


def check(
    chunks: Iterable[Chunk],
    registry: Registry,
    found: Diagnostics,
    *,
    strict: bool = False,
    files: Files | None = None,
) -> None:
    """Check the chunks. ``files`` is the tree with the templates of states."""
    judge = _Judge(registry, found, found.error if strict else found.warn, files)
    schemas: dict[tuple[str, str], Schema | None] = {}
    for chunk in chunks:
        key = (chunk.state, chunk.fun)
        if key not in schemas:
            function = registry.state(*key)
            schemas[key] = schema(function) if function is not None else None
        known = schemas[key]
        if known is None:
            from saltern.modules.api.unknown_names import unknown_state

            judge.report("state-unknown", unknown_state(registry, *key), where=chunk.mark())
            continue
        extra = chunk.args.keys() - known.params.keys() - _NEVER_UNKNOWN
        if extra:
            judge.extra(chunk, known, extra)
        for name in known.required:
            if name not in chunk.args:
                judge.report(
                    "argument-missing", f"{chunk.function} needs the argument {name!r}", where=chunk.mark()
                )


class _Judge:
    """Checks the arguments of one chunk."""

    def __init__(self, registry: Registry, found: Diagnostics, report: Report, files: Files | None) -> None:
        self._registry = registry
        self._found = found
        self._files = files
        self.report = report

    def extra(self, chunk: Chunk, known: Schema, names: Iterable[object]) -> None:
        """Arguments that the function has no parameter for."""
        from saltern.modules.api.salt_arguments import harm_of_ignoring

        for name in names:
            if isinstance(name, str) and (name.startswith("__") or _is_displaced_target(chunk, name)):
                continue
            if harm := harm_of_ignoring(known.key, str(name), chunk.args.get(str(name))):
                what = f"{chunk.function}: {name!r} is not supported: {harm}"
                self.report("argument-unsupported", what, where=chunk.mark(str(name)))
            elif known.takes_anything:
                self._slip_among_data(chunk, known, name)
            else:
                self._unknown(chunk, known, str(name))

    def _slip_among_data(self, chunk: Chunk, known: Schema, name: object) -> None:
        """Warn about a mistyped keyword or argument of a function that takes any argument."""
        from saltern.modules.api.salt_arguments import effect_of_ignoring

        if (effect := effect_of_ignoring(known.key, str(name))) is not None:
            self._report_ignored(chunk, str(name), effect)
        elif (word := _suggestion(name)) and word not in chunk.args:
            what = f"{chunk.function} gets an argument {name!r}; did you mean {word!r}?"
            self._found.warn("argument-suspicious", what, where=chunk.mark(str(name)))
        elif word := _near_argument(known, str(name), chunk.args):
            what = f"{chunk.function}: no argument is called {name!r}; did you mean {word!r}?"
            self.report("argument-unknown", what, where=chunk.mark(str(name)))

    def _unknown(self, chunk: Chunk, known: Schema, name: str) -> None:
        from saltern.modules.api.salt_arguments import (
            ALSO_READ,
            MEANT,
            TAKES_ARGUMENTS_OF,
            effect_of_ignoring,
        )

        effect = effect_of_ignoring(known.key, name)
        if effect is not None:
            self._report_ignored(chunk, name, effect)
            return
        others = {
            one: None
            for key in TAKES_ARGUMENTS_OF.get(known.key, ())
            if (function := self._registry.state(*key.split("."))) is not None
            for one in schema(function).params
        }
        if name in others or name in ALSO_READ.get(known.key, ()):
            return
        names = (*known.params, *others)
        hint = MEANT.get(known.key, {}).get(name)
        known_words = (*names, *_SLIPS)
        said = f"no argument is called {name!r}; {hint}" if hint else unknown_argument(name, known_words)
        verdict = "slip"
        if known.rest == "Variables" and self._renders(chunk, known):
            verdict = self._variable(chunk, names, name)
        if verdict == "slip":
            self.report("argument-unknown", f"{chunk.function}: {said}", where=chunk.mark(name))
        elif verdict == "doubtful":
            self._found.warn("argument-suspicious", f"{chunk.function}: {said}", where=chunk.mark(name))

    def _renders(self, chunk: Chunk, known: Schema) -> bool:
        """True if the state renders a source: only then are extra arguments variables."""
        args = chunk.args
        if not args.get("template", known.params["template"].default):
            return False
        if args.get("source") or args.get("sources"):
            return True
        return self._registry.nature(chunk.state, chunk.fun).name_is == "source"

    def _report_ignored(self, chunk: Chunk, name: str, effect: str) -> None:
        """Report an argument of Salt that has no effect here, if its value requests anything."""
        from saltern.modules.api.salt_arguments import NOTHING_ASKED

        if effect and chunk.args[name] not in NOTHING_ASKED:
            what = f"{chunk.function}: {name!r} is not supported here and is ignored: {effect}"
            self._found.warn("argument-unsupported", what, where=chunk.mark(name))

    def _variable(self, chunk: Chunk, names: Iterable[str], name: str) -> str:
        """Accept a variable, unless it is similar to a missing argument and no template mentions it."""
        from difflib import get_close_matches

        from saltern.modules.api.template_names import mentions

        free = [one for one in (*names, *_SLIPS) if one not in chunk.args]
        if not get_close_matches(name, free, n=1, cutoff=CLOSE):
            return "variable"
        env = str(chunk.args.get("saltenv") or chunk.env)
        args = {"name": chunk.name, **chunk.args}
        seen = mentions(self._files, args, name, env) if self._files is not None else None
        return {True: "variable", None: "doubtful", False: "slip"}[seen]


def _is_displaced_target(chunk: Chunk, name: str) -> bool:
    """True for ``- pkg: x`` on the level of an empty ``- require:``, which is reported separately."""
    items = chunk.declared.items
    words = {word for item in items if isinstance(item, dict) and None in item.values() for word in item}
    return bool(words & REQUISITE_WORDS) and isinstance(chunk.args[name], str) and name in STATES


_asked: dict[object, str] = {}


def _suggestion(name: object) -> str:
    """The requisite or keyword that a name is a mistyping of."""
    if str(name)[:3] not in _STARTS:
        return ""
    if name not in _asked:
        from difflib import get_close_matches

        near = get_close_matches(str(name), _SLIPS, n=1, cutoff=0.87)
        _asked[name] = near[0] if near else ""
    return _asked[name]


def _near_argument(known: Schema, name: str, given: Mapping[str, object]) -> str:
    """The missing argument of the function that a name is similar to, unless the name has its own use."""
    if len(name) < 3 or not known.params:
        return ""
    from difflib import get_close_matches

    from saltern.modules.api.salt_arguments import FURTHER

    if name in FURTHER.get(known.key, ()):
        return ""
    free = [one for one in known.params if one not in given]
    near = get_close_matches(name, free, n=1, cutoff=CLOSE)
    return near[0] if near else ""
