"""Topics of the pages for planned and requested work."""

from __future__ import annotations

from saltern.fleet.console.row import Topic
from saltern.fleet.console.views.command import COMMAND_TOPICS
from saltern.fleet.console.views.inbox import INBOX_TOPICS

WORK_TOPICS: tuple[Topic, ...] = (*COMMAND_TOPICS, *INBOX_TOPICS)
