"""The seal for the secrets of one run, made when there is a secret."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from saltern.journal.folder import make_folder

if TYPE_CHECKING:
    from saltern.journal.seal import Seal


class RunSeal:
    """The seal of the run with the journal at ``path``."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._made: Seal | None = None
        self._is_used = False

    def seal_body(self, body: object) -> tuple[object, bool]:
        """The data with its secrets sealed, and whether they are the first: the journal then records that."""
        found = self._seal().seal_body(body)
        is_first = found is not body and not self._is_used
        self._is_used = self._is_used or is_first
        return found, is_first

    def open(self) -> Seal:
        """The durable seal, for data outside of the journal."""
        seal = self._seal()
        make_folder(os.path.dirname(self._path))
        seal.keep(new=True)
        return seal

    def keep(self) -> None:
        """Make the key durable, if anything was sealed with it. Raises ``OSError``."""
        if self._made is not None:
            make_folder(os.path.dirname(self._path))
            self._made.keep()

    def _seal(self) -> Seal:
        from saltern.journal.seal import Seal

        self._made = self._made or Seal(self._path)
        return self._made
