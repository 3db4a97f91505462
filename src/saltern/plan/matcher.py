"""Find the chunks that a reference matches: for requisites, their ``_in`` forms and ``listen``.

``type: X`` matches all chunks of that type whose ID or name is X; a bare X matches any type. Literal
matches come before patterns. ``sls: X`` matches everything that X declares or includes. For ``_in`` forms see
``reached``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from saltern.language.chunk import Chunk, Requisite
from saltern.language.diagnostics import did_you_mean
from saltern.language.patterns import is_pattern

SLS = "sls"
MOST_SUGGESTED = 20
UNGUESSED = "include the file that declares it"


class Matcher:
    """Chunks by their possible names. ``rendered`` are the names of all files of the run."""

    def __init__(self, chunks: Sequence[Chunk], rendered: Collection[str]) -> None:
        self.chunks = chunks
        self.rendered = rendered
        self._typed: dict[str, dict[str, list[int]]] = {}
        self._any: dict[str, list[int]] = {}
        for index, chunk in enumerate(chunks):
            names = self._typed.get(chunk.state)
            if names is None:
                names = self._typed[chunk.state] = {}
            _add(names, chunk.id, index)
            if chunk.name != chunk.id:
                _add(names, chunk.name, index)
        self._files: dict[str, list[int]] | None = None
        self._own: dict[str, list[int]] | None = None
        self._patterns: dict[tuple[str, str], list[int]] = {}
        self._asked = 0

    def find(self, wanted: Requisite) -> list[int]:
        """The matching chunks, in low order; empty if there are none."""
        if wanted.state == SLS:
            return [index for name in self.files(wanted.value) for index in self.members(name)]
        names = self._typed.get(wanted.state, {}) if wanted.state else self._bare()
        return names.get(wanted.value) or self._chunks_by_pattern(names, wanted)

    def in_form_matches(self, wanted: Requisite) -> list[int]:
        """The chunks that an ``_in`` form matches: an ID comes before a name, and a file matches what it
        declares itself; otherwise like ``find``."""
        if wanted.state == SLS:
            return [index for name in self.files(wanted.value) for index in self.own_members(name)]
        names = self._typed.get(wanted.state, {}) if wanted.state else self._bare()
        known = names.get(wanted.value)
        if known is None:
            return self._chunks_by_pattern(names, wanted)
        return [index for index in known if self.chunks[index].id == wanted.value] or known

    def by_pattern(self, wanted: Requisite) -> bool:
        """True if it is a pattern, and no chunk has it as a literal name."""
        if not is_pattern(wanted.value) or wanted.state == SLS:
            return False
        return wanted.value not in (self._typed.get(wanted.state, {}) if wanted.state else self._bare())

    def own_members(self, sls: str) -> list[int]:
        """Every chunk that a file itself declares."""
        if self._own is None:
            self._own = {}
            for index, chunk in enumerate(self.chunks):
                self._own.setdefault(chunk.sls, []).append(index)
        return self._own.get(sls, [])

    def files(self, value: str) -> list[str]:
        """The rendered files that ``sls: value`` matches."""
        if value in self.rendered:
            return [value]
        if not is_pattern(value):
            return []
        from fnmatch import fnmatchcase

        return [name for name in self.rendered if fnmatchcase(name, value)]

    def members(self, sls: str) -> list[int]:
        """Every chunk that a file declares itself or through its includes."""
        if self._files is None:
            self._files = {}
            for index, chunk in enumerate(self.chunks):
                self._files.setdefault(chunk.sls, []).append(index)
                for name in chunk.declared.included_from:
                    if name != chunk.sls:
                        self._files.setdefault(name, []).append(index)
        return self._files.get(sls, [])

    def suggestion(self, wanted: Requisite) -> str:
        """What an unknown name may have meant; only for the first few, since this is slow."""
        self._asked += 1
        if self._asked > MOST_SUGGESTED:
            return ""
        if wanted.state == SLS:
            return did_you_mean(wanted.value, self.rendered) or "include that file"
        others = [state for state, names in self._typed.items() if wanted.value in names]
        if others:
            return f"{wanted.value!r} is of type {others[0]!r}: write '- {others[0]}: {wanted.value}'"
        near = did_you_mean(wanted.value, self._typed.get(wanted.state, self._bare()))
        return near or UNGUESSED

    def _chunks_by_pattern(self, names: dict[str, list[int]], wanted: Requisite) -> list[int]:
        """The chunks with a matching name; each pattern is searched once, however many references use it."""
        if not is_pattern(wanted.value):
            return []
        key = (wanted.state, wanted.value)
        if key not in self._patterns:
            import re
            from fnmatch import translate

            fits = re.compile(translate(wanted.value)).match
            self._patterns[key] = sorted({index for name in names if fits(name) for index in names[name]})
        return self._patterns[key]

    def _bare(self) -> dict[str, list[int]]:
        if not self._any:
            for index, chunk in enumerate(self.chunks):
                _add(self._any, chunk.id, index)
                if chunk.name != chunk.id:
                    _add(self._any, chunk.name, index)
        return self._any


def _add(names: dict[str, list[int]], name: str, index: int) -> None:
    known = names.get(name)
    if known is None:
        names[name] = [index]
    elif known[-1] != index:
        known.append(index)


def describe_requisite(wanted: Requisite) -> str:
    return f"{wanted.state} {wanted.value!r}" if wanted.state else repr(wanted.value)


def names_of(chunks: Iterable[Chunk]) -> str:
    return ", ".join(sorted({f"{chunk.sls}.{chunk.label}" for chunk in chunks}))
