"""The next chunk of an action chain on this machine, stored in a small file that survives a reboot.

This file needs only Python. A real Salt runs it unchanged as the execution module ``actionchains``;
saltern's own module of that name calls it.

The file says which chunk *waits* (for a reboot, or for a restart of the agent) or *runs*. It is written
before anything is done, so that neither a crash nor a reboot loses the position, and a chunk that was running
when the machine went down is never repeated automatically.
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
    """A refusal; the text says why, and what to do."""


def chunk_name(chain: str, system: str, number: int) -> str:
    """The name of the SLS of a chunk."""
    return f"actionchain_{chain}_{safe(system)}_{number}"


def safe(system: str) -> str:
    """The name of a system without dots, which separate directories in SLS names; a changed name gets a
    mark.
    """
    if re.fullmatch(r"[A-Za-z0-9_-]+", system):
        return system
    from hashlib import sha256

    mark = sha256(system.encode()).hexdigest()[:6]
    return f"{re.sub(r'[^A-Za-z0-9_-]', '_', system)}_{mark}"


# -- the file ---------------------------------------------------------------------------------------


def load(path: str) -> Pointer | None:
    """The stored position; None if no chain is under way."""
    try:
        with open(path, encoding="utf-8") as file:
            kept = json.load(file)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as problem:
        raise Refused(f"{path} cannot be read: {problem}; look at it, then remove it") from None
    return {str(key): str(value) for key, value in dict(kept).items()}


def store(path: str, pointer: Pointer) -> None:
    """Store the position; it is on disk when this returns."""
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
    """The ID of the current boot; empty if it cannot be determined."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            kernel = file.read().strip()
        with open("/proc/1/stat", encoding="ascii", errors="replace") as file:
            first = file.read().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
    return f"{kernel} {first}"


# -- operations ---------------------------------------------------------------------------------------


def begin(path: str, chunk: str, apply: Apply) -> object:
    """Run the first chunk of a chain."""
    kept = load(path)
    if kept is not None:
        raise Refused(
            f"the chain at {kept['chunk']} is not over: it {kept['state']}; resume or finish it first"
        )
    return _run(path, chunk, apply)


def remember(path: str, chunk: str, after: str) -> None:
    """Store the next chunk, and what must happen before it."""
    store(path, {"chunk": chunk, "state": "waits", "after": after, "boot": boot()})


def resume_chunk(path: str, apply: Apply, *, force: bool = False) -> object:
    """Run the waiting chunk. None: there is nothing to do now, because no chain is under way, the machine
    has not been rebooted yet, or the chunk is running. ``force``: begin it in any case where that is safe.
    """
    kept = load(path)
    if kept is None or (kept["state"] == "runs" and _is_at_work(kept)):
        return None
    if kept["state"] == "runs" and not force:
        text = f"{kept['chunk']} was running when it was interrupted, and how far it got is unknown"
        raise Refused(f"{text}; check it, then call resume with force=True, or finish")
    if kept.get("after") == "reboot" and kept["state"] == "waits" and not _other_boot(kept.get("boot", "")):
        if not force:  # a service that is restarted asks for this, too
            return None
        raise Refused(f"{kept['chunk']} waits for a reboot, and the machine has not been rebooted")
    return _run(path, kept["chunk"], apply)


def _other_boot(before: str) -> bool:
    """True if the machine has rebooted since; an unknown boot counts as the same."""
    now = boot()
    return bool(before and now and before != now)


def _is_at_work(kept: Pointer) -> bool:
    """True if another process runs the chunk: that of a service which was restarted meanwhile."""
    pid = kept.get("pid", "")
    return pid not in ("", str(os.getpid())) and _birth(pid) == kept.get("birth") != ""


def _birth(pid: str) -> str:
    """The start time of a process, in ticks since boot; empty if there is none."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def _run(path: str, chunk: str, apply: Apply) -> object:
    """Run a chunk. If it neither finishes the chain nor names the next chunk, it has failed: the chain is
    over.
    """
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
    """Store the name of the next chunk."""
    remember(_path(), chunk, after)
    return True


def finish(chunk: str = "") -> bool:  # noqa: ARG001 - as it is called
    """End the chain."""
    forget(_path())
    return True


def resume(force: bool = False) -> object:
    """Resume the chain that waits, if there is one."""
    return resume_chunk(_path(), _apply, force=force)


def updated(version: str) -> bool:
    """True if the running Salt has this version; the build number of the package is not compared."""
    return str(version).partition("-")[0].partition("+")[0] == str(__grains__["saltversion"])
