"""Pages for planned and requested work: chains, plans, calendar, commands, jobs, events, admin."""

from __future__ import annotations

from saltern.fleet.console.row import Page
from saltern.fleet.console.views.admin import ADMIN_PAGES
from saltern.fleet.console.views.builder import BUILDER_PAGES
from saltern.fleet.console.views.calendar import CALENDAR_PAGES
from saltern.fleet.console.views.chains import CHAIN_PAGES
from saltern.fleet.console.views.command import COMMAND_PAGES
from saltern.fleet.console.views.draft_plan import DRAFT_PLAN_PAGES
from saltern.fleet.console.views.events import EVENT_PAGES
from saltern.fleet.console.views.inbox import INBOX_PAGES
from saltern.fleet.console.views.plan import PLAN_PAGES

WORK_PAGES: tuple[Page, ...] = (
    *CHAIN_PAGES,
    *BUILDER_PAGES,
    *DRAFT_PLAN_PAGES,
    *PLAN_PAGES,
    *INBOX_PAGES,
    *CALENDAR_PAGES,
    *COMMAND_PAGES,
    *EVENT_PAGES,
    *ADMIN_PAGES,
)
