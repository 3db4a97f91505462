"""``make audit``: lists known vulnerabilities in the packages of ``requirements.lock``. It never fails.

pip-audit asks a service on the network. Where it is not installed, or the service cannot be reached, the ages
of the pins are printed instead: how long ago each was added to the lock, by the history of this repository.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
LOCK = ROOT / "requirements.lock"
PATIENCE = 60  # seconds
DAY = 86400.0
OLD = 365  # days
PIN = re.compile(r"([A-Za-z0-9._-]+)==([^\s;\\]+)")


def pins(text: str) -> list[tuple[str, str]]:
    """Names and versions of a lock."""
    found = (PIN.match(line) for line in text.splitlines())
    return [(one[1], one[2]) for one in found if one]


def changed(blame: str) -> dict[str, float]:
    """Name of a pin → when its line was changed, in what ``git blame --line-porcelain`` prints."""
    when, found = 0.0, {}
    for line in blame.splitlines():
        if line.startswith("committer-time "):
            when = float(line.split()[1])
        elif line.startswith("\t") and (pin := PIN.match(line[1:])):
            found[pin[1]] = when
    return found


def ages(text: str, times: dict[str, float], now: float) -> Iterator[str]:
    """One line for each pin, the oldest first; those of unknown age last."""
    for name, version in sorted(pins(text), key=lambda pin: times.get(pin[0], now + DAY)):
        days = (now - times[name]) / DAY if name in times else None
        told = "of unknown age" if days is None else f"{days:.0f} days" + (" (old)" if days > OLD else "")
        yield f"  {name} {version}: {told}"


def audited(lock: Path) -> bool:
    """False if the audit could not be made."""
    program = shutil.which("pip-audit")
    if program is None:
        print("pip-audit is not installed")
        return False
    argv = [program, "--requirement", str(lock), "--disable-pip", "--no-deps", "--progress-spinner=off"]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        print(f"pip-audit had no answer within {PATIENCE} seconds")
        return False
    print(done.stdout + done.stderr)
    return done.returncode == 0 or "vulnerabilit" in done.stdout + done.stderr


def main() -> int:
    if not audited(LOCK):
        argv = ["git", "blame", "--line-porcelain", "--", LOCK.name]
        try:
            blame = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False).stdout
        except OSError:
            blame = ""
        print("pinned since:")
        print("\n".join(ages(LOCK.read_text(encoding="utf-8"), changed(blame), time.time())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
