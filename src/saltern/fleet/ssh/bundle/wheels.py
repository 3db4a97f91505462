"""Wheels for another interpreter or platform: fetched with pip, and cached."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from saltern.fleet.ssh.bundle.target import Target
from saltern.language.diagnostics import Diagnostic, OperationError

OPTIONS = ("--quiet", "--disable-pip-version-check", "--retries=1", "--no-deps", "--only-binary=:all:")


def found_wheels(directory: Path, wanted: Mapping[str, str]) -> list[Path]:
    """One wheel for each library that is there. Names may have capital letters: ``PyYAML-6.0.2-…``."""
    by_name: dict[tuple[str, str], Path] = {}
    for path in sorted(directory.glob("*.whl")):
        name, _, rest = path.name.partition("-")
        by_name[name.lower().replace("_", "-"), rest.partition("-")[0]] = path
    return [by_name[one] for one in wanted.items() if one in by_name]


def fetch_wheels(target: Target, wanted: dict[str, str], directory: Path) -> None:
    """Fetch the compiled libraries for another interpreter with pip. Raises ``OperationError``."""
    directory.mkdir(0o700, parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", *OPTIONS]
    command += [f"--python-version={target.python}", "--implementation=cp", f"--abi={target.tag}"]
    command += ["--abi=abi3", "--abi=none"]
    command += [f"--platform={platform}" for platform in target.platforms]
    command += [f"--dest={directory}", *(f"{name}=={version}" for name, version in wanted.items())]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode or len(found_wheels(directory, wanted)) < len(wanted):
        said = (done.stderr or done.stdout).strip().splitlines()
        raise OperationError(
            Diagnostic(
                code="ssh-bundle",
                what=f"libraries for {target.name} cannot be fetched: {said[-1] if said else 'pip failed'}",
                fix=f"on a machine with an index: saltern ssh bundle --python {target.python}"
                f" --platform {target.machine}, then copy {directory.parent}",
            )
        )
