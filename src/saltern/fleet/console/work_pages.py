"""Pages about work that is planned and asked for: chains, plans, calendar, commands, jobs, events, admin."""

from __future__ import annotations

from saltern.fleet.console.row import Page

WORK_PAGES: tuple[Page, ...] = ()
