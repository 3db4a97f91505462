"""The resources of the API: one method for each route."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Sequence
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
        return _system(self._session, system)

    def facts(self, system: str) -> Row:
        return _system(self._session, system, "/facts")

    def legs(self, system: str) -> Iterator[Row]:
        """The runs of chains on a system, with the result there."""
        return self._session.pages(f"/v1/systems/{part(system)}/legs")

    def glance(self, target: str = "") -> Row:
        """How many systems there are, in which states, and the facts that divide them."""
        found: Row = self._session.get("/v1/glance", target=target)
        return found

    def states(self, target: str = "", *, state: str = "") -> Iterator[Row]:
        """Systems with their problems, the worst first."""
        return self._session.pages("/v1/states", target=target, state=state)

    def accept(self, system: str, *, fingerprint: str = "") -> Row:
        """Accept its key; with a fingerprint, only if it matches."""
        return _decide(self._session, system, "accept", {"fingerprint": fingerprint})

    def reject(self, system: str, *, why: str = "") -> Row:
        return _decide(self._session, system, "reject", {"why": why})

    def revoke(self, system: str, *, why: str = "") -> Row:
        return _decide(self._session, system, "revoke", {"why": why})

    def restore(self, system: str) -> Row:
        return _decide(self._session, system, "restore", {})

    def remove(self, system: str) -> None:
        self._session.delete(f"/v1/systems/{part(system)}")

    def resolve(self, target: str) -> builtins.list[str]:
        """The ids of the systems that a target matches."""
        found: builtins.list[str] = self._session.post("/v1/resolve", {"target": target})["systems"]
        return found

    def poke(self, target: str) -> Row:
        """Who is ``there``, ``away`` or ``silent`` now."""
        found: Row = self._session.post("/v1/poke", {"target": target})
        return found


def _decide(session: Session, system: str, what: str, body: Row) -> Row:
    found: Row = session.post(f"/v1/systems/{part(system)}/{what}", body)
    return found


def _system(session: Session, system: str, below: str = "") -> Row:
    found: Row = session.get(f"/v1/systems/{part(system)}{below}")
    return found


class Jobs:
    """Jobs and their results."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def list(
        self, *, user: str = "", function: str = "", parent: str = "", system: str = "", open: bool = False
    ) -> Iterator[Row]:
        """Jobs, the newest first."""
        return self._session.pages(
            "/v1/jobs", user=user, function=function, parent=parent, system=system, open=open
        )

    def submit(self, function: str, target: str, *, client_token: str = "", **options: Any) -> Row:
        """Start a job. ``options`` are the other fields of the route's body: args, kwargs, test, wait …"""
        body = {"function": function, "target": target, **options}
        found: Row = self._session.post("/v1/jobs", body, client_token=client_token)
        return found

    def cancel(self, jid: str, *, hard: bool = False) -> dict[str, str]:
        """Cancel a job; return what happens on each system."""
        answer = self._session.post(f"/v1/jobs/{part(jid)}/cancel", {"hard": hard})
        found: dict[str, str] = answer["systems"]
        return found

    def get(self, jid: str) -> Row:
        found: Row = self._session.get(f"/v1/jobs/{part(jid)}")
        return found

    def targets(self, jid: str, *, status: str = "") -> Iterator[Row]:
        return self._session.pages(f"/v1/jobs/{part(jid)}/targets", status=status)

    def returns(self, jid: str) -> Iterator[Row]:
        """What the systems returned, each with its ``body``."""
        return self._session.pages(f"/v1/jobs/{part(jid)}/returns")

    def system_return(self, jid: str, system: str) -> Row:
        """What one system returned."""
        found: Row = self._session.get(f"/v1/jobs/{part(jid)}/returns/{part(system)}")
        return found

    def answers(self, jid: str) -> Row:
        """The answers of the systems, with equal ones grouped, and the systems that have not answered."""
        found: Row = self._session.get(f"/v1/jobs/{part(jid)}/answers")
        return found

    def records(self, jid: str, system: str) -> Iterator[Row]:
        return self._session.pages(f"/v1/jobs/{part(jid)}/records/{part(system)}")


class Tokens:
    """Join tokens."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def list(self) -> Iterator[Row]:
        return self._session.pages("/v1/tokens")

    def make(
        self, *, uses: int = 1, life: float = 86_400.0, site: str = "", takes: Sequence[str] = ()
    ) -> str:
        """A new token, as the text to give to machines. ``takes``: systems of the controller's roster that
        become agent systems with it.
        """
        body = {"uses": uses, "life": life, "site": site, **({"takes": [*takes]} if takes else {})}
        token: str = self._session.post("/v1/tokens", body)["token"]
        return token

    def remove(self, token: str) -> None:
        """Remove one, by its id."""
        self._session.delete(f"/v1/tokens/{part(token)}")


class Groups:
    """Names for targets."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def list(self) -> Iterator[Row]:
        return self._session.pages("/v1/groups")

    def set(self, name: str, target: str) -> Row:
        found: Row = self._session.post("/v1/groups", {"name": name, "target": target})
        return found

    def remove(self, name: str) -> None:
        self._session.delete(f"/v1/groups/{part(name)}")


class Trees:
    """Versions of the files that jobs see."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def list(self) -> Iterator[Row]:
        return self._session.pages("/v1/trees")

    def log(self, environment: str = "base") -> Iterator[Row]:
        return self._session.pages(f"/v1/trees/{part(environment)}/log")

    def diff(self, environment: str = "base", *, old: str = "", new: str = "") -> Iterator[Row]:
        return self._session.pages(f"/v1/trees/{part(environment)}/diff", old=old, new=new)

    def publish(self) -> str:
        """Publish the roots as they are now; return the digest of the tree."""
        return self._digest("publish", {})

    def rollback(self, environment: str = "base", *, version: str = "") -> str:
        return self._digest(f"{part(environment)}/rollback", {"version": version})

    def follow(self, environment: str = "base") -> str:
        """Follow the roots again after a rollback."""
        return self._digest(f"{part(environment)}/follow", {})

    def _digest(self, path: str, body: Row) -> str:
        digest: str = self._session.post(f"/v1/trees/{path}", body)["digest"]
        return digest


class Audit:
    """Who did what."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def list(self) -> Iterator[Row]:
        return self._session.pages("/v1/audit")

    def verify(self, *, number: int = 0, digest: str = "") -> Row:
        """Whether the hash chain is intact; with a row that was noted before, also that its end was not cut
        off.
        """
        found: Row = self._session.get("/v1/audit/verify", number=number or None, digest=digest)
        return found
