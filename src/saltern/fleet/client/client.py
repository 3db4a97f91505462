"""``Client``: a controller's HTTP API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from saltern.fleet.client.access import Approvals, Operators, Own, Policy
from saltern.fleet.client.address import parse_address
from saltern.fleet.client.chains import ChainPlans, ChainRuns
from saltern.fleet.client.follow import PATIENCE, Follower, OnBreak, ignore
from saltern.fleet.client.library import Chains, Schedules, Subscriptions, Windows
from saltern.fleet.client.orchestrations import OrchestrationJobs
from saltern.fleet.client.reactor import Mine, Reactor
from saltern.fleet.client.resources import Audit, Groups, Jobs, Systems, Tokens, Trees
from saltern.fleet.client.session import Session, new_token, part, write_request
from saltern.fleet.client.start import start_stream
from saltern.fleet.client.transport import Trust


class About:
    """Information about a controller, and about the caller."""

    session: Session

    def health(self) -> dict[str, Any]:
        found: dict[str, Any] = self.session.get("/v1/health")
        return found

    def ready(self) -> dict[str, Any]:
        """Return if all parts work; raise ``ControllerError`` with those that do not."""
        found: dict[str, Any] = self.session.get("/v1/ready")
        return found

    def metrics(self) -> str:
        found: str = self.session.get("/metrics")
        return found

    def me(self) -> dict[str, Any]:
        found: dict[str, Any] = self.session.get("/v1/me")
        return found

    def openapi(self) -> dict[str, Any]:
        found: dict[str, Any] = self.session.get("/v1/openapi.json")
        return found

    def inbox(self) -> dict[str, Any]:
        """All that waits for a decision of a person."""
        found: dict[str, Any] = self.session.get("/v1/inbox")
        return found


class Client(About):
    """A controller at an address, used with a token (or, on its UNIX socket, as the calling user).

    Answers are the JSON of the API: docs/reference/api.md. Lists are iterators that fetch page by page.
    Problems are ``ControllerError``, and ``Unreachable`` if no answer comes.
    """

    def __init__(self, address: str, token: str = "", *, ca: str = "") -> None:
        self.session = Session(parse_address(address), token, Trust(ca=ca))
        self.systems = Systems(self.session)
        self.jobs = Jobs(self.session)
        self.orchestrations = OrchestrationJobs(self.session)
        self.tokens = Tokens(self.session)
        self.groups = Groups(self.session)
        self.trees = Trees(self.session)
        self.chains = Chains(self.session)
        self.windows = Windows(self.session)
        self.subscriptions = Subscriptions(self.session)
        self.schedules = Schedules(self.session)
        self.own = Own(self.session)
        self.operators = Operators(self.session)
        self.policy = Policy(self.session)
        self.approvals = Approvals(self.session)
        self.audit = Audit(self.session)
        self.chain_runs = ChainRuns(self.session)
        self.chain_plans = ChainPlans(self.session)
        self.reactor = Reactor(self.session)
        self.mine = Mine(self.session)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_problem: object) -> None:
        self.close()

    def events(self, *, after: int = 0, tag: str = "") -> Iterator[dict[str, Any]]:
        """Stored events, the oldest first."""
        page: dict[str, Any] = {"next": after or "0"}
        while page["next"]:
            page = self.session.get("/v1/events", after=page["next"], tag=tag)
            yield from page["items"]

    def history(self, **wanted: Any) -> Iterator[dict[str, Any]]:
        """Past events, the newest first: ``tag``, ``system``, ``since``, ``until``."""
        return self.session.pages("/v1/history", **wanted)

    def history_counts(self, since: float, until: float, **wanted: Any) -> dict[str, Any]:
        """How many events there were over time."""
        found: dict[str, Any] = self.session.get("/v1/history/counts", since=since, until=until, **wanted)
        return found

    def newest_event(self) -> int:
        """The number of the newest event."""
        return int(self.session.get("/v1/events/newest")["number"])

    def send_event(
        self, tag: str, data: Mapping[str, Any] | None = None, *, cause: str = "", client_token: str = ""
    ) -> int:
        """Send an event; return its number. ``cause``: the job or the reaction that caused it."""
        body = {"tag": tag, "data": dict(data or {}), **({"cause": cause} if cause else {})}
        return int(self.session.post("/v1/events", body, client_token=client_token)["number"])

    def follow(
        self,
        jid: str = "",
        *,
        tag: str = "",
        after: int | None = None,
        patience: float = PATIENCE,
        on_break: OnBreak = ignore,
    ) -> Iterator[dict[str, Any]]:
        """Notices as they come: of a job until it has ended, or of the whole fleet.

        A connection that breaks is made again, and the notices continue where they were; ``on_break`` is
        called with what happened. After ``patience`` seconds without a controller, the problem is raised.
        """
        path = f"/v1/jobs/{part(jid)}/events" if jid else "/v1/events"
        query: dict[str, object] = {"after": None if after is None else str(after), "tag": tag}
        return Follower(self.session, path, query, patience=patience, on_break=on_break).notices()

    def start(
        self,
        function: str,
        target: str,
        *,
        returns: bool = True,
        client_token: str = "",
        on_break: OnBreak = ignore,
        **options: Any,
    ) -> tuple[dict[str, Any], Follower]:
        """Start a job with one request that also follows it: what ``jobs.submit`` answers, and the notices.

        ``returns``: before the last notice, each system has one of the kind ``return``, with what it
        returned. A connection that breaks is made again, and ``on_break`` is called with what happened; no
        returns follow then, and ``jobs.returns`` has them.
        """
        body = {"function": function, "target": target, **options}
        headers, data = write_request(body, client_token or new_token())
        where = "/v1/jobs" if returns else "/v1/jobs?returns=false"
        job, stream = start_stream(self.session, where, headers, data, on_break)
        path = f"/v1/jobs/{part(job['jid'])}/events"
        query: dict[str, object] = {"after": str(job["cursor"]) if job["cursor"] else None}
        begun = stream if stream.events else None  # the caller may not read jobs
        return job, Follower(self.session, path, query, patience=PATIENCE, on_break=on_break, begun=begun)

    def close(self) -> None:
        self.session.close()
