"""What can be asked, by what it is about: one method for each route."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from saltern.fleet.client.session import Session, part

Row = dict[str, Any]


class Systems:
    """Systems and their keys."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def list(self, *, state: str = "", target: str = "") -> Iterator[Row]:
        return self._session.pages("/v1/systems", state=state, target=target)

    def get(self, system: str) -> Row:
        return self._row(system)

    def facts(self, system: str) -> Row:
        return self._row(system, "/facts")

    def _row(self, system: str, below: str = "") -> Row:
        found: Row = self._session.get(f"/v1/systems/{part(system)}{below}")
        return found


class Jobs:
    """Jobs and what came of them."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def list(
        self, *, user: str = "", function: str = "", parent: str = "", system: str = "", open: bool = False
    ) -> Iterator[Row]:
        """Jobs, the newest first."""
        return self._session.pages(
            "/v1/jobs", user=user, function=function, parent=parent, system=system, open=open
        )

    def get(self, jid: str) -> Row:
        found: Row = self._session.get(f"/v1/jobs/{part(jid)}")
        return found

    def targets(self, jid: str, *, status: str = "") -> Iterator[Row]:
        return self._session.pages(f"/v1/jobs/{part(jid)}/targets", status=status)

    def returns(self, jid: str) -> Iterator[Row]:
        """What the systems returned, each with its ``body``."""
        return self._session.pages(f"/v1/jobs/{part(jid)}/returns")

    def returned(self, jid: str, system: str) -> Row:
        """What one system returned."""
        found: Row = self._session.get(f"/v1/jobs/{part(jid)}/returns/{part(system)}")
        return found

    def records(self, jid: str, system: str) -> Iterator[Row]:
        return self._session.pages(f"/v1/jobs/{part(jid)}/records/{part(system)}")


class Audit:
    """Who did what."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def list(self) -> Iterator[Row]:
        return self._session.pages("/v1/audit")

    def verify(self, *, number: int = 0, digest: str = "") -> Row:
        """Whether the chain is whole; with a row that was noted before, also that its end was not cut off."""
        found: Row = self._session.get("/v1/audit/verify", number=number or None, digest=digest)
        return found
