"""Topics of the pages about work that is planned and asked for."""

from __future__ import annotations

from saltern.fleet.console.row import Topic

WORK_TOPICS: tuple[Topic, ...] = ()
