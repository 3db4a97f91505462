"""Runs the blocks in README and docs.

A comment before a fenced block says what to do with it::

    <!-- run in examples/hello -->                       ```console: run, compare with what follows
    <!-- run in an empty directory -->                   the same, where the page's own files are
    <!-- write states/a.sls in an empty directory -->    ```yaml: a file
    <!-- append to states/a.sls in an empty directory -->
    <!-- run in a fleet -->                              with a controller and the systems db1, web1 and web2

All blocks of a page that name the same place share one copy of it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from tools.transcript import environment, missing, run, steps

ROOT = Path(__file__).parent.parent
FLEET, SYSTEMS = "a fleet", ("db1", "web1", "web2")
BLOCK = re.compile(
    r"<!-- (?P<verb>run|write|append to) ?(?P<file>\S+\.\w+)? in (?P<place>.+?) -->\n"
    r"```\w+\n(?P<text>.*?)```\n",
    re.DOTALL,
)


class Block(Struct, frozen=True):
    verb: str
    file: str
    place: str
    text: str


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(found["verb"], found["file"] or "", found["place"], found["text"])
        for found in BLOCK.finditer(text)
    ]


def runnable() -> list[Path]:
    """Pages with at least one block to run."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in pages if blocks(page)]


def problems(page: Path, scratch: Path) -> Iterator[str]:
    """The differences between a page and what saltern does."""
    with ExitStack() as kept:
        places: dict[str, Path] = {}
        for block in blocks(page):
            if block.place not in places:
                places[block.place] = _place(block.place, scratch, kept)
            yield from _done(block, places[block.place])


def _done(block: Block, directory: Path) -> Iterator[str]:
    """Run a block, or write its file."""
    if block.verb == "run":
        yield from _compared(block.text, directory)
        return
    file = directory / block.file
    file.parent.mkdir(parents=True, exist_ok=True)
    before = file.read_text(encoding="utf-8") + "\n" if block.verb == "append to" else ""
    file.write_text(before + block.text, encoding="utf-8")


def _place(name: str, scratch: Path, kept: ExitStack) -> Path:
    if name == FLEET:
        return kept.enter_context(_fleet())
    directory = scratch / name.replace("/", "-").replace(" ", "-")
    if not directory.exists():
        if name == "an empty directory":
            directory.mkdir(parents=True)
        else:
            shutil.copytree(ROOT / name, directory)
    return directory


@contextmanager
def _fleet() -> Iterator[Path]:
    """A directory with a fleet that runs; its path is short, since sockets have paths of 107 characters."""
    from saltern.cli.local_fleet import LocalFleet

    with TemporaryDirectory(prefix="sf-", ignore_cleanup_errors=True) as directory:
        here = Path(directory).resolve()
        fleet = LocalFleet(str(here), environment(here))
        fleet.write("controller/pillar/top.sls", "base:\n  '*':\n    - place\n")
        fleet.write("controller/pillar/place.sls", f"place: {here}/systems\n")
        fleet.write("controller/salt/top.sls", "base: {}\n")
        try:
            fleet.start(SYSTEMS)
            yield here
        finally:
            fleet.stop()


def _compared(text: str, directory: Path) -> Iterator[str]:
    for command, said in steps(text):
        printed = run(command, directory)
        line = missing(said, printed)
        if line is not None:
            yield f"$ {command}\nthe page says: {line}\nit prints:\n{printed}"
