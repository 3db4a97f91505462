"""Install Salt into ``build/salt``, for the tests that run its modules, run it, and compare with it.

saltern itself does not need it. ``salt.lock`` has Salt, the few libraries that its modules need, and its
build requirements, which are installed first: Salt is published as source only. Where the installation fails,
as it does without a network, the tests that need Salt are skipped and say so. ``python -m tools.salt 3006``
installs Salt 3006 into ``build/salt-3006``, for the test that runs it once.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tools.whole import Unavailable, replaced

ROOT = Path(__file__).parent.parent
LOCK = ROOT / "salt.lock"
PLACE = ROOT / "build" / "salt"
OLD_LOCK = ROOT / "salt-3006.lock"
OLD_PLACE = ROOT / "build" / "salt-3006"
PROGRAMS = "programs"
STAMP = ".installed"
PIP = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries=1")
LOCKED = ("--no-deps", "--require-hashes", "--no-build-isolation", "--upgrade")


def parts(text: str) -> tuple[str, str]:
    """The lock without Salt, and the rest of it."""
    entries = re.split(r"\n(?=\S)", text)
    salt = [entry for entry in entries if entry.startswith("salt==")]
    others = [entry for entry in entries if entry not in salt]
    return "\n".join(others), "\n".join(salt)


def install(place: Path, lock: Path = LOCK, libraries: Path | None = None) -> None:
    """``libraries``: the directory with what the build needs. Raises ``Unavailable``."""
    for text in filter(str.strip, parts(lock.read_text(encoding="utf-8"))):
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
            file.write(f"{text}\n")
            file.flush()
            command = [*PIP, *LOCKED, "--target", str(place), "-r", file.name]
            env = {**os.environ, "PYTHONPATH": str(libraries or place)}
            done = subprocess.run(command, env=env, check=False)
        if done.returncode:
            raise Unavailable("Salt cannot be installed here: the tests that need it are skipped")


def wrap(made: Path, place: Path) -> None:
    """Write a ``salt-call`` that finds the libraries in ``place``, which is not on a search path."""
    program = made / PROGRAMS / "salt-call"
    program.parent.mkdir(exist_ok=True)
    words = ["exec", "env", f"PYTHONPATH={place}", sys.executable, str(place / "bin" / "salt-call")]
    program.write_text(f'#!/bin/sh\n{" ".join(map(shlex.quote, words))} "$@"\n', encoding="utf-8")
    program.chmod(0o755)


def install_old() -> None:
    """Install the oldest Salt that the extension is tested with, with the libraries of the other one."""
    with replaced(OLD_PLACE, STAMP) as made:
        install(made, OLD_LOCK, PLACE)


def install_new() -> None:
    with replaced(PLACE, STAMP) as made:
        install(made)
        wrap(made, PLACE)


def main(words: Sequence[str] = ()) -> int:
    try:
        (install_old if list(words) == ["3006"] else install_new)()
    except Unavailable as problem:
        print(problem, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
