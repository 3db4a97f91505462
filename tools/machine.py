"""Install the Debian packages that the tests of real modules use: ``tests/machine.txt``.

Only as root, and only where apt is: elsewhere those tests are skipped and say so. A package that is
there is left alone; no service is started.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

LIST = Path(__file__).parent.parent / "tests" / "machine.txt"
POLICY = Path("/usr/sbin/policy-rc.d")
APT = ("apt-get", "-y", "-qq", "-o", "DPkg::Lock::Timeout=300", "--no-install-recommends")


def wanted(text: str) -> list[str]:
    """The names in the list; what follows a ``#`` says what a package is for."""
    names = (line.partition("#")[0].strip() for line in text.splitlines())
    return sorted({name for name in names if name})


def missing(names: list[str]) -> list[str]:
    query = ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Abbrev}\n", *names]
    done = subprocess.run(query, capture_output=True, text=True, check=False)
    there = {line.split()[0] for line in done.stdout.splitlines() if " ii" in line}
    return [name for name in names if name not in there]


def install(names: list[str]) -> bool:
    """``policy-rc.d`` is how Debian is told to start nothing."""
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    ours = not POLICY.exists()
    if ours:
        POLICY.write_text("#!/bin/sh\nexit 101\n", encoding="utf-8")
        POLICY.chmod(0o755)
    try:
        subprocess.run(["apt-get", "-qq", "update"], env=env, check=False)
        return subprocess.run([*APT, "install", *names], env=env, check=False).returncode == 0
    finally:
        if ours:
            POLICY.unlink(missing_ok=True)


def main() -> int:
    names = wanted(LIST.read_text(encoding="utf-8"))
    if os.geteuid() != 0 or shutil.which("apt-get") is None or os.environ.get("MACHINE") == "no":
        print("not root on Debian: tests that need its packages are skipped where those are missing")
        return 0
    absent = missing(names)
    if absent and not install(absent):
        print(f"not all of {', '.join(absent)} could be installed: the tests that need them are skipped")
    return 0


if __name__ == "__main__":
    sys.exit(main())
