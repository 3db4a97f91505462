"""Runs and plans of chains on a controller."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import Any

from saltern.fleet.client.session import Session, part, query_text

Row = dict[str, Any]


class KnownRuns:
    """Queries about runs of chains."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def list(self, *, chain: str = "", open: bool = False) -> Iterator[Row]:
        return self._session.pages("/v1/chain-runs", chain=chain, open=open)

    def get(self, run: str) -> Row:
        return self._row(run)

    def matrix(self, run: str) -> Row:
        return self._row(run, "/matrix")

    def legs(self, run: str) -> Iterator[Row]:
        """All systems of a run, each with its steps."""
        return self._session.pages(f"/v1/chain-runs/{part(run)}/legs")

    def leg(self, run: str, system: str) -> Row:
        found: Row = self._session.get(f"/v1/chain-runs/{part(run)}/legs/{part(system)}")
        return found

    def shapes(self, run: str, *, at: float | None = None, most: int = 40) -> Row:
        """The run as a matrix with equal rows grouped; ``at``: as it was then."""
        return self._row(run, f"/shapes{query_text({'at': at, 'most': most})}")

    def rows(self, run: str, *, status: str = "", wave: int | None = None) -> Iterator[Row]:
        """Each system as a row of the matrix."""
        path = f"/v1/chain-runs/{part(run)}/rows"
        return self._session.pages(path, status=status, wave=wave)

    def causes(self, run: str = "") -> builtins.list[Row]:
        """Why systems have failed: in a run, or in all that are open or ended recently."""
        path = f"/v1/chain-runs/{part(run)}/causes" if run else "/v1/causes"
        found: builtins.list[Row] = self._session.get(path)["items"]
        return found

    def moments(self, run: str) -> builtins.list[Row]:
        """When something happened to a run."""
        found: builtins.list[Row] = self._row(run, "/moments")["items"]
        return found

    def log(self, run: str) -> Iterator[Row]:
        return self._session.pages(f"/v1/chain-runs/{part(run)}/log")

    def outputs(self, run: str) -> Iterator[Row]:
        """How much every action has printed on every system, without the text."""
        return self._session.pages(f"/v1/chain-runs/{part(run)}/outputs")

    def texts(self, run: str, system: str, *, action: str = "", attempt: int | None = None) -> Iterator[Row]:
        """What actions have printed on one system."""
        path = f"/v1/chain-runs/{part(run)}/legs/{part(system)}/outputs"
        return self._session.pages(path, action=action, attempt=attempt)

    def _row(self, run: str, below: str = "") -> Row:
        found: Row = self._session.get(f"/v1/chain-runs/{part(run)}{below}")
        return found


class ChainRuns(KnownRuns):
    """Runs of chains across systems."""

    def start(self, target: str, *, client_token: str = "", **options: Any) -> Row:
        """Run a chain: by its name (``chain``) or its ``text``; ``rollout`` says how."""
        found: Row = self._session.post(
            "/v1/chain-runs", {"target": target, **options}, client_token=client_token
        )
        return found

    def start_planned(self, plan: str, *, client_token: str = "", **options: Any) -> Row:
        """Run a stored plan; refused if what it depends on has changed."""
        found: Row = self._session.post(
            "/v1/chain-runs", {"plan": plan, **options}, client_token=client_token
        )
        return found

    def order(self, run: str, verb: str, **options: Any) -> dict[str, str]:
        """Pause, resume, cancel, retry, skip, done, release; what it changed."""
        answer = self._session.post(f"/v1/chain-runs/{part(run)}/orders", {"verb": verb, **options})
        changed: dict[str, str] = answer["changed"]
        return changed

    def vote(self, run: str, gate: str, *, approves: bool, plan_sha256: str, reason: str = "") -> Row:
        body = {"approves": approves, "plan_sha256": plan_sha256, "reason": reason}
        found: Row = self._session.post(f"/v1/chain-runs/{part(run)}/gates/{part(gate)}/votes", body)
        return found


class ChainPlans:
    """Stored plans: what chains would do on all their systems."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def make(self, target: str, **options: Any) -> str:
        """Begin a plan of a chain: by its name (``chain``) or its ``text``; its number."""
        made = self._session.post("/v1/chain-plans", {"target": target, **options})
        return str(made["plan"])

    def list(self, *, chain: str = "") -> Iterator[Row]:
        return self._session.pages("/v1/chain-plans", chain=chain)

    def get(self, plan: str) -> Row:
        """A plan by its digest, the beginning of its digest, or its number."""
        found: Row = self._session.get(f"/v1/chain-plans/{part(plan)}")
        return found
