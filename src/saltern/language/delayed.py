"""Delayed rendering: parts of a tree that are rendered after other states have run.

A *block* is text cut out of a file, or a whole SLS; a *target* is one entry of a state's
``delayed_render``; a *frame* is one render and run of one target.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct, field

from saltern.language.source import Mark, Origin, Path

MARKER = "delayed"  # part of every text with delayed parts; other texts need only one search
PREV_RET = "prev_ret"  # the name of the caller's return in a frame
WORDS: tuple[str, ...] = ("delayed_render", "delayed_blocks", "delayed_slses")
REFRESHABLE: tuple[str, ...] = ("grains", "pillar", "modules")
WHEN: tuple[str, ...] = ("success", "always", "changes", "failure")


class Unlimited(Struct, frozen=True):
    """``delayed_repeat_limit=None``: as often as the run calls it."""


UNLIMITED = Unlimited()
Limit = int | Unlimited


class Words(Struct, frozen=True, kw_only=True):
    """The words of a block's tag. ``limit`` None: the configured one."""

    scoped: bool = False
    limit: Limit | None = None
    refresh: frozenset[str] = frozenset()


class Block(Struct, frozen=True, kw_only=True):
    """Text that is rendered later. Lines before it are blank, so that its line numbers are those of the file.

    ``outer`` are the names of the blocks around it. ``call`` is a function of a ``#!py`` file in
    place of text.
    """

    name: str
    file: str
    line: int
    text: str = ""
    words: Words = Words()
    outer: tuple[str, ...] = ()
    call: Callable[[object], object] | None = None

    @property
    def mark(self) -> Mark:
        return Mark(self.file, self.line)

    @property
    def definition(self) -> tuple[str, ...]:
        """The key by which the repeat limit counts."""
        return (self.file, *self.outer, self.name)


class BlockScope(Struct, kw_only=True, eq=False):
    """The blocks of one rendered text, and the parts of it that they can access.

    ``variables`` are the template's own names at the end of its render; ``imported`` are blocks of templates
    that were only imported; ``home`` belongs to the renderers. A ``partial`` scope was read from a journal:
    macros, imports and functions must be made again from the text.
    """

    blocks: dict[str, Block] = field(default_factory=dict)
    imported: dict[str, Mark] = field(default_factory=dict)
    variables: Mapping[str, object] = field(default_factory=dict)
    outer: BlockScope | None = None
    home: object = None
    partial: bool = False

    def find(self, name: str) -> tuple[Block, BlockScope] | None:
        """The block of this name, here or in a surrounding scope, with its scope."""
        return next(((scope.blocks[name], scope) for scope in self.outwards() if name in scope.blocks), None)

    def names(self) -> Iterator[str]:
        return (name for scope in self.outwards() for name in scope.blocks)

    def outwards(self) -> Iterator[BlockScope]:
        """This scope, then the surrounding ones."""
        scope: BlockScope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer


NO_BLOCKS = BlockScope()


def scope_of(origin: Origin) -> BlockScope:
    """The scope of an origin; only a rendered file has blocks."""
    scope: BlockScope = getattr(origin, "blocks", NO_BLOCKS)
    return scope


class Target(Struct, frozen=True, kw_only=True):
    """One entry of ``delayed_render``, resolved and checked.

    ``scope`` is that of the file that wrote the entry; ``definition`` is what the repeat limit
    counts; ``source`` is the text of an SLS at the beginning of the run.
    """

    kind: str  # block or sls
    name: str
    when: str = "success"
    context: Mapping[str, object] = field(default_factory=dict)
    block: Block | None = None
    source: object = None
    words: Words = Words()
    scope: BlockScope
    definition: tuple[str, ...] = ()
    origin: Origin | None = None
    path: Path = ()

    @property
    def title(self) -> str:
        return self.name if self.kind == "block" else f"sls:{self.name}"

    def mark(self) -> Mark | None:
        """The place of the entry."""
        return self.origin.mark(self.path) if self.origin else None

    def place(self) -> Mark:
        """The beginning of its block or file."""
        if self.block is not None:
            return self.block.mark
        return Mark(str(getattr(self.source, "path", self.name)), 1)


class Frame(Struct, frozen=True, kw_only=True):
    """One render and run of a target. ``path`` reads ``caller>block#1``; ``caller`` is a run number."""

    path: str
    kind: str
    name: str
    where: Mark
    depth: int
    caller: int
    parent: str  # the caller's tag
    jid: str
    parent_jid: str
    first: int = 0  # the number of its first state
    states: int = 0
    took: float = 0.0
    scoped: bool = False
