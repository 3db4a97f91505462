"""Runs all tests; a test that fails among others is run once more, alone.

A repeated failure is a defect. A test that passes alone is *unsteady*: it is listed at the end of the output,
since it shows a race in the test or in the program. More than a few failures are not run again.

Example: python -m tools.suite -n 6 -rs
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

FAILED = Path(".pytest_cache/v/cache/lastfailed")
A_FEW = 5
"""More failures than this are not a coincidence, and are not run again."""
TESTS_FAILED = 1
"""What pytest returns if tests failed; any other code says that it could not run them."""


def main(arguments: list[str]) -> int:
    FAILED.unlink(missing_ok=True)
    compile_tests()
    code = run_pytest(arguments)
    failed = sorted(json.loads(FAILED.read_text())) if FAILED.exists() else []
    if code != TESTS_FAILED or not 0 < len(failed) <= A_FEW:
        return code
    print(f"\n{len(failed)} failed among others; they run once more, alone:", *failed, sep="\n  ", flush=True)
    code = run_pytest(["--last-failed", "--last-failed-no-failures", "none", "-n", "0", "-rs"])
    if code == 0:
        print(
            "\nUNSTEADY: these tests failed among others and passed alone; find the race:",
            *failed,
            sep="\n  ",
        )
    return code


def compile_tests() -> None:
    """Compile every test file once, since processes that start together would each compile all of them."""
    files = sorted(map(str, Path("tests").rglob("test_*.py")))
    cores = os.cpu_count() or 1
    command = [sys.executable, "-m", "pytest", "--collect-only", "-qq", "-n", "0", "-p", "no:cacheprovider"]
    parts = [
        subprocess.Popen([*command, *files[first::cores]], stdout=subprocess.DEVNULL)
        for first in range(cores)
    ]
    for part in parts:
        part.wait()


def run_pytest(arguments: list[str]) -> int:
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
