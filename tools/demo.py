"""``make demo``: runs the commands of ``examples/demo`` in a temporary copy, with a sentence before each.

Needs no privileges, and leaves nothing behind.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.transcript import environment, steps

ROOT = Path(__file__).parent.parent

EXAMPLE = ROOT / "examples" / "demo"
WORDS = (
    "In test mode: what would change? Nothing is changed.",
    "For real: every state runs, and the command that watches the file reacts.",
    "Again: everything is already as described, so nothing changes.",
    "With another port in the pillar: one file differs, and the command reacts again.",
    "A tree with mistakes: each is reported with its file and line, and nothing runs.",
)
EXPECTED_CODES = (0, 0, 0, 0, 3)


def main() -> int:
    expected = (EXAMPLE / "expected.txt").read_text(encoding="utf-8")
    good = True
    with tempfile.TemporaryDirectory(prefix="saltern-demo-") as directory:
        copy = Path(directory).resolve() / "demo"
        shutil.copytree(EXAMPLE, copy)
        for number, ((command, _), word, code) in enumerate(
            zip(steps(expected), WORDS, EXPECTED_CODES, strict=True), 1
        ):
            print(f"\n=== {number}. {word}\n$ {command}", flush=True)
            good &= _ended(command, copy) == code
    print(
        "\nThe temporary directory has been removed."
        if good
        else "\nThe output differs from the expected one."
    )
    print("Next: README.md, then docs/getting-started/first-state.md")
    return 0 if good else 1


def _ended(command: str, directory: Path) -> int:
    words = shlex.split(command.replace("$PWD", str(directory)))[1:]
    call = [sys.executable, "-m", "saltern", *words]
    return subprocess.run(call, cwd=directory, env=environment(directory), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
