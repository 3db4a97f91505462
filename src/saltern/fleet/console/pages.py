"""``PAGES``: every page of the console, one row each.

A page has a path, the action of the policy that its reader needs, a function that gathers what it shows (all
of it from the API, through ``Ask``), and a template. ``topic`` names what keeps it live, a row of ``TOPICS``.
"""

from __future__ import annotations

from saltern.fleet.console.row import Page
from saltern.fleet.console.views import account, overview
from saltern.fleet.console.work_pages import WORK_PAGES

PAGES: tuple[Page, ...] = (
    Page(path="/", name="Overview", action="jobs.read", gather=overview.gather, template="overview.html"),
    Page(path="/account", name="Account", action="own.read", gather=account.gather, template="account.html"),
    *WORK_PAGES,
)
# What the bar at the top lists: a name, and its page. Only what its reader may see is shown.
MENU = ("Overview", "Systems", "Runs", "Chains", "Command", "Calendar", "Events", "Inbox", "Admin")
