"""Files that are rendered elsewhere: what a run asks for, what it gets, and the resulting document.

A run on an agent does not have the text of a file that is rendered on the controller. It asks for the data;
delayed blocks of the file stay with the text, and are known here by their names, places and
scope.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from saltern.language.delayed import NO_BLOCKS, UNLIMITED, Block, BlockScope, Unlimited, Words
from saltern.language.source import Mark, Path, SlsRef
from saltern.render.document import Document, Finder, find_word
from saltern.render.remote_port import RemoteHome
from saltern.sources.tree import SlsSource

OWN = "@/"  # the prefix of a path below a root that is the same on every machine
DEEPEST = 4  # the longest path whose place is sent
MOST_PLACES = 20_000


class Question(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file (``env``, ``sls``, its ``name`` below the root), or a block of a scope that was sent before;
    with the names that its template sees.

    ``values``: names from outside the file. ``previous``: the return of the calling state, which is
    ``parent`` in the run. ``rendered``: the files that the run has rendered so far. Without ``block`` and
    ``name``, it asks for the variables of ``scope``.
    """

    env: str = ""
    sls: str = ""
    name: str = ""
    scope: str = ""
    block: str = ""
    parent: str = ""
    values: dict[str, Any] = {}
    previous: dict[str, Any] | None = None
    rendered: list[str] = []
    refresh: list[str] = []


class SentBlock(Struct, frozen=True, array_like=True):
    """A block without its text. ``limit``: -1 for no limit."""

    name: str
    file: str
    line: int
    outer: list[str]
    scoped: bool
    limit: int | None
    refresh: list[str]


class SentProblem(Struct, frozen=True, array_like=True):
    """Why there is no data: a code and a place. The content of the file is not quoted."""

    code: str
    what: str
    file: str = ""
    line: int = 0
    column: int = 0


class Sent(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of rendering a file or a block.

    ``places``: of values, by their paths. ``written``: texts that call functions or refer to returns, and
    that the file contains literally. ``scope`` is the name for requesting its blocks. With
    ``problems``, everything else is empty.
    """

    data: Any = None
    file: str = ""
    is_init: bool = False
    places: list[tuple[list[Any], int, int]] = []
    written: list[str] = []
    scope: str = ""
    blocks: list[SentBlock] = []
    imported: dict[str, tuple[str, int]] = {}
    secrets: list[bytes] = []
    variables: dict[str, Any] = {}
    problems: list[SentProblem] = []


class RootNames:
    """Paths below roots in a form that all machines with the same tree share:
    ``@/ENVIRONMENT/NUMBER/PATH``.
    """

    def __init__(self, roots: Mapping[str, Sequence[str]]) -> None:
        self._roots = {
            f"{OWN}{env}/{at}/": f"{root}/" for env, some in roots.items() for at, root in enumerate(some)
        }

    def shared_path(self, path: str, env: str) -> str:
        """The shared form of a path; unchanged if it is below no root. The roots of ``env`` come first."""
        below = [(name, root) for name, root in self._roots.items() if path.startswith(root)]
        below.sort(key=lambda one: (not one[0].startswith(f"{OWN}{env}/"), -len(one[1])))
        return f"{below[0][0]}{path.removeprefix(below[0][1])}" if below else path

    def here(self, path: str) -> str:
        """The path on this machine."""
        if not path.startswith(OWN):
            return path
        head = next((name for name in self._roots if path.startswith(name)), "")
        return f"{self._roots[head]}{path.removeprefix(head)}" if head else path


# -- sending --------------------------------------------------------------------------------------


def sent_blocks(scope: BlockScope) -> list[SentBlock]:
    return [
        SentBlock(
            block.name,
            block.file,
            block.line,
            list(block.outer),
            block.words.scoped,
            -1 if isinstance(block.words.limit, Unlimited) else block.words.limit,
            sorted(block.words.refresh),
        )
        for block in scope.blocks.values()
    ]


def places(document: Document) -> list[tuple[list[Any], int, int]]:
    """The places of the values of a document, for receivers without its text."""
    paths = [path for path, _ in zip(_paths(document.data, ()), range(MOST_PLACES), strict=False)]
    marks = document.marks(paths)
    return [
        (list(path), mark.line, mark.column) for path, mark in zip(paths, marks, strict=True) if mark.line
    ]


def _paths(value: object, path: Path) -> Iterator[Path]:
    if len(path) == DEEPEST:
        return
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key is None or isinstance(key, str | int | float | bool):
                yield (*path, key)
                yield from _paths(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield (*path, index)
            yield from _paths(inner, (*path, index))
            if isinstance(inner, str):
                yield (*path, inner)
            elif isinstance(inner, Mapping):  # an item with one key is found by that key, too
                yield from _paths(inner, path)


# -- receiving --------------------------------------------------------------------------------


def made_document(sent: Sent, source: SlsSource, token: str, outer: BlockScope | None = None) -> Document:
    """The document of an answer. Its text has only the IDs, at their lines."""
    text = _outline(sent)
    scope = NO_BLOCKS
    if sent.scope:
        blocks = {one.name: _block(one, token) for one in sent.blocks}
        imported = {name: Mark(*mark) for name, mark in sent.imported.items()}
        home = RemoteHome(source, sent.scope)
        scope = BlockScope(blocks=blocks, imported=imported, outer=outer, home=home)
    return Document(
        SlsRef(source.ref.env, source.ref.name),
        sent.data,
        file=sent.file,
        source=text,
        find=_finder(sent.places),
        is_init=sent.is_init,
        blocks=scope,
    )


def _outline(sent: Sent) -> str:
    """The ID of each state at its line, so that a journal, which keeps this text, finds the line again."""
    lines: dict[int, str] = {}
    for path, line, column in sent.places:
        if len(path) == 1 and line not in lines:
            lines[line] = f"{' ' * (column - 1)}{path[0]}:"
    rows = [lines.get(number, "") for number in range(1, max(lines, default=0) + 1)]
    return "\n".join([*rows, *sent.written])


def _finder(sent: Sequence[tuple[list[Any], int, int]]) -> Finder:
    known: dict[tuple[object, ...], tuple[int, int]] = {}
    for path, line, column in sent:
        known.setdefault(_key(path), (line, column))

    def find(text: str, path: Path) -> tuple[int, int]:
        """The place of the value, or of the innermost known value around it."""
        for length in range(len(path), 0, -1):
            if (place := known.get(_key(path[:length]))) is not None:
                return place
        return find_word(text, path)

    return find


def _key(path: Sequence[object]) -> tuple[object, ...]:
    """A key that distinguishes 1, 1.0 and True, which differ as keys in YAML."""
    return tuple((step.__class__.__name__, step) for step in path)


def _block(one: SentBlock, token: str) -> Block:
    """The block with a token in place of its text, so that a changed file has different blocks."""
    limit = UNLIMITED if one.limit == -1 else one.limit
    words = Words(scoped=one.scoped, limit=limit, refresh=frozenset(one.refresh))
    return Block(name=one.name, file=one.file, line=one.line, text=token, words=words, outer=tuple(one.outer))


def with_limit(block: SentBlock, limit: int | None) -> SentBlock:
    """The block with the controller's limit, if its tag has none."""
    return replace(block, limit=limit) if block.limit is None else block
