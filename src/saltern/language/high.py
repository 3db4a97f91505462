"""High data: the declarations of the SLS files, before any processing."""

from __future__ import annotations

from msgspec import Struct, field

from saltern.language.source import Mark, Origin, Path, SlsRef


class Added(Struct, frozen=True):
    """Entries of an argument, from ``start`` on, that an ``extend`` added; ``path`` leads to its state."""

    word: str
    start: int
    origin: Origin
    path: Path


class Declaration(Struct, kw_only=True, gc=False):
    """One state type under one ID.

    ``items`` is the argument list in Salt's long form: single-key mappings and exactly
    one word, the function. ``key`` is its spelling in the file (``pkg.installed``).
    """

    id: str
    state: str
    key: str
    items: list[object]
    ref: SlsRef
    origin: Origin
    words: frozenset[str] = frozenset()  # the engine's words among its arguments
    included_from: tuple[str, ...] = ()
    added: tuple[Added, ...] = ()
    order: int | None = None

    def mark(self, *path: object) -> Mark:
        return self.origin.mark((self.id, self.key, *path))

    @property
    def fun(self) -> str:
        return next((item for item in self.items if isinstance(item, str)), "")


class Extension(Struct, frozen=True, kw_only=True):
    """One ID of an ``extend: {id: {key: [...]}}``, in the order of the file."""

    id: str
    bodies: dict[str, object]
    ref: SlsRef
    origin: Origin

    def mark(self, *path: object) -> Mark:
        return self.origin.mark(("extend", self.id, *path))


class Exclusion(Struct, frozen=True, kw_only=True):
    """``exclude: [{id: x}]`` or ``exclude: [{sls: y}]``; exactly one is set."""

    id: str = ""
    sls: str = ""
    raw: object = None
    origin: Origin | None = None  # none for an ID from the command line
    index: int = 0

    def mark(self) -> Mark | None:
        return self.origin.mark(("exclude", self.index)) if self.origin else None


class Include(Struct, frozen=True):
    ref: SlsRef
    index: int  # its index in the list


class SlsFile(Struct, kw_only=True):
    """One rendered file, parsed."""

    ref: SlsRef
    origin: Origin
    includes: list[Include] = field(default_factory=list)
    declarations: list[Declaration] = field(default_factory=list)
    extensions: list[Extension] = field(default_factory=list)
    exclusions: list[Exclusion] = field(default_factory=list)


class High(Struct, kw_only=True):
    """All files of a run, in definition order."""

    declarations: list[Declaration] = field(default_factory=list)
    extensions: list[Extension] = field(default_factory=list)
    exclusions: list[Exclusion] = field(default_factory=list)
    files: dict[SlsRef, SlsFile] = field(default_factory=dict)
