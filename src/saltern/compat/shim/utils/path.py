"""``salt.utils.path``."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator
from typing import Any

islink = os.path.islink
readlink = os.readlink


def which(exe: str | None = None) -> str | None:
    from shutil import which as find

    return find(exe) if exe else None


def which_bin(exes: Iterable[str]) -> str | None:
    """The first program of a list that exists."""
    if not isinstance(exes, list | tuple):
        return None
    return next((found for exe in exes if (found := which(exe)) is not None), None)


def check_or_die(command: str | None) -> None:
    from saltern.compat.shim import exceptions

    if command is None:
        raise exceptions.CommandNotFoundError("'None' is not a valid command.")  # type: ignore[attr-defined]
    if not which(command):
        raise exceptions.CommandNotFoundError(f"'{command}' is not in the path")  # type: ignore[attr-defined]


def join(*parts: str, **kwargs: Any) -> str:  # noqa: ARG001
    """Join paths; later parts are always below the first, even if they begin with a slash."""
    if not parts:
        return ""
    first, *rest = map(str, parts)
    whole = posixpath.join(first, *(part.lstrip("/") for part in rest))
    return posixpath.normpath(whole) if whole else ""


def safe_path(path: str, allow_path: str | None = None) -> bool:
    real = os.path.realpath(path)
    base = os.path.realpath(allow_path) if allow_path else os.path.abspath(path)
    return real == base or real.startswith(base.rstrip("/") + "/")


def expand(path: str) -> str:
    return os.path.abspath(os.path.expandvars(os.path.expanduser(path)))


def os_walk(top: str, *args: Any, **kwargs: Any) -> Iterator[tuple[str, list[str], list[str]]]:
    yield from os.walk(top, *args, **kwargs)


def sanitize_win_path(winpath: str) -> str:
    return winpath
