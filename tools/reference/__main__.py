"""``python -m tools.reference``: write the pages. With ``--check``, only report which are out of date."""

from __future__ import annotations

import sys
from pathlib import Path

from saltern.modules.api.registry import Registry
from tools.reference import chain_tests, errors, man, modules, tables

TARGET = Path(__file__).parent.parent.parent / "docs" / "reference"
CHAIN_TESTS = "../internals/numbered-chain-tests.md"
CODES = "../../src/saltern/views/codes.json"  # the page of errors as data, in the package
BY_HAND = frozenset({"index.md", "delayed.md", "step-format.md"})


def pages() -> dict[str, str]:
    """Every generated page: its path below docs/reference, and its text."""
    made = {name: make() for name, make in tables.PAGES.items()}
    made["errors.md"] = errors.errors()
    made[CODES] = errors.shipped()
    made[CHAIN_TESTS] = chain_tests.chain_tests()
    made |= modules.pages(Registry())
    made |= man.pages()
    return made


def stale(made: dict[str, str]) -> list[str]:
    """Pages that differ from those on disk, including those that are no longer generated."""
    present = {str(file.relative_to(TARGET)) for file in TARGET.rglob("*.md")} - BY_HAND
    present |= {f"{man.FOLDER}/{file.name}" for file in (TARGET / man.FOLDER).glob("*.1")}
    differ = {name for name, text in made.items() if _read(name) != text}
    return sorted(differ | (present - made.keys()))


def _read(name: str) -> str | None:
    file = TARGET / name
    return file.read_text(encoding="utf-8") if file.is_file() else None


def write(made: dict[str, str]) -> None:
    for name in stale(made):
        file = TARGET / name
        if name in made:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(made[name], encoding="utf-8")
        else:
            file.unlink()


def main(argv: list[str]) -> int:
    made = pages()
    old = stale(made)
    if "--check" not in argv:
        write(made)
    for name in old:
        print(
            f"docs/reference/{name} {'is out of date: run `make docs`' if '--check' in argv else 'written'}"
        )
    return 1 if old and "--check" in argv else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
