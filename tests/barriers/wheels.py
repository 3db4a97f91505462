"""Builds of this tree with version numbers of our choice, and what they depend on, as wheels; no network."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path

ROOT = Path(__file__).parents[2]
NEEDED = ("jinja2", "markupsafe", "pyyaml", "msgspec", "mako", "jmespath")


def build(place: Path, version: str, spoil: Callable[[Path], None] | None = None) -> None:
    """A wheel of this tree in ``place``; ``spoil`` may change its sources before."""
    tree = place / f"tree-{version}"
    shutil.copytree(ROOT / "src", tree / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree / name)
    first = tree / "src/saltern/__init__.py"
    old = next(line for line in first.read_text().splitlines() if line.startswith("__version__"))
    first.write_text(first.read_text().replace(old, f'__version__ = "{version}"'))
    if spoil is not None:
        spoil(tree / "src" / "saltern")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)]
    subprocess.run(command, cwd=tree, check=True, capture_output=True)
    shutil.rmtree(tree)


def pack_dependencies(place: Path) -> None:
    """What is installed here, made into wheels again."""
    for name in NEEDED:
        found = distribution(name)
        tag = next(line for line in (found.read_text("WHEEL") or "").splitlines() if line.startswith("Tag:"))
        label = f"{found.name.replace('-', '_')}-{found.version}-{tag.removeprefix('Tag:').strip()}"
        with zipfile.ZipFile(place / f"{label}.whl", "w") as wheel:
            for file in found.files or ():
                if ".." not in file.parts and "__pycache__" not in file.parts:
                    wheel.write(str(file.locate()), str(file))


def make_slot(root: Path, wheels: Path, version: str) -> Path:
    """The program as it was installed once, in slot a and current; its Python."""
    made = wheels / f"slot-{version}"
    if not made.exists():
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(made)], check=True)
        pip = [sys.executable, "-m", "pip", "--python", str(made / "bin/python"), "install", "--quiet"]
        words = ["--no-index", "--find-links", str(wheels), f"saltern=={version}"]
        subprocess.run([*pip, *words], check=True, capture_output=True)
    shutil.copytree(made, root / "slots" / "a", symlinks=True)
    (root / "current").symlink_to("slots/a")
    return root / "current/bin/python"
