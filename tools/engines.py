"""Install third-party programs below ``build``, for the tests and examples that drive them: other engines,
and stores of secrets (sops, and OpenBao, which uses the protocol of Vault).

saltern itself does not need them. Each lock is one environment; an engine whose libraries conflict with those
of the others has its own lock. If an installation fails, as it does without a network, an older one stays, or
the tests that need it are skipped and say so. ``python -m tools.engines stores`` installs one of them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tools import salt
from tools.whole import Unavailable, made_anew, put_back

ROOT = Path(__file__).parent.parent
# directory below build/ → its lock, which `make lock` writes from the dependency group of that name
ENVIRONMENTS = {"engines": "engines.lock", "stores": "stores.lock"}
STAMP = ".installed"
PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries=1")
LOCKED = ("--no-deps", "--require-hashes")


def programs() -> list[str]:
    """The directories of the programs that are installed."""
    places = [*(ROOT / "build" / name / "bin" for name in ENVIRONMENTS), salt.PLACE / salt.PROGRAMS]
    return [str(place) for place in places if (place.parent / STAMP).exists()]


def path() -> str:
    """PATH, with those programs after those of the machine."""
    return os.pathsep.join([os.environ.get("PATH", os.defpath), *programs()])


def find(program: str) -> str | None:
    return shutil.which(program, path=path())


def find_inside(program: str, package: str) -> str | None:
    """The program in a wheel, rather than the Python script that starts it."""
    script = find(program)
    inner = Path(script or "").parent.parent.glob(f"lib/python3*/site-packages/{package}/bin/{program}")
    return next((str(path) for path in inner if os.access(path, os.X_OK)), None)


def install(place: Path, lock: Path) -> bool:
    python = place / "bin" / "python"
    steps = ([sys.executable, "-m", "venv", str(place)], [str(python), *PIP, *LOCKED, "-r", str(lock)])
    return all(subprocess.run(step, check=False).returncode == 0 for step in steps)


def update(place: Path, lock: Path) -> None:
    """Install what the lock has, unless it is there. Raises ``Unavailable``."""
    stamp, wanted = place / STAMP, lock.read_bytes()
    put_back(place, STAMP)
    if stamp.exists() and stamp.read_bytes() == wanted:
        stamp.touch()
        return
    with made_anew(place, STAMP):
        if not install(place, lock):
            raise Unavailable(f"{lock.name} cannot be installed here: tests that need it are skipped")
        stamp.write_bytes(wanted)


def main(names: Sequence[str] = ()) -> int:
    for name in names or ENVIRONMENTS:
        try:
            update(ROOT / "build" / name, ROOT / ENVIRONMENTS[name])
        except Unavailable as problem:
            print(problem, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
