from __future__ import annotations

from collections.abc import Iterator

import pytest

from saltern.language import secrets


@pytest.fixture(autouse=True)
def _no_secrets() -> Iterator[None]:
    """Those of one test are none of the next."""
    yield
    secrets.forget()
