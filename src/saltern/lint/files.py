"""The files of a check; each is read, rendered and parsed once, in however many runs it is used."""

from __future__ import annotations

import re
from collections.abc import Iterator

from saltern.compiler.gather import expand
from saltern.compiler.parse import parse
from saltern.engine.loaders import TreeLoader
from saltern.engine.session import Session
from saltern.language.delayed import MARKER, PREV_RET
from saltern.language.diagnostics import CompileError
from saltern.language.high import SlsFile
from saltern.language.source import Mark, SlsRef
from saltern.lint.findings import Findings
from saltern.render.blocks import WHOLE, begins_with_whole, cut
from saltern.render.document import Document
from saltern.sources.tree import SlsSource

MOST_SEARCHED = 20  # IDs that are looked for in all files


class KeptLoader(TreeLoader):
    """Implements ``compiler.ports.Loader``. ``used`` has the files loaded since it was last cleared."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.used: set[SlsRef] = set()
        self.problems: dict[SlsRef, CompileError] = {}
        self._sources: dict[SlsRef, SlsSource | None] = {}
        self._documents: dict[SlsRef, Document | None] = {}
        self._files: dict[SlsRef, SlsFile] = {}
        self._names: dict[str, list[str]] = {}
        self._reached: dict[SlsRef, set[SlsRef]] = {}
        self._texts: dict[str, str] = {}  # by path
        self._searched: dict[str, dict[SlsRef, Mark]] = {}

    def names(self, env: str) -> list[str]:
        if env not in self._names:
            self._names[env] = super().names(env)
        return self._names[env]

    def source(self, ref: SlsRef) -> SlsSource | None:
        if ref not in self._sources:
            found = self._sources[ref] = super().source(ref)
            if found is not None:
                self._texts[found.path] = found.text
        return self._sources[ref]

    def source_of(self, ref: SlsRef) -> SlsSource | None:
        """The source of a file; None also if it cannot be read."""
        try:
            return self.source(ref)
        except CompileError:
            return None

    def load(self, ref: SlsRef) -> Document | None:
        self.used.add(ref)
        if ref in self.problems:
            raise self.problems[ref]
        if ref not in self._documents:
            try:
                source = self.source(ref)
                self._documents[ref] = None if source is None else self._renderers.sls(source)
            except CompileError as problem:
                self.problems[ref] = problem
                raise
        return self._documents[ref]

    def file(self, ref: SlsRef) -> SlsFile | None:
        """The parsed file; None if it does not exist or cannot be rendered."""
        if ref not in self._files:
            try:
                document = self.load(ref)
            except CompileError:
                return None
            if document is None:
                return None
            self._files[ref] = parse(document, Findings())
        return self._files[ref]

    def included_files(self, ref: SlsRef) -> list[SlsRef]:
        """The files that a file includes directly."""
        file = self.file(ref)
        return [one for include in file.includes for one in expand(include.ref, self.names)] if file else []

    def reach(self, ref: SlsRef) -> set[SlsRef]:
        """A file and all files that it includes, directly or indirectly."""
        if ref not in self._reached:
            reached, left = {ref}, [ref]
            while left:
                more = [one for one in self.included_files(left.pop()) if one not in reached]
                reached.update(more)
                left += more
            self._reached[ref] = reached
        return self._reached[ref]

    @property
    def is_broken(self) -> bool:
        """True if a requested file could not be loaded; other problems may follow from that."""
        return any(ref in self.problems or self._documents.get(ref) is None for ref in self.used)

    # -- texts ---------------------------------------------------------------------------------------

    def text_of(self, file: str) -> str | None:
        """The text of a file that was read, by its path."""
        return self._texts.get(file)

    def declares(self, id_: str, env: str) -> str:
        """A hint for a message: another file that seems to declare the ID."""
        if id_ not in self._searched and len(self._searched) < MOST_SEARCHED:
            self._searched[id_] = dict(self._search(id_, env))
        for ref, mark in self._searched.get(id_, {}).items():
            if ref not in self.used:
                return f"it is declared in {ref.name!r} ({mark}): include that file"
        return ""

    def _search(self, id_: str, env: str) -> Iterator[tuple[SlsRef, Mark]]:
        pattern = re.compile(rf"^['\"]?{re.escape(id_)}['\"]?:", re.MULTILINE)
        for ref in [SlsRef(env, name) for name in self.names(env)]:
            source = self.source_of(ref)
            found = pattern.search(source.text) if source else None
            if source and found:
                yield ref, Mark(source.path, source.text.count("\n", 0, found.start()) + 1)


def is_late(source: SlsSource) -> bool:
    """True if a file can only be rendered after another state has run."""
    text = source.text
    if PREV_RET not in text and f"#!{WHOLE}" not in text:
        return False
    if text.startswith("#!py") and "@delayed_block" in text:
        return False  # it is given to its blocks
    if MARKER in text:
        try:
            text = cut(text, source.path)[0]
        except CompileError:
            return False  # rendering it reports what is wrong
    return PREV_RET in text or begins_with_whole(text)


def names_block(text: str, name: str) -> bool:
    """True if a text contains the name of a block outside of its tags."""
    lines = (line for line in text.splitlines() if name in line and "delayed_block " not in line)
    return any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", line) for line in lines)
