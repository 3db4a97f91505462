"""The named files and all their includes, in definition order.

The rule: the includes of a file come before its own states, in the order of the list, each file
once. Every state without its own order then gets the next number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from saltern.compiler.parse import parse
from saltern.language.diagnostics import CompileError, Diagnostics, did_you_mean
from saltern.language.high import Declaration, High, Include, SlsFile
from saltern.language.patterns import is_pattern
from saltern.language.source import Mark, SlsRef

if TYPE_CHECKING:
    from saltern.compiler.ports import Loader

FIRST_ORDER = 10000
MOST_SUGGESTED = 20


class _Open(Struct):
    """A file whose includes are being visited."""

    file: SlsFile
    left: Iterator[Include]


def gather(refs: Sequence[SlsRef], loader: Loader, found: Diagnostics, *, auto_order: bool = True) -> High:
    return _Gathering(loader, found, auto_order).all(refs)


def expand(ref: SlsRef, names: Callable[[str], list[str]]) -> list[SlsRef]:
    """Expand a pattern to the names it matches; a pattern without matches stays as it is."""
    if is_pattern(ref.name):
        from fnmatch import fnmatchcase

        matched = [name for name in names(ref.env) if fnmatchcase(name, ref.name)]
        if matched:
            return [SlsRef(ref.env, name) for name in matched]
    return [ref]


class _Gathering:
    def __init__(self, loader: Loader, found: Diagnostics, auto_order: bool) -> None:
        self.loader = loader
        self.found = found
        self.auto_order = auto_order
        self.high = High()
        self.seen: set[SlsRef] = set()
        self.ids: dict[str, Declaration] = {}
        self.next = FIRST_ORDER
        self.suggested = 0

    def all(self, refs: Sequence[SlsRef]) -> High:
        for ref in refs:
            for one in expand(ref, self.loader.names):
                self.visit(one)
        return self.high

    def visit(self, ref: SlsRef) -> None:
        """Visit a file and its includes depth first, without recursion: include chains may be long."""
        first = self.open(ref)
        stack = [first] if first else []
        while stack:
            top = stack[-1]
            include = next(top.left, None)
            if include is None:
                stack.pop()
                self.close(top.file, tuple(below.file.ref.name for below in reversed(stack)))
            elif (inner := self.open(include.ref, top.file, include)) is not None:
                stack.append(inner)

    def open(
        self, ref: SlsRef, parent: SlsFile | None = None, include: Include | None = None
    ) -> _Open | None:
        if ref in self.seen:
            return None
        self.seen.add(ref)
        if not self.loader.knows(ref.env):
            self.missing_env(ref, self.where(ref, parent, include))
            return None
        try:
            document = self.loader.load(ref)
        except CompileError as problem:
            self.found.add(problem.diagnostics)
            return None
        if document is None:
            self.report_missing(ref, self.where(ref, parent, include))
            return None
        file = parse(document, self.found)
        self.high.files[ref] = file
        self.high.extensions += file.extensions
        self.high.exclusions += file.exclusions
        return _Open(file, self.expand_includes(file))

    def expand_includes(self, file: SlsFile) -> Iterator[Include]:
        for include in file.includes:
            for ref in expand(include.ref, self.loader.names):
                yield Include(ref, include.index)

    def close(self, file: SlsFile, ancestors: tuple[str, ...]) -> None:
        """Add the states of a file whose includes are done."""
        ids, auto, number = self.ids, self.auto_order, self.next
        for declared in file.declarations:
            first = ids.setdefault(declared.id, declared)
            if first.origin is not declared.origin:
                self.conflict(declared, first)
                continue
            if ancestors:
                declared.included_from = ancestors
            if auto and "order" not in declared.words:
                declared.order = number
                number += 1
            self.high.declarations.append(declared)
        self.next = number

    def conflict(self, declared: Declaration, first: Declaration) -> None:
        self.found.error(
            "id-conflict",
            f"the ID {declared.id!r} is declared in two files",
            where=declared.origin.mark((declared.id,)),
            fix="rename one of them, or change the first with extend",
            also=(("also in", first.origin.mark((first.id,))),),
        )

    def report_missing(self, ref: SlsRef, where: Mark | None) -> None:
        path = ref.name.replace(".", "/")
        places = f"it would be {path}.sls or {path}/init.sls in a file root" if ".." not in path else ""
        self.found.error(
            "sls-not-found",
            f"no SLS is called {ref.name!r} in saltenv {ref.env!r}",
            where=where,
            fix=self.suggestion(ref) or places,
        )

    def suggestion(self, ref: SlsRef) -> str:
        """A suggestion for a missing file; only for the first few, since it searches the whole tree."""
        self.suggested += 1
        if ref.name.endswith(".sls"):
            return f"leave out '.sls': {ref.name.removesuffix('.sls')!r}"
        return did_you_mean(ref.name, self.loader.names(ref.env)) if self.suggested <= MOST_SUGGESTED else ""

    def missing_env(self, ref: SlsRef, where: Mark | None) -> None:
        self.found.error(
            "env-not-found",
            f"no saltenv is called {ref.env!r}",
            where=where,
            fix="name it in file_roots, or with --file-root ENV=DIR",
        )

    def where(self, ref: SlsRef, parent: SlsFile | None, include: Include | None) -> Mark | None:
        if parent is None or include is None:
            return self.loader.where(ref)
        return parent.origin.mark(("include", include.index))
