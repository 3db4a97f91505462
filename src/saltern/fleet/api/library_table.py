"""``LIBRARY_ROUTES``: chains as objects, maintenance windows, schedules."""

from __future__ import annotations

from saltern.fleet.api.handlers import chain_library, windows
from saltern.fleet.api.library_shapes import (
    ArchiveBody,
    CalendarAnswer,
    CalendarBody,
    ChainAnswer,
    ChainBody,
    ChainDiff,
    ChainDiffQuery,
    ChainsQuery,
    ScheduleAnswer,
    ScheduleBody,
    ValidateBody,
    Validated,
    VersionAnswer,
    VersionQuery,
    WindowAnswer,
    WindowQuery,
)
from saltern.fleet.api.pages import Page, PageQuery
from saltern.fleet.api.route import Route, delete, get, post
from saltern.fleet.api.shapes import NoBody

CHAIN = "/v1/chains/{chain}"
SCHEDULE = "/v1/schedules/{schedule}"
LIBRARY_ROUTES: tuple[Route, ...] = (
    get("/v1/chains", "chains.read", chain_library.list_chains, Page[ChainAnswer], query=ChainsQuery),
    post("/v1/chains", "chains.write", chain_library.save_chain, VersionAnswer, body=ChainBody),
    post("/v1/validate-chain", "chains.read", chain_library.validate_chain, Validated, body=ValidateBody),
    get(CHAIN, "chains.read", chain_library.get_chain, ChainAnswer),
    get(
        f"{CHAIN}/versions",
        "chains.read",
        chain_library.list_versions,
        Page[VersionAnswer],
        query=PageQuery,
    ),
    get(f"{CHAIN}/text", "chains.read", chain_library.get_version, VersionAnswer, query=VersionQuery),
    get(f"{CHAIN}/diff", "chains.read", chain_library.diff_chain, ChainDiff, query=ChainDiffQuery),
    post(f"{CHAIN}/archive", "chains.write", chain_library.archive_chain, ChainAnswer, body=ArchiveBody),
    get("/v1/windows", "windows.read", windows.list_windows, Page[CalendarAnswer], query=PageQuery),
    post("/v1/windows", "windows.write", windows.set_window, CalendarAnswer, body=CalendarBody),
    get("/v1/windows-check", "windows.read", windows.check_windows, Page[WindowAnswer], query=WindowQuery),
    delete("/v1/windows/{window}", "windows.write", windows.remove_window, None, status=204),
    get("/v1/schedules", "schedules.read", windows.list_schedules, Page[ScheduleAnswer], query=PageQuery),
    post("/v1/schedules", "schedules.write", windows.set_schedule, ScheduleAnswer, body=ScheduleBody),
    get(SCHEDULE, "schedules.read", windows.get_schedule, ScheduleAnswer),
    delete(SCHEDULE, "schedules.write", windows.remove_schedule, None, status=204),
    post(f"{SCHEDULE}/enable", "schedules.write", windows.enable_schedule, ScheduleAnswer, body=NoBody),
    post(f"{SCHEDULE}/disable", "schedules.write", windows.disable_schedule, ScheduleAnswer, body=NoBody),
)
