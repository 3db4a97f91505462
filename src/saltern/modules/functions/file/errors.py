"""System errors as readable messages, for execution functions."""

from __future__ import annotations

import os
from types import TracebackType

from saltern.modules.api.params import BadArgument
from saltern.modules.api.refused import Refused, explain


class explain_errors:
    """``with explain_errors(path):`` turns system errors into a ``BadArgument`` with a readable message."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, _kind: type[BaseException] | None, problem: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if isinstance(problem, OSError):
            raise BadArgument(explain(problem, self.path)) from None
        if isinstance(problem, Refused | UnicodeError):
            raise BadArgument(f"{self.path}: {problem}") from None


def expand_home(path: str) -> str:
    return os.path.expanduser(path) if path.startswith("~") else path


def absolute(path: str) -> str:
    """Check that a path is absolute, for functions that change something."""
    full = expand_home(path)
    if not os.path.isabs(full):
        raise BadArgument(f"{path!r} is not an absolute path")
    return full
