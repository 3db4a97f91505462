"""Write ``requirements.lock``: every package a developer's environment needs, with its hashes.
And ``salt.lock``, with Salt itself (see ``tools.salt``), and those of other engines (see ``tools.engines``).

Needs uv (``pip install uv``); installing from a lock needs only pip. The locks name
no host, so that they work with any index that serves the same files.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from tools.engines import ENVIRONMENTS

ROOT = Path(__file__).parent.parent
HEADER = "# Made by `make lock` from pyproject.toml; do not edit.\n"
BUILD = ("editables",)  # requirements of an editable install beyond build-system.requires
OPTIONS = (
    "--universal",
    "--generate-hashes",
    "--python-version=3.11",
    "--no-emit-index-url",
    "--no-emit-find-links",
    "--no-header",
    "--no-annotate",
)


def group(name: str) -> list[str]:
    """A dependency group. That of Salt leaves out requirements that its modules do not need."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    rows: list[str] = settings["dependency-groups"][name]
    return rows


def wanted() -> list[str]:
    """The requirements of the package, of every extra, of the dev group and of the build."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = settings["project"]
    rows = [*project["dependencies"], *settings["build-system"]["requires"], *BUILD]
    for extra in project.get("optional-dependencies", {}).values():
        rows += extra
    # the dev group names the package itself, for its extras: those are above
    rows += [row for row in settings["dependency-groups"]["dev"] if not row.startswith(project["name"])]
    return rows


def locked(rows: list[str], *options: str) -> str:
    with tempfile.TemporaryDirectory() as directory:
        source, target = Path(directory, "in.txt"), Path(directory, "out.txt")
        source.write_text("\n".join(rows) + "\n", encoding="utf-8")
        command = [
            sys.executable,
            "-m",
            "uv",
            "pip",
            "compile",
            *OPTIONS,
            *options,
            f"--output-file={target}",
            str(source),
        ]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return target.read_text(encoding="utf-8")


def main() -> int:
    texts = {
        "requirements.lock": locked(wanted()),
        "salt.lock": locked(group("salt"), "--no-deps"),
        "salt-3006.lock": locked(group("salt-3006"), "--no-deps"),
        **{lock: locked(group(name)) for name, lock in ENVIRONMENTS.items()},
    }
    for name, text in texts.items():
        told = re.search(r"https?://|file:|^-", text, re.MULTILINE)
        if told:
            print(f"tools/lock.py: {name} would contain a path: {told.group()!r}", file=sys.stderr)
            return 1
        (ROOT / name).write_text(HEADER + text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
