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

from tools.vm import PATIENT

LIST = Path(__file__).parent.parent / "tests" / "machine.txt"
POLICY = Path("/usr/sbin/policy-rc.d")
NO_SERVICES = "#!/bin/sh\n# written while packages for tests of saltern are installed\nexit 101\n"
APT = ("apt-get", "-y", "-qq", "-o", "DPkg::Lock::Timeout=300", *PATIENT, "--no-install-recommends")

WHOLE_LISTS = ("-o", "APT::Update::Error-Mode=any")  # a source that does not respond is a failure


def wanted(text: str) -> list[str]:
    """The names in the list; the text after ``#`` is the purpose of a package."""
    names = (line.partition("#")[0].strip() for line in text.splitlines())
    return sorted({name for name in names if name})


def missing(names: list[str]) -> list[str]:
    query = ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Abbrev}\n", *names]
    done = subprocess.run(query, capture_output=True, text=True, check=False)
    there = {line.split()[0] for line in done.stdout.splitlines() if " ii" in line}
    return [name for name in names if name not in there]


def resolves(names: list[str]) -> bool:
    """True if apt can install all of them together; nothing is changed."""
    return _apt("--simulate", "install", *names) == 0


def installable(names: list[str]) -> list[str]:
    """The names that apt can install: all of them together, or each one that it can install alone.

    Two packages that conflict with each other are both kept: ``install`` then takes them one by one.
    """
    return names if resolves(names) else [name for name in names if resolves([name])]


def install(names: list[str], *, reachable: bool = True) -> None:
    """Install all at once, or else one by one; ``policy-rc.d`` prevents Debian from starting installed
    services.

    If the sources do not respond, the first failure ends it, since every attempt takes long.
    """
    ours = not POLICY.exists() or POLICY.read_text(encoding="utf-8", errors="replace") == NO_SERVICES
    if ours:
        POLICY.write_text(NO_SERVICES, encoding="utf-8")
        POLICY.chmod(0o755)
    try:
        if _apt("install", *names):
            for name in names:
                if _apt("install", name) and not reachable:
                    break
    finally:
        if ours:
            POLICY.unlink(missing_ok=True)


def _apt(*words: str) -> int:
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    shown = subprocess.DEVNULL if "--simulate" in words else None
    done = subprocess.run([*APT, *words], env=env, check=False, stdout=shown, stderr=shown, umask=0o022)
    return done.returncode


def complete(names: list[str]) -> list[str]:
    """Install what is missing and can be installed; return what is missing after that."""
    absent = missing(names)
    if absent:
        reachable = _apt(*WHOLE_LISTS, "update") == 0
        found = installable(absent)
        if found:
            install(found, reachable=reachable)
    return missing(names)


def main() -> int:
    if os.geteuid() != 0 or shutil.which("apt-get") is None or os.environ.get("MACHINE") == "no":
        print("not root on Debian: tests that need its packages are skipped where those are missing")
        return 0
    for name in complete(wanted(LIST.read_text(encoding="utf-8"))):
        if shutil.which(name):
            print(f"{name} cannot be installed, but this machine has a program of that name: tests use it")
        else:
            print(f"{name} cannot be installed: tests that need it are skipped")
    return 0


if __name__ == "__main__":
    sys.exit(main())
