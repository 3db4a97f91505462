from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyrage
import pytest
from tests.e2e.command import Place
from tests.secrets.keyring import KeyRing, key_ring

from saltern.language import secrets


@pytest.fixture(scope="session")
def ring() -> Iterator[KeyRing]:
    with key_ring() as made:
        yield made


@pytest.fixture(autouse=True)
def _no_secrets() -> Iterator[None]:
    """Those of one test are none of the next."""
    yield
    secrets.forget()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def identity() -> pyrage.x25519.Identity:
    """A key of age, which sops encrypts for, too."""
    return pyrage.x25519.Identity.generate()
