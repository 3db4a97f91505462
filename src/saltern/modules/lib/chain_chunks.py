"""Which chunk of an action chain comes next on this machine: kept in one small file that outlives a reboot.

This file needs nothing but Python. A real Salt runs it as the execution module ``actionchains`` as it is;
saltern's own module of that name calls it.

The file says which chunk *waits* (for a reboot, or for a new start of the agent) or *runs*. It is written
before anything is done, so that neither a crash nor a reboot loses the place, and a chunk that was running
when the machine went down is never begun a second time by itself.
"""

# ruff: noqa: F821 - a real Salt gives the names with two underscores

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

FILE = "saltern_actionchain.json"
__virtualname__ = "actionchains"
__func_alias__ = {"next_": "next"}
__load__ = ["start", "next_", "finish", "resume", "updated"]
__salt__: Mapping[str, Callable[..., Any]]
__opts__: Mapping[str, Any]
__grains__: Mapping[str, Any]
Apply = Callable[[str], object]
Pointer = dict[str, str]


class Refused(Exception):
    """The text says why, and what to do."""


def chunk_name(chain: str, system: str, number: int) -> str:
    """The name of its SLS."""
    return f"actionchain_{chain}_{safe(system)}_{number}"


def safe(system: str) -> str:
    """A dot in the name of an SLS is a directory. A name that had to change keeps a mark of what it was."""
    if re.fullmatch(r"[A-Za-z0-9_-]+", system):
        return system
    from hashlib import sha256

    mark = sha256(system.encode()).hexdigest()[:6]
    return f"{re.sub(r'[^A-Za-z0-9_-]', '_', system)}_{mark}"


# -- the file ---------------------------------------------------------------------------------------


def load(path: str) -> Pointer | None:
    """What is kept; None if no chain is under way."""
    try:
        with open(path, encoding="utf-8") as file:
            kept = json.load(file)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as problem:
        raise Refused(f"{path} cannot be read: {problem}; look at it, then remove it") from None
    return {str(key): str(value) for key, value in dict(kept).items()}


def store(path: str, pointer: Pointer) -> None:
    """On the disk when this returns."""
    folder = os.path.dirname(path)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    handle, place = tempfile.mkstemp(dir=folder, prefix=".actionchain")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(pointer, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(place, path)
    _sync(folder)


def forget(path: str) -> None:
    if os.path.exists(path):
        os.remove(path)
        _sync(os.path.dirname(path))


def _sync(folder: str) -> None:
    place = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(place)
    finally:
        os.close(place)


def boot() -> str:
    """Which boot it is; empty if that cannot be found out."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            kernel = file.read().strip()
        with open("/proc/1/stat", encoding="ascii", errors="replace") as file:
            first = file.read().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
    return f"{kernel} {first}"


# -- what is done with it -----------------------------------------------------------------------------


def begin(path: str, chunk: str, apply: Apply) -> object:
    """Run the first chunk of a chain."""
    kept = load(path)
    if kept is not None:
        raise Refused(
            f"the chain at {kept['chunk']} is not over: it {kept['state']}; resume or finish it first"
        )
    return _run(path, chunk, apply)


def remember(path: str, chunk: str, after: str) -> None:
    """What comes next, and what must have happened before."""
    store(path, {"chunk": chunk, "state": "waits", "after": after, "boot": boot()})


def resume_chunk(path: str, apply: Apply, *, force: bool = False) -> object:
    """Run the chunk that waits. None: there is nothing to do now, because no chain is under way, the machine
    has not been rebooted yet, or the chunk is being run. ``force``: begin it in any case where that is safe.
    """
    kept = load(path)
    if kept is None or (kept["state"] == "runs" and _is_at_work(kept)):
        return None
    if kept["state"] == "runs" and not force:
        text = f"{kept['chunk']} was running when it was cut off, and how far it came is unknown"
        raise Refused(f"{text}; look, then call resume with force=True, or finish")
    if kept.get("after") == "reboot" and kept["state"] == "waits" and not _other_boot(kept.get("boot", "")):
        if not force:  # a service that is restarted asks for this, too
            return None
        raise Refused(f"{kept['chunk']} waits for a reboot, and the machine has not been rebooted")
    return _run(path, kept["chunk"], apply)


def _other_boot(before: str) -> bool:
    """Unknown is never changed."""
    now = boot()
    return bool(before and now and before != now)


def _is_at_work(kept: Pointer) -> bool:
    """True if another process runs the chunk: that of a service which was restarted meanwhile."""
    pid = kept.get("pid", "")
    return pid not in ("", str(os.getpid())) and _birth(pid) == kept.get("birth") != ""


def _birth(pid: str) -> str:
    """When a process was started, in ticks of this boot; empty if there is none."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def _run(path: str, chunk: str, apply: Apply) -> object:
    """A chunk that neither finished nor named the next one has failed: the chain is over."""
    pid = str(os.getpid())
    store(path, {"chunk": chunk, "state": "runs", "pid": pid, "birth": _birth(pid)})
    answer = apply(chunk)
    kept = load(path)
    if kept is not None and kept["chunk"] == chunk:
        forget(path)
    return answer


# -- Salt's side ------------------------------------------------------------------------------------


def _path() -> str:
    return os.path.join(__opts__["cachedir"], FILE)


def _apply(chunk: str) -> object:
    return __salt__["state.apply"](f"actionchains.{chunk}")


def start(actionchain_id: str, system: str = "") -> object:
    """Run a chain on this system, from its first chunk."""
    return begin(_path(), chunk_name(actionchain_id, system or __grains__["id"], 1), _apply)


def next_(chunk: str, after: str = "") -> bool:
    """Remember which chunk comes next."""
    remember(_path(), chunk, after)
    return True


def finish(chunk: str = "") -> bool:  # noqa: ARG001 - as it is called
    """The chain is over."""
    forget(_path())
    return True


def resume(force: bool = False) -> object:
    """Resume the chain that waits, if there is one."""
    return resume_chunk(_path(), _apply, force=force)


def updated(version: str) -> bool:
    """True if the Salt that runs now has this version; the number of the package's build is not compared."""
    return str(version).partition("-")[0].partition("+")[0] == str(__grains__["saltversion"])
