"""``salt.defaults``."""

from __future__ import annotations

DEFAULT_TARGET_DELIM = ":"
