"""Orchestrations, as their processes report them to a controller."""

from __future__ import annotations

from typing import Any

from saltern.fleet.client.session import Session, part

Row = dict[str, Any]


class OrchestrationJobs:
    """Orchestrations among the jobs of a controller."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def begin(self, jid: str, sls: list[str], system: str, **options: Any) -> Row:
        """Record an orchestration. ``options`` are the other fields of the route's body: test, environment,
        parent.
        """
        body = {"jid": jid, "sls": sls, "system": system, **options}
        found: Row = self._session.post("/v1/orchestrations", body)
        return found

    def end(self, jid: str, status: str, **fields: Any) -> None:
        """Report how an orchestration ended."""
        self._session.post(f"/v1/orchestrations/{part(jid)}/end", {"status": status, **fields})
