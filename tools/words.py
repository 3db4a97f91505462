"""``python -m tools.words``: finds words that the project avoids.

The table "Words" in ``CONTRIBUTING.md`` says which words, what to write instead, and the exceptions of each:
a path, under which it is not looked for, or a phrase, in which it has another meaning. ``--check`` fails if a
word is used elsewhere, and notes which exceptions are not needed any more.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

ROOT = Path(__file__).resolve().parent.parent
TABLE = "CONTRIBUTING.md"
HEADING = "## Words"
SCANNED = ("src/saltern/**/*.py", "docs/**/*.md", "README.md")
CODE = re.compile(r"`[^`]*`")
FENCE = "```"


class Row(Struct, frozen=True):
    """Words to avoid, what to use instead, and where they are allowed."""

    words: tuple[str, ...]
    instead: str
    paths: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()

    @property
    def pattern(self) -> re.Pattern[str]:
        """Whole words in text, and parts of names: ``told`` is in ``_told``, ``told_of`` and ``Told``."""
        words = "|".join(re.escape(word) for word in self.words)
        return re.compile(rf"(?<![A-Za-z])(?:{words})(?![a-z])", re.IGNORECASE)


class Hit(Struct, frozen=True):
    file: str
    line: int
    word: str
    row: Row


def read_table(text: str) -> list[Row]:
    """The rows of the table under the heading."""
    _, found, rest = text.partition(f"\n{HEADING}\n")
    if not found:
        raise SystemExit(f"{TABLE} has no heading {HEADING!r}")
    lines = [line for line in rest.partition("\n## ")[0].splitlines() if line.startswith("|")]
    return [_row([cell.strip() for cell in line.strip("|").split("|")]) for line in lines[2:]]


def _row(cells: list[str]) -> Row:
    if len(cells) != 3:
        raise SystemExit(f"{TABLE}: a row of {HEADING!r} has {len(cells)} cells, not 3: {cells[0]}")
    exceptions = [one.strip("`") for one in CODE.findall(cells[2])]
    return Row(
        words=tuple(word.strip() for word in cells[0].split(",")),
        instead=cells[1],
        paths=tuple(one for one in exceptions if "/" in one or one.endswith(".md")),
        phrases=tuple(one for one in exceptions if not ("/" in one or one.endswith(".md"))),
    )


def texts(root: Path) -> Iterator[tuple[str, list[str]]]:
    """Each file that is scanned, with its lines."""
    for pattern in SCANNED:
        for path in sorted(root.glob(pattern)):
            lines = path.read_text(encoding="utf-8").splitlines()
            yield path.relative_to(root).as_posix(), prose(lines) if path.suffix == ".md" else lines


def prose(lines: Iterable[str]) -> list[str]:
    """The lines of a page without its code, which is the user's or a program's."""
    found, fenced = [], False
    for line in lines:
        opens = line.lstrip().startswith(FENCE)
        found.append("" if fenced or opens else CODE.sub("", line))
        fenced = fenced is not opens
    return found


def hits(rows: list[Row], files: Iterable[tuple[str, list[str]]]) -> Iterator[Hit]:
    """Every use of a word outside of the allowed phrases, including those in allowed paths."""
    patterns = [(row, row.pattern) for row in rows]
    for file, lines in files:
        whole = "\n".join(lines)
        for row, pattern in patterns:
            if pattern.search(whole) is None:
                continue
            for number, line in enumerate(lines, 1):
                for word in pattern.findall(_without(line, row.phrases)):
                    yield Hit(file, number, word, row)


def _without(line: str, phrases: tuple[str, ...]) -> str:
    for phrase in phrases:
        line = re.sub(re.escape(phrase), "", line, flags=re.IGNORECASE)
    return line


def is_excepted(hit: Hit) -> bool:
    return any(hit.file.startswith(path) for path in hit.row.paths)


def unneeded(rows: list[Row], found: list[Hit]) -> list[tuple[Row, str]]:
    """Excepted paths that no longer have any of the words."""
    return [
        (row, path)
        for row in rows
        for path in row.paths
        if not any(hit.row is row and hit.file.startswith(path) for hit in found)
    ]


def problems(found: list[Hit]) -> list[str]:
    """One line for each use of a word where it is not excepted."""
    return [
        f"{hit.file}:{hit.line}: {hit.word!r} is not used here: {hit.row.instead}"
        for hit in found
        if not is_excepted(hit)
    ]


def notes(rows: list[Row], found: list[Hit]) -> list[str]:
    """One line for each exception that is no longer needed."""
    return [
        f"{TABLE}: {path} has no {', '.join(row.words)} any more: remove the exception"
        for row, path in unneeded(rows, found)
    ]


def main(argv: list[str]) -> int:
    rows = read_table((ROOT / TABLE).read_text(encoding="utf-8"))
    found = list(hits(rows, texts(ROOT)))
    if argv == ["--check"]:
        wrong = problems(found)
        for line in [*notes(rows, found), *wrong]:
            print(line, file=sys.stderr)
        return 1 if wrong else 0
    counts = Counter(("/".join(hit.file.split("/")[:3]), hit.row.words[0]) for hit in found)
    for (folder, word), count in sorted(counts.items()):
        print(f"{count:6} {word:12} {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
