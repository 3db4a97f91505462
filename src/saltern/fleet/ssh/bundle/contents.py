"""The files of a bundle: saltern without its servers, and the libraries that it needs on a host."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import saltern

# name of the distribution → True if it has compiled parts, so that it differs between interpreters
LIBRARIES: dict[str, bool] = {
    "jinja2": False,
    "markupsafe": True,
    "pyyaml": True,
    "msgspec": True,
    "mako": False,
    "jmespath": False,
}
# what an agent needs besides
AGENT_LIBRARIES: dict[str, bool] = {
    "nats-py": False,
    "pynacl": True,
    "cffi": True,
    "pycparser": False,
    "cronsim": False,
}
LEFT_OUT = ("lsp", "testing")
OF_THE_FLEET = ("__init__.py", "agent", "files", "protocol", "ssh/remote", "ssh/__init__.py")
OF_RENDERING = ("render/__init__.py", "render/agent.py", "render/sealed.py")
OF_AN_AGENT = (*OF_THE_FLEET, *OF_RENDERING, "process.py", "bus", "identity", "pillar", "client")
INFO = ".dist-info"
SKIPPED = (".pyc", ".pyi", ".exe")


def libraries(*, agent: bool = False) -> dict[str, bool]:
    return {**LIBRARIES, **AGENT_LIBRARIES} if agent else LIBRARIES


def own_files(*, agent: bool = False) -> Iterator[tuple[str, Path]]:
    """The files of saltern by their names in the bundle."""
    root = Path(saltern.__file__).parent
    for directory, names, files in os.walk(root):
        names[:] = sorted(name for name in names if name != "__pycache__")
        for file in sorted(files):
            path = Path(directory, file)
            name = path.relative_to(root).as_posix()
            if is_sent(name, agent=agent):
                yield f"saltern/{name}", path


def is_sent(name: str, *, agent: bool = False) -> bool:
    """True if a host needs this file of the package; with ``agent``, if an agent there does."""
    if name.endswith(SKIPPED) or name.split("/")[0] in LEFT_OUT:
        return False
    if not name.startswith("fleet/"):
        return True
    inner = name.removeprefix("fleet/")
    needed = OF_AN_AGENT if agent else OF_THE_FLEET
    return any(inner == one or inner.startswith(f"{one}/") for one in needed)


def library_files(name: str) -> Iterator[tuple[str, Path]]:
    """The files of an installed distribution by their names in the bundle."""
    from importlib import metadata

    found = metadata.distribution(name)
    for file in sorted(found.files or (), key=str):
        path = Path(str(found.locate_file(file)))
        if ".." not in file.parts and not file.name.endswith(SKIPPED) and path.is_file():
            yield file.as_posix(), path


def versions(*, agent: bool = False) -> dict[str, str]:
    """The versions of the libraries as they are installed here, by the names of their directories."""
    found: dict[str, str] = {}
    for place in sys.path:
        for name, version in _distributions(place):
            found.setdefault(name, version)
    return {name: found.get(name) or _version(name) for name in libraries(agent=agent)}


def _distributions(place: str) -> Iterator[tuple[str, str]]:
    try:
        names = os.listdir(place or ".")
    except OSError:
        return
    for name in names:
        if name.endswith(INFO):
            library, _, version = name.removesuffix(INFO).partition("-")
            yield library.lower().replace("_", "-"), version


def _version(name: str) -> str:
    from importlib import metadata  # 60 ms, for a library that is installed in an unusual way

    return metadata.version(name)
