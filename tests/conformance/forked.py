"""``compare.py`` of the suite, with each command in a process forked from one that has imported all."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

from tests.e2e.command import forked

SUITE = Path(__file__).parent / "suite"


def run_command(argv: list[str], workdir: str, _timeout: int) -> tuple[int, str, str]:
    """The exit code, the output and the messages; ``argv`` names no program."""
    done = forked(argv, Path(workdir))
    return done.code, done.out, done.err


def main() -> int:
    sys.path.insert(0, str(SUITE))
    compare = importlib.import_module("compare")
    vars(compare)["run_command"] = run_command
    os.umask(0o022)
    code: int = compare.main(["--saltern", "", *sys.argv[1:]])
    return code


if __name__ == "__main__":
    sys.exit(main())
