"""Passwords, hashed with argon2id. A comparison takes the same time whether or not there is a hash."""

from __future__ import annotations

import threading
from functools import cached_property

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from saltern.language.diagnostics import Diagnostic, OperationError

SHORTEST, LONGEST = 10, 1000  # characters
AT_ONCE = 4  # each takes 64 MB for a moment


class Passwords:
    """Hashes and compares. ``hasher`` is given by tests, which need no strong hashes."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()
        self._room = threading.BoundedSemaphore(AT_ONCE)

    @cached_property
    def _decoy(self) -> str:
        """A hash to compare with when there is none; made once, because that takes a tenth of a second."""
        return self._hasher.hash("no password at all")

    def hash(self, password: str) -> str:
        with self._room:
            return self._hasher.hash(password)

    def matches(self, hashed: str, password: str) -> bool:
        """True if the password has this hash. An empty hash matches no password, and takes as long
        to check.
        """
        with self._room:
            decoy = self._decoy
            try:
                return self._hasher.verify(hashed or decoy, password[:LONGEST]) and bool(hashed)
            except (VerificationError, InvalidHashError):
                return False

    def is_weak(self, hashed: str) -> bool:
        """True if the hash was made with weaker parameters than the current ones."""
        return self._hasher.check_needs_rehash(hashed)


def check_password(name: str, password: str) -> None:
    """Refuse a password that is too short, too long, or the name itself."""
    what = ""
    if not SHORTEST <= len(password) <= LONGEST:
        what = f"a password has from {SHORTEST} to {LONGEST} characters"
    elif name.lower() in password.lower() and len(password) < len(name) + SHORTEST:
        what = "the password is little more than the name"
    elif len(set(password)) < SHORTEST // 2:
        what = "the password repeats a few characters"
    if what:
        fix = "use a password manager, or four words that do not belong together"
        raise OperationError(Diagnostic(code="password-weak", what=what, fix=fix))
