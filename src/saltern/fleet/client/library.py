"""Stored chains, maintenance windows and schedules: one method for each route."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import Any

from saltern.fleet.client.session import Session, part

Row = dict[str, Any]


class Chains:
    """Chains and their versions."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def list(self, *, archived: bool = False) -> Iterator[Row]:
        return self._session.pages("/v1/chains", archived=archived)

    def get(self, chain: str) -> Row:
        found: Row = self._session.get(f"/v1/chains/{part(chain)}")
        return found

    def save(self, text: str, *, note: str = "", base: int | None = None) -> Row:
        """Keep a text as the newest version of the chain that it names."""
        found: Row = self._session.post("/v1/chains", {"text": text, "note": note, "base": base})
        return found

    def versions(self, chain: str) -> Iterator[Row]:
        return self._session.pages(f"/v1/chains/{part(chain)}/versions")

    def text(self, chain: str, version: int | None = None) -> Row:
        found: Row = self._session.get(f"/v1/chains/{part(chain)}/text", **_given_values(version=version))
        return found

    def diff(self, chain: str, *, old: int | None = None, new: int | None = None) -> Row:
        found: Row = self._session.get(f"/v1/chains/{part(chain)}/diff", **_given_values(old=old, new=new))
        return found

    def validate(self, text: str, target: str = "*") -> builtins.list[Row]:
        """What is wrong with a chain on the systems of a target."""
        answer = self._session.post("/v1/validate-chain", {"text": text, "target": target})
        found: builtins.list[Row] = answer["findings"]
        return found

    def draft(self, text: str = "", **edit: Any) -> Row:
        """The text of a chain, changed if ``verb`` and its place are given, with its actions and its
        problems. Nothing is stored.
        """
        found: Row = self._session.post("/v1/draft-chain", {"text": text, "edits": [edit] if edit else []})
        return found

    def usual(self, chain: str) -> Row:
        """Seconds that runs of a chain usually take."""
        found: Row = self._session.get(f"/v1/chains/{part(chain)}/usual")
        return found

    def kinds(self) -> Row:
        """The kinds of actions, and the keys of each."""
        found: Row = self._session.get("/v1/action-kinds")
        return found

    def archive(self, chain: str, *, undo: bool = False) -> Row:
        found: Row = self._session.post(f"/v1/chains/{part(chain)}/archive", {"undo": undo})
        return found


class Windows:
    """Maintenance windows."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def list(self) -> Iterator[Row]:
        return self._session.pages("/v1/windows")

    def set(self, name: str, text: str, **options: Any) -> Row:
        """Keep a calendar. ``options`` are the other fields of the route's body: kind, zone, target, note."""
        found: Row = self._session.post("/v1/windows", {"name": name, "text": text, **options})
        return found

    def remove(self, name: str) -> None:
        self._session.delete(f"/v1/windows/{part(name)}")

    def check(self, target: str = "*", **options: Any) -> Iterator[Row]:
        """Whether work may begin on each system, why not now, and its next windows."""
        return self._session.pages("/v1/windows-check", target=target, **_given_values(**options))

    def calendar(self, *, begin: float | None = None, days: int = 7, count: bool = False) -> Row:
        """The windows of some days, and what schedules plan in them; ``count``: for how many systems."""
        found: Row = self._session.get("/v1/calendar", **_given_values(begin=begin, days=days, count=count))
        return found

    def why(self, target: str = "*", **options: Any) -> Row:
        """Why work may begin or not, with systems grouped by reason."""
        found: Row = self._session.get("/v1/windows-why", target=target, **_given_values(**options))
        return found


class Schedules:
    """Schedules of chains."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def list(self) -> Iterator[Row]:
        return self._session.pages("/v1/schedules")

    def get(self, name: str) -> Row:
        found: Row = self._session.get(f"/v1/schedules/{part(name)}")
        return found

    def set(self, name: str, chain: str, cron: str, **options: Any) -> Row:
        """Keep a schedule. ``options`` are the other fields of the route's body."""
        body = {"name": name, "chain": chain, "cron": cron, **options}
        found: Row = self._session.post("/v1/schedules", body)
        return found

    def remove(self, name: str) -> None:
        self._session.delete(f"/v1/schedules/{part(name)}")

    def enable(self, name: str) -> Row:
        found: Row = self._session.post(f"/v1/schedules/{part(name)}/enable", {})
        return found

    def disable(self, name: str) -> Row:
        found: Row = self._session.post(f"/v1/schedules/{part(name)}/disable", {})
        return found


class Subscriptions:
    """Who is notified of what happens to chains."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def list(self) -> Iterator[Row]:
        return self._session.pages("/v1/subscriptions")

    def set(self, name: str, kind: str, address: str, **options: Any) -> Row:
        """Keep a subscription; the key of its signatures is in the answer if it was made now."""
        body = {"name": name, "kind": kind, "address": address, **options}
        found: Row = self._session.post("/v1/subscriptions", body)
        return found

    def remove(self, name: str) -> None:
        self._session.delete(f"/v1/subscriptions/{part(name)}")

    def deliveries(self, name: str) -> Iterator[Row]:
        """Notifications: sent, waiting and dead, the newest first."""
        return self._session.pages(f"/v1/subscriptions/{part(name)}/deliveries")

    def retry(self, name: str) -> int:
        """Send dead notifications again; return how many."""
        return int(self._session.post(f"/v1/subscriptions/{part(name)}/retry", {})["again"])


def _given_values(**values: Any) -> Row:
    return {name: value for name, value in values.items() if value is not None}
