"""``PAGES``: every page of the console, one row each.

A page has a path, the action of the policy that its reader needs, a function that gathers its data (all of
it from the API, through ``Ask``), and a template. ``topic`` names the row of ``TOPICS`` that keeps it live.
"""

from __future__ import annotations

from saltern.fleet.console.row import Page
from saltern.fleet.console.views import account, leg, output, overview, runs, states, systems
from saltern.fleet.console.work_pages import WORK_PAGES

PAGES: tuple[Page, ...] = (
    Page(
        path="/",
        name="Overview",
        action="jobs.read",
        gather=overview.gather,
        template="overview.html",
        topic="fleet",
    ),
    Page(
        path="/systems",
        name="Systems",
        action="systems.read",
        gather=systems.gather_list,
        template="systems.html",
        topic="list/systems",
    ),
    Page(
        path="/systems/{system}",
        name="System",
        action="systems.read",
        gather=systems.gather_system,
        template="system.html",
        here="Systems",
    ),
    Page(
        path="/runs",
        name="Runs",
        action="jobs.read",
        gather=runs.gather_list,
        template="runs.html",
        topic="list/runs",
    ),
    Page(
        path="/runs/{run}",
        name="Run",
        action="jobs.read",
        gather=runs.gather_run,
        template="run.html",
        here="Runs",
        topic="run/{run}",
    ),
    Page(
        path="/runs/{run}/{system}",
        name="Leg",
        action="jobs.read",
        gather=leg.gather,
        template="leg.html",
        here="Runs",
        topic="leg/{run}/{system}",
    ),
    Page(
        path="/runs/{run}/{system}/output",
        name="Output",
        action="jobs.read",
        gather=output.gather_output,
        template="drawer.html",
        here="Runs",
    ),
    Page(
        path="/jobs/{jid}/{system}/states",
        name="States",
        action="jobs.read",
        gather=states.gather,
        template="states.html",
        here="Runs",
    ),
    Page(path="/account", name="Account", action="own.read", gather=account.gather, template="account.html"),
    *WORK_PAGES,
)
# The entries of the menu: a name, and its page. A reader sees only the allowed ones.
MENU = ("Overview", "Systems", "Runs", "Chains", "Command", "Calendar", "Events", "Inbox", "Admin")
