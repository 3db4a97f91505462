"""``salt.utils.dateutils``."""

from __future__ import annotations

from saltern.render.filters.dates import _moment as date_cast
from saltern.render.filters.dates import strftime

__all__ = ("date_cast", "strftime")
