"""The installed Salt, if there is one. Only what a module needs is imported."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from typing import Any

from saltern.compat.places import KINDS


class InstalledSalt:
    """The parts of an installed Salt that modules need; without one, their replacements."""

    def __init__(self, find: Callable[[], str]) -> None:
        """``find`` returns the directory of the package ``salt``, or nothing."""
        self._find = find

    @cached_property
    def directory(self) -> str:
        """The directory of the package ``salt``; empty if there is none."""
        return self._find()

    def directories(self, kind: str) -> list[str]:
        """The directory of its modules of a kind."""
        return [os.path.join(self.directory, KINDS[kind])] if self.directory else []

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """The options a minion of Salt always has; none without an installed Salt."""
        if not self.directory:
            return {}
        from saltern.compat.options import installed_defaults

        return installed_defaults()

    def exception(self, name: str) -> type[Exception]:
        """One of Salt's exceptions, as the modules of this run import it."""
        package = "salt.exceptions" if self.directory else "saltern.compat.shim.exceptions"
        found: type[Exception] = getattr(import_module(package), name)
        return found

    @cached_property
    def exceptions(self) -> tuple[type[Exception], ...]:
        """The exceptions with which a module reports, in a readable message, that it cannot continue."""
        from saltern.compat.call_namespaces import Missing

        return (self.exception("SaltException"), Missing)


def installed_salt() -> str:
    """The directory of the package ``salt``, or nothing. Imports nothing from it."""
    from importlib.util import find_spec

    try:
        spec = find_spec("salt")
    except (ImportError, ValueError):
        return ""
    if spec is None or not spec.origin:
        return ""  # also a directory that only has this name, such as /srv/salt seen from /srv
    directory = os.path.dirname(spec.origin)
    return directory if os.path.isdir(os.path.join(directory, "states")) else ""
