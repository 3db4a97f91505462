"""Actions about work that is planned and asked for."""

from __future__ import annotations

from saltern.fleet.console.row import Act

WORK_ACTS: tuple[Act, ...] = ()
