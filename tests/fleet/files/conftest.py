"""A database of each kind for the trees of a controller."""

from __future__ import annotations

from tests.fleet.store.conftest import address, database, server

__all__ = ["address", "database", "server"]
