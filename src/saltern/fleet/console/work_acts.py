"""Actions for planned and requested work."""

from __future__ import annotations

from saltern.fleet.console.row import Act
from saltern.fleet.console.views.admin import ADMIN_ACTS
from saltern.fleet.console.views.builder import BUILDER_ACTS
from saltern.fleet.console.views.calendar import CALENDAR_ACTS
from saltern.fleet.console.views.chains import CHAIN_ACTS
from saltern.fleet.console.views.command import COMMAND_ACTS
from saltern.fleet.console.views.draft_plan import DRAFT_PLAN_ACTS
from saltern.fleet.console.views.inbox import INBOX_ACTS
from saltern.fleet.console.views.plan import PLAN_ACTS

WORK_ACTS: tuple[Act, ...] = (
    *CHAIN_ACTS,
    *BUILDER_ACTS,
    *DRAFT_PLAN_ACTS,
    *PLAN_ACTS,
    *INBOX_ACTS,
    *CALENDAR_ACTS,
    *COMMAND_ACTS,
    *ADMIN_ACTS,
)
