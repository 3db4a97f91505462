"""``CONSOLE_ROUTES``: what people read before they act: used by the console, and open to any script."""

from __future__ import annotations

from saltern.fleet.api.console_shapes import (
    AnswersAnswer,
    CalendarQuery,
    CalendarSheet,
    CountsAnswer,
    CountsQuery,
    DraftAnswer,
    DraftBody,
    HistoryAnswer,
    HistoryQuery,
    InboxAnswer,
    InboxCount,
    KindsAnswer,
    UsualAnswer,
    WhyAnswer,
    WhyQuery,
)
from saltern.fleet.api.handlers import answers, calendar, drafts, history, inbox
from saltern.fleet.api.route import Route, get, post

CONSOLE_ROUTES: tuple[Route, ...] = (
    get("/v1/inbox", "approvals.read", inbox.list_inbox, InboxAnswer),
    get("/v1/inbox/count", "approvals.read", inbox.count_inbox, InboxCount),
    get("/v1/action-kinds", "chains.read", drafts.list_kinds, KindsAnswer),
    post("/v1/draft-chain", "chains.read", drafts.draft_chain, DraftAnswer, body=DraftBody),
    get("/v1/chains/{chain}/usual", "chains.read", drafts.usual_time, UsualAnswer),
    get("/v1/calendar", "windows.read", calendar.show_calendar, CalendarSheet, query=CalendarQuery),
    get("/v1/windows-why", "windows.read", calendar.explain_windows, WhyAnswer, query=WhyQuery),
    get("/v1/jobs/{jid}/answers", "jobs.read", answers.group_answers, AnswersAnswer),
    get("/v1/history", "events.read", history.list_history, HistoryAnswer, query=HistoryQuery),
    get("/v1/history/counts", "events.read", history.count_events, CountsAnswer, query=CountsQuery),
)
