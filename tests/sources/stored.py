"""Values that a store takes, finds and removes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from saltern.language import secrets
from saltern.modules.lib import sdb


def check_stored_and_removed(addresses: Iterable[str], opts: Mapping[str, Any]) -> None:
    """A value is stored, found, kept out of messages, and removed once."""
    for uri in addresses:
        assert sdb.put(uri, "st0red-value", opts) is True
        assert sdb.get(uri, opts) == "st0red-value"
        assert secrets.mask("st0red-value") == "***"
        assert sdb.delete(uri, opts) is True
        assert sdb.delete(uri, opts) is False
