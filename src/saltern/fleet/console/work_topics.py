"""Topics of the pages about work that is planned and asked for."""

from __future__ import annotations

from saltern.fleet.console.row import Topic
from saltern.fleet.console.views.command import COMMAND_TOPICS
from saltern.fleet.console.views.inbox import INBOX_TOPICS

WORK_TOPICS: tuple[Topic, ...] = (*COMMAND_TOPICS, *INBOX_TOPICS)
