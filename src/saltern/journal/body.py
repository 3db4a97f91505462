"""The body of a record, as MessagePack has it."""

from __future__ import annotations

from typing import Any

Body = dict[str, Any]
