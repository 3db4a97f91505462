"""Writes small packages of Python, as a program of its own: ``python wheels.py DIRECTORY``."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path


def wheel(directory: Path, name: str, version: str) -> None:
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": f"version = {version!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nProvides-Extra: x\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: here\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = f"{info}/RECORD"
    files[record] = "".join(f"{path},,\n" for path in (*files, record))
    with zipfile.ZipFile(directory / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)


def main() -> None:
    directory = Path(sys.argv[1])
    directory.mkdir()
    for name, version in (("demo", "1.0"), ("demo", "2.0"), ("other", "1.0")):
        wheel(directory, name, version)


if __name__ == "__main__":
    main()
