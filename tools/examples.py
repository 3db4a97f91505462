"""Updates ``examples/*/expected.txt``: the same commands, with their current output.

With ``--check`` nothing is written; the exit code says whether something would be. Names of examples select
only those. An example whose ``needs.txt`` names a program that this machine lacks is left as it is.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from tools import engines
from tools.transcript import commands, transcript

ROOT = Path(__file__).parent.parent

EXPECTED = "expected.txt"
NEEDS = "needs.txt"
SYSTEM = "/usr/sbin:/sbin"  # not in every user's PATH


def examples() -> list[Path]:
    return sorted(file.parent for file in (ROOT / "examples").glob(f"*/{EXPECTED}"))


def lacking(example: Path) -> list[str]:
    """The programs that the example needs and this machine does not have."""
    needs = example / NEEDS
    path = os.pathsep.join((engines.path(), SYSTEM))
    programs = needs.read_text(encoding="utf-8").split() if needs.is_file() else []
    return [program for program in programs if shutil.which(program, path=path) is None]


def printed(example: Path) -> str:
    """What the commands of an example print, run in a copy of it."""
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory).resolve() / example.name
        shutil.copytree(example, copy)
        return transcript(commands((example / EXPECTED).read_text(encoding="utf-8")), copy)


def main(argv: list[str]) -> int:
    stale = 0
    names = [word for word in argv if not word.startswith("-")]
    for example in examples():
        if lacking(example) or (names and example.name not in names):
            continue
        expected = example / EXPECTED
        text = printed(example)
        if text != expected.read_text(encoding="utf-8"):
            stale += 1
            print(f"{expected.relative_to(ROOT)} {'is out of date' if '--check' in argv else 'written'}")
            if "--check" not in argv:
                expected.write_text(text, encoding="utf-8")
    return 1 if stale and "--check" in argv else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
