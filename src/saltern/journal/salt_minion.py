"""Make sure that saltern and a Salt minion never apply states at the same time.

A minion writes a file into ``proc`` of its cache directory for each job, and its state functions look there
for others. We do the same. Both write first and then look, so that at least one of the two sees the other.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any

import msgspec

from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system import clock

STATES = "state."
OWN = "state.saltern_apply"


@contextmanager
def beside_salt(cache: str, until: float) -> Iterator[None]:
    """Within this context, the minion with this cache directory applies no states.

    ``until``: how long to wait for it, by the monotonic clock. Raises ``OperationError`` if it is still busy
        then.
    """
    folder = os.path.join(cache, "proc")
    mark = _write_mark(folder)
    reported = False
    try:
        while others := running_jobs(folder):
            os.unlink(mark)  # otherwise the minion would wait for us
            if time.monotonic() >= until:
                raise _busy(others[0])
            if not reported:
                print(f"saltern: waiting for Salt: {_describe_job(others[0])}", file=sys.stderr)
            reported = True
            time.sleep(random.uniform(0.1, 0.4))
            mark = _write_mark(folder)
        yield
    finally:
        with suppress(FileNotFoundError):
            os.unlink(mark)


def running_jobs(folder: str) -> list[dict[str, Any]]:
    """The state runs whose processes are running, except our own and our ancestors."""
    ours = _ancestors(os.getpid())
    found = [_read(os.path.join(folder, name)) for name in sorted(os.listdir(folder))]
    return [
        job
        for job in found
        if str(job.get("fun", "")).startswith(STATES)
        and job.get("pid") not in ours
        and _is_salt(job.get("pid"))
    ]


def _write_mark(folder: str) -> str:
    """Write the mark of this process atomically; return its path."""
    pid = os.getpid()
    path = os.path.join(folder, f"saltern-{pid}")
    jid = datetime.fromtimestamp(clock.now(), UTC).strftime("%Y%m%d%H%M%S%f")
    job = {"pid": pid, "jid": jid, "fun": OWN, "arg": [], "tgt": "", "tgt_type": "glob"}
    try:
        os.makedirs(folder, 0o700, exist_ok=True)
        with open(os.open(f"{path}.part", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(msgspec.msgpack.encode(job))
        os.replace(f"{path}.part", path)
    except OSError as problem:
        what = f"the Salt minion cannot be kept from applying states: {path}: {problem.strerror}"
        fix = "set salt_minion to the cache directory of the minion, or to nothing if there is none"
        raise OperationError(Diagnostic(code="salt-minion", what=what, fix=fix)) from None
    return path


def _read(path: str) -> dict[str, Any]:
    """A job file of a minion; empty if it is gone, or is being written."""
    try:
        with open(path, "rb") as file:
            found = msgspec.msgpack.decode(file.read())
    except (OSError, msgspec.DecodeError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_salt(pid: object) -> bool:
    """True if a process exists and is a Salt process: process numbers are reused."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return b"salt" in file.read()
    except OSError:
        return False


def _ancestors(pid: int) -> set[int]:
    """The process and its ancestors."""
    found: set[int] = set()
    while pid > 0 and pid not in found:
        found.add(pid)
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                pid = int(file.read().rpartition(")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            break
    return found


def _describe_job(job: dict[str, Any]) -> str:
    return f"{job.get('fun')} of job {job.get('jid')} (process {job.get('pid')})"


def _busy(job: dict[str, Any]) -> OperationError:
    what = f"the Salt minion of this machine applies states: {_describe_job(job)}"
    fix = "wait for it: --queue SECONDS, or queue_runs in the configuration"
    return OperationError(Diagnostic(code="run-busy", what=what, fix=fix))
