"""``TOPICS``: what pages follow, one row each."""

from __future__ import annotations

import re
from collections.abc import Mapping

from saltern.fleet.console.list_topics import LIST_TOPICS
from saltern.fleet.console.row import Topic
from saltern.fleet.console.views import leg, overview, runs
from saltern.fleet.console.work_topics import WORK_TOPICS

TOPICS: tuple[Topic, ...] = (
    Topic(
        name="fleet",
        action="jobs.read",
        gather=overview.gather_topic,
        parts=("fleet-head", "fleet-causes", "fleet-runs", "fleet-inbox", "fleet-changes"),
    ),
    Topic(
        name="run/{run}",
        action="jobs.read",
        gather=runs.gather_topic,
        parts=("run-head", "run-waves", "run-filter", "run-causes", "run-matrix", "run-moments", "offers"),
        tags=("saltern/chain/{run}/",),
        progress=True,
    ),
    Topic(
        name="leg/{run}/{system}",
        action="jobs.read",
        gather=leg.gather_topic,
        parts=("leg-head", "leg-line", "leg-journal", "offers"),
        tags=("saltern/chain/{run}/",),
        progress=True,
    ),
    *LIST_TOPICS,
    *WORK_TOPICS,
)
_NAME = re.compile(r"\\\{(\w+)\\\}")


def find_topic(name: str, topics: tuple[Topic, ...] = ()) -> tuple[Topic, Mapping[str, str]] | None:
    """The row for a name such as ``run/20261116…``, and the values in it."""
    for topic in topics or TOPICS:
        pattern = _NAME.sub(r"(?P<\1>[^/]+)", re.escape(topic.name))
        if found := re.fullmatch(pattern, name):
            return topic, found.groupdict()
    return None
