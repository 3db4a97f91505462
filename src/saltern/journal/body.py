"""The body of a record, as MessagePack data."""

from __future__ import annotations

from typing import Any

Body = dict[str, Any]
