"""Permission over a database of each kind."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("argon2", reason="needs the extra `controller`")

from argon2 import PasswordHasher
from tests.fleet.store.conftest import database, server

from saltern.fleet.access.passwords import Passwords
from saltern.fleet.access.service import Access
from saltern.fleet.store.database import Database

__all__ = ["database", "server"]


class CountedPasswords(Passwords):
    """Weak and quick, and counts how often a password was compared with a hash."""

    def __init__(self) -> None:
        super().__init__(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
        self.compared = 0

    def matches(self, hashed: str, password: str) -> bool:
        self.compared += 1
        return super().matches(hashed, password)


@pytest.fixture
def passwords() -> CountedPasswords:
    return CountedPasswords()


@pytest.fixture
def access(database: Database, passwords: CountedPasswords, tmp_path: Path) -> Access:
    return Access(database, policy_file=str(tmp_path / "policy.yaml"), passwords=passwords)
