"""The result of rendering: data, and the place of any value in the user's file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache

from msgspec import Struct, field

from saltern.language.delayed import NO_BLOCKS, Block, BlockScope
from saltern.language.diagnostics import Diagnostic
from saltern.language.source import Mark, Path, SlsRef

SMALL = 4096  # characters
LineMap = Callable[[], list[int]]
Finder = Callable[[str, Path], tuple[int, int]]


_DECLARES = r"""(?P<quote>['"]?)(?P<id>[^\s#'"-].*?)(?P=quote)\s*:(?=\s|$)"""
_EXPRESSION = r"\{\{.*?\}\}"


class Rendered(Struct):
    """The result of a pipe of renderers so far."""

    text: str
    lines: LineMap | None = None
    secrets: tuple[str, ...] = ()  # parts of the text that were decrypted


class Harvest(Struct):
    """What a render yields besides its text: delayed blocks, and the template's own names."""

    blocks: list[Block] = field(default_factory=list)
    imported: list[Block] = field(default_factory=list)
    variables: Mapping[str, object] = field(default_factory=dict)


class Job(Struct, frozen=True, kw_only=True):
    """One render: the origin of the text, and the names that it sees."""

    env: str
    sls: str
    name: str  # relative to the root
    file: str  # the path for the user
    values: Mapping[str, object]
    purpose: str = "sls"
    argline: str = ""
    seconds: float = 30.0  # of CPU time, for renderers that run code
    harvest: Harvest | None = None
    part: str = ""  # the delayed block of the file
    keeps_order: bool = False  # of keys
    source: str = ""  # the text of the file, for renderers that report lines of it
    decrypted: dict[str, str | bytes] = field(
        default_factory=dict
    )  # decrypted in this run, by encrypted text
    warnings: list[Diagnostic] = field(default_factory=list)


class Document:
    """One rendered file. Implements ``language.source.Origin``.

    ``text`` is the output of the last text renderer (the input of YAML); ``lines`` gives, for each
    line of it, the line in the file. Both are used only when a problem is reported. ``above`` is how
    many lines of the file are above its text.
    """

    __slots__ = (
        "_above",
        "_find",
        "_known",
        "_lines",
        "_source",
        "blocks",
        "data",
        "file",
        "is_init",
        "ref",
        "text",
    )

    def __init__(
        self,
        ref: SlsRef,
        data: object,
        *,
        file: str,
        source: str,
        text: str | None = None,
        lines: LineMap | None = None,
        find: Finder,
        is_init: bool = False,
        blocks: BlockScope = NO_BLOCKS,
        above: int = 0,
    ) -> None:
        self.ref = ref
        self.data = data
        self.file = file
        self.is_init = is_init
        self.blocks = blocks
        self.text = source if text is None else text
        self._source = source
        self._lines = lines
        self._find = find
        self._above = above
        self._known: dict[Path, Mark] | None = None

    @property
    def source(self) -> str:
        """The text of the file."""
        return self._source

    def mark(self, path: Path = ()) -> Mark:
        """The place of the value at ``path``; the file alone if it has no lines (``#!py``)."""
        if self._known is not None:
            return self._known.get(path) or Mark(self.file)
        line, column = self._find(self.text, path)
        return self.place(line, column)

    def place(self, line: int, column: int = 0) -> Mark:
        """The place in the file of a place in the rendered text."""
        if not line:
            return Mark(self.file)
        return place(self.file, self._source, self.text, self._lines, line, column, above=self._above)

    def marks(self, paths: Iterable[Path]) -> Iterator[Mark]:
        """The places of many values; the text is parsed once."""
        if self._known is not None or self._lines is None:
            yield from map(self.mark, paths)
            return
        rows, above = self._lines(), self._above
        written, shown = self._source.splitlines(), self.text.splitlines()
        for path in paths:
            line, column = self._find(self.text, path)
            yield (
                _source_mark(self.file, written, shown, rows, line, column, above)
                if line
                else Mark(self.file)
            )

    def settle(self, paths: Iterable[Path]) -> None:
        """Everything in it has run, and only the places of ``paths`` are still needed.

        A large text is dropped; a small one takes no more memory than its answers.
        """
        self.data, self.blocks = None, NO_BLOCKS
        if self._known is None and len(self.text) + len(self._source) > SMALL:
            self._known = {path: self.mark(path) for path in paths}
            self.text = self._source = ""
            self._lines = None


def place(
    file: str, source: str, text: str, lines: LineMap | None, line: int, column: int, *, above: int = 0
) -> Mark:
    if lines is None:
        return Mark(file, line + above, column)
    return _source_mark(file, source.splitlines(), text.splitlines(), lines(), line, column, above)


def _source_mark(
    file: str, source: list[str], text: list[str], rows: list[int], line: int, column: int, above: int
) -> Mark:
    """The place in the file of a place in rendered text; ``rows`` has the file line of each
    rendered line.
    """
    origin = rows[line - 1] if line <= len(rows) else (rows[-1] if rows else 0)
    # The column holds only where the template did not change the text before it.
    written = source[origin - above - 1 : origin - above] if origin > above else []
    shown = text[line - 1 : line]
    same = bool(written and shown) and written[0][: column - 1] == shown[0][: column - 1]
    return Mark(file, origin, column if same else 0)


def find_word(text: str, path: Path) -> tuple[int, int]:
    """Where data has no lines of its own (``#!py``, TOML, a journal): the line of the function below the ID,
    that which declares the ID, as it is or in a template, or else the first place that spells it."""
    for word in map(str, path[:1]):
        line = _declaring_line(text, word)
        if line:
            return _key_below(text.splitlines()[line - 1 :], path[1:2], line)
        at = text.find(word)
        if at >= 0:
            before = text[:at].splitlines(keepends=True) or [""]
            fresh = before[-1].endswith("\n")
            return (len(before) + 1, 1) if fresh else (len(before), len(before[-1]) + 1)
    return 0, 0


def _key_below(rows: list[str], path: Path, line: int) -> tuple[int, int]:
    """The place of a key in the body of the ID that the first row declares; that of the ID without one."""
    import re

    for key in map(str, path):
        spelled = rf"""(?P<key>(?P<quote>['"]?){re.escape(key)}(?P=quote)\s*:(?=\s|$))"""
        if found := re.search(rf"[{{,]\s*{spelled}", rows[0]):
            return line, found.start("key") + 1
        for number, row in enumerate(rows[1:], line + 1):
            if re.match(r"(?!\{[%#])[^\s#]", row):
                break  # the next ID
            if found := re.match(rf"\s+{spelled}", row):
                return number, found.start("key") + 1
    return line, 1


def _declaring_line(text: str, word: str) -> int:
    """The only line that can declare the word; 0 if there is none, or several."""
    exact, templates = _declarations(text)
    if word in exact:
        return exact[word]
    import re

    likely: dict[int, list[int]] = {}
    for number, literals in templates:
        if re.fullmatch(".*".join(map(re.escape, literals)), word):
            likely.setdefault(sum(map(len, literals)), []).append(number)
    best = likely[max(likely)] if likely else []
    return best[0] if len(best) == 1 else 0


@lru_cache(maxsize=64)
def _declarations(text: str) -> tuple[dict[str, int], list[tuple[int, list[str]]]]:
    """The lines that begin with an ID; and those that contain a template, by the text around it."""
    import re

    exact: dict[str, int] = {}
    templates: list[tuple[int, list[str]]] = []
    for number, row in enumerate(text.splitlines(), 1):
        found = re.match(_DECLARES, row)
        if found and "{{" in found["id"]:
            templates.append((number, re.split(_EXPRESSION, found["id"])))
        elif found:
            exact.setdefault(found["id"], number)
    return exact, templates


def forget_lines() -> None:
    """Forget the texts whose lines were searched."""
    _declarations.cache_clear()
