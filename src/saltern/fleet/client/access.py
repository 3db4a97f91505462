"""Operators, the policy and approvals: one method for each route."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from saltern.fleet.client.session import Session, part

Row = dict[str, Any]
DAY = 86_400.0


class Own:
    """What belongs to the caller."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def login(self, name: str, password: str, *, way: str = "local") -> Row:
        """Begin a session, and use its token from now on."""
        body = {"name": name, "password": password, "way": way}
        found: Row = self._session.post("/v1/login", body)
        self._session.token = found["token"]
        return found

    def ways(self) -> list[str]:
        """The ways to log in: ``local``, ``pam``, ``oidc``."""
        found: list[str] = self._session.get("/v1/login")["ways"]
        return found

    def begin_oidc(self, redirect: str, challenge: str) -> Row:
        """The ``address`` for the browser, and the ``state`` that must come back with the code."""
        found: Row = self._session.post("/v1/login/oidc", {"redirect": redirect, "challenge": challenge})
        return found

    def finish_oidc(self, state: str, code: str, verifier: str, *, issuer: str = "") -> Row:
        """Begin a session with the code that came back, and use its token from now on."""
        body = {"state": state, "code": code, "verifier": verifier, "issuer": issuer}
        found: Row = self._session.post("/v1/login/oidc/finish", body)
        self._session.token = found["token"]
        return found

    def make_link(self) -> Row:
        """A code for one sign-in in a browser: for the admin on the controller's socket."""
        found: Row = self._session.post("/v1/login/link")
        return found

    def finish_link(self, code: str) -> Row:
        """Begin a session with the code of a link, and use its token from now on."""
        found: Row = self._session.post("/v1/login/link/finish", {"code": code})
        self._session.token = found["token"]
        return found

    def logout(self) -> None:
        self._session.post("/v1/logout")
        self._session.token = ""

    def password(self, old: str, new: str) -> None:
        self._session.post("/v1/me/password", {"old": old, "new": new})

    def tokens(self) -> Iterator[Row]:
        return self._session.pages("/v1/me/tokens")

    def make_token(
        self, *, label: str = "", scopes: Sequence[str] | None = None, life: float = 90 * DAY
    ) -> Row:
        """A new API token, with its secret."""
        found: Row = self._session.post("/v1/me/tokens", _token_body(label, scopes, life))
        return found

    def remove_token(self, token: str) -> None:
        self._session.delete(f"/v1/me/tokens/{part(token)}")


class Operators:
    """Operators and their API tokens."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def list(self) -> Iterator[Row]:
        return self._session.pages("/v1/operators")

    def get(self, name: str) -> Row:
        found: Row = self._session.get(f"/v1/operators/{part(name)}")
        return found

    def add(self, name: str, **fields: Any) -> Row:
        """Add one; ``fields`` are roles, groups, password and note."""
        found: Row = self._session.post("/v1/operators", {"name": name, **fields})
        return found

    def change(self, name: str, **fields: Any) -> Row:
        """Change roles, groups or disabled."""
        found: Row = self._session.patch(f"/v1/operators/{part(name)}", fields)
        return found

    def remove(self, name: str) -> None:
        self._session.delete(f"/v1/operators/{part(name)}")

    def password(self, name: str, password: str) -> None:
        self._session.post(f"/v1/operators/{part(name)}/password", {"password": password})

    def tokens(self, name: str) -> Iterator[Row]:
        return self._session.pages(f"/v1/operators/{part(name)}/tokens")

    def make_token(
        self, name: str, *, label: str = "", scopes: Sequence[str] | None = None, life: float = 90 * DAY
    ) -> Row:
        """A new API token of an operator, with its secret."""
        body = _token_body(label, scopes, life)
        found: Row = self._session.post(f"/v1/operators/{part(name)}/tokens", body)
        return found

    def remove_token(self, name: str, token: str) -> None:
        self._session.delete(f"/v1/operators/{part(name)}/tokens/{part(token)}")


class Policy:
    """The policy in force, and its versions."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def get(self) -> Row:
        found: Row = self._session.get("/v1/policy")
        return found

    def set(self, text: str, *, after: int | None = None) -> Row:
        """Replace the policy; ``after`` is the version that was edited."""
        found: Row = self._session.put("/v1/policy", {"text": text, "after": after})
        return found

    def versions(self) -> Iterator[Row]:
        return self._session.pages("/v1/policy/versions")

    def explain(self, who: str, function: str, target: str, **fields: Any) -> Row:
        """The decision on a job, and why; ``fields`` are test, roles and groups."""
        body = {"who": who, "function": function, "target": target, **fields}
        found: Row = self._session.post("/v1/policy/explain", body)
        return found


class Approvals:
    """Jobs that need the approval of other persons."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def list(self, *, state: str = "") -> Iterator[Row]:
        return self._session.pages("/v1/approvals", state=state)

    def approve(self, approval: str, *, why: str = "") -> Row:
        return self._vote(approval, "approve", why)

    def reject(self, approval: str, *, why: str = "") -> Row:
        return self._vote(approval, "reject", why)

    def _vote(self, approval: str, what: str, why: str) -> Row:
        found: Row = self._session.post(f"/v1/approvals/{part(approval)}/{what}", {"why": why})
        return found


def _token_body(label: str, scopes: Sequence[str] | None, life: float) -> Row:
    return {"label": label, "scopes": None if scopes is None else [*scopes], "life": life}
