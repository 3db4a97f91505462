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
# Commands for people and servers, and modules that only they use.
NOT_ON_HOSTS = (
    "cli/agent", "cli/approvals", "cli/audit", "cli/candidates", "cli/check", "cli/compare", "cli/completion",
    "cli/console", "cli/controller", "cli/demo_tree", "cli/docs", "cli/drift", "cli/event", "cli/explain",
    "cli/fleet", "cli/fmt", "cli/init", "cli/job.", "cli/jobs", "cli/local_fleet", "cli/log", "cli/lsp",
    "cli/migrate", "cli/operators", "cli/password", "cli/policy", "cli/reaction", "cli/reactor", "cli/runner",
    "cli/site", "cli/ssh", "cli/tree", "cli/warm", "cli/window", "lint/",
)  # fmt: skip
OF_ALL = (
    "__init__.py",
    "protocol",
    "ssh/remote",
    "ssh/__init__.py",
    "agent/__init__.py",
    "files/__init__.py",
)
# The parts of an agent that a host's worker and session use.
OF_A_HOST = (
    *OF_ALL, "agent/event_spool.py", "agent/output.py", "agent/returns.py", "agent/schedule.py",
    "agent/spool.py", "agent/spool_file.py", "agent/task.py", "agent/unsent.py", "files/cache.py",
    "files/manifest.py", "files/materialise.py", "files/prefetch.py", "files/options.py", "files/pieces.py",
    "files/problems.py",
)  # fmt: skip
OF_RENDERING = ("render/__init__.py", "render/agent.py", "render/wire.py")
OF_AN_AGENT = (*OF_ALL, *OF_RENDERING, "agent", "files", "process.py", "bus", "identity", "pillar", "client")
INFO, ABOUT = ".dist-info", "METADATA"
SKIPPED = (".pyc", ".pyi", ".exe", "py.typed")


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
    if not agent and name.startswith(NOT_ON_HOSTS):
        return False
    if not name.startswith("fleet/"):
        return True
    inner = name.removeprefix("fleet/")
    needed = OF_AN_AGENT if agent else OF_A_HOST
    return any(inner == one or inner.startswith(f"{one}/") for one in needed)


def library_files(name: str) -> Iterator[tuple[str, Path]]:
    """The files of an installed distribution by their names in the bundle."""
    from importlib import metadata

    found = metadata.distribution(name)
    for file in sorted(found.files or (), key=str):
        path = Path(str(found.locate_file(file)))
        if ".." not in file.parts and is_of_use(file.as_posix()) and path.is_file():
            yield file.as_posix(), path


def is_of_use(name: str) -> bool:
    """True if a host needs this file of a library: of what pip writes about it, only the version."""
    folder, _, last = name.rpartition("/")
    return not last.endswith(SKIPPED) and bool(last) and (not folder.endswith(INFO) or last == ABOUT)


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
