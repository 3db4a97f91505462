"""The mine and the reactor of a controller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from saltern.fleet.client.session import Session, part

Row = dict[str, Any]


class Mine:
    """What systems have published for others."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def of(self, system: str) -> Sequence[Row]:
        """All that a system has published: function, value, when."""
        rows: Sequence[Row] = self._session.get(f"/v1/systems/{part(system)}/mine")["items"]
        return rows


class Reactor:
    """The reactor of a controller."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def list(self) -> Sequence[Row]:
        """The map: patterns of tags, and the files that define the reactions."""
        rows: Sequence[Row] = self._session.get("/v1/reactor")["items"]
        return rows

    def add(self, tag: str, sources: Sequence[str]) -> Row:
        found: Row = self._session.post("/v1/reactor", {"tag": tag, "sources": [*sources]})
        return found

    def remove(self, tag: str) -> None:
        self._session.delete(f"/v1/reactor?tag={part(tag)}")

    def test(self, tag: str, data: Mapping[str, Any]) -> Row:
        """The reactions that an event would cause; nothing is done."""
        found: Row = self._session.post("/v1/reactor/test", {"tag": tag, "data": dict(data)})
        return found

    def reactions(self, *, limit: int = 50, before: int = 0) -> Sequence[Row]:
        """Reactions to events, the newest first."""
        rows: Sequence[Row] = self._session.get("/v1/reactions", limit=limit, before=before or None)["items"]
        return rows
