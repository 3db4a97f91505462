"""The roots of a tree: environments, each with directories in order of preference."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from saltern.language.diagnostics import Diagnostic, OperationError

ANY_ENV = "__env__"  # an environment of this name in the roots is used for every other environment


class Roots:
    """Which directories an environment has."""

    def __init__(self, roots: Mapping[str, Sequence[str]]) -> None:
        self._roots = {env: list(dirs) for env, dirs in roots.items()}

    def environments(self) -> list[str]:
        """``base`` first, then the others as configured."""
        names = [env for env in self._roots if env != ANY_ENV]
        return sorted(names, key=lambda env: env != "base")

    def roots(self, env: str) -> list[str]:
        return self._roots.get(env) or self._roots.get(ANY_ENV, [])

    def __contains__(self, env: object) -> bool:
        return env in self._roots or ANY_ENV in self._roots

    def check(self) -> None:
        """Raise ``OperationError`` if a root is not a readable directory."""
        problems = [
            Diagnostic(
                code="root-unreadable",
                what=f"the {env!r} root {root!r} {why}",
                fix="give an existing directory: --file-root DIR, or file_roots in the configuration",
            )
            for env, dirs in self._roots.items()
            for root in dirs
            if (why := _unusable(root))
        ]
        if problems:
            raise OperationError(*problems)


def _unusable(root: str) -> str:
    try:
        with os.scandir(root):
            return ""
    except FileNotFoundError:
        return "does not exist"
    except NotADirectoryError:
        return "is not a directory"
    except OSError as problem:
        return f"cannot be read: {problem.strerror}"
