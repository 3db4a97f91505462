"""One process for each directory of a controller."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from saltern.fleet.controller.paths import ControllerPaths
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system.private import make_private


def lock(path: str) -> int:
    """Lock the directory of a controller, since two processes would share one identity."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        what = f"another controller runs with the directory {os.path.dirname(path)}"
        fix = "stop it first, or give this one a directory of its own: --directory DIR"
        raise OperationError(Diagnostic(code="controller-runs", what=what, fix=fix)) from None
    return descriptor


@contextmanager
def hold_lock(paths: ControllerPaths) -> Iterator[None]:
    """Lock the directory while a command works on it."""
    make_private(paths.state)
    descriptor = lock(paths.lock)
    try:
        yield
    finally:
        os.close(descriptor)
