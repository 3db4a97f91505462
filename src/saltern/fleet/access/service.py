"""``Access``: everything about permission that the API and the controller ask for."""

from __future__ import annotations

from collections.abc import Mapping

from saltern.fleet.access.accounts import Accounts
from saltern.fleet.access.approvals import Approvals, Work
from saltern.fleet.access.decide import decide
from saltern.fleet.access.explain import Step, explain
from saltern.fleet.access.links import Links
from saltern.fleet.access.logins import Logins
from saltern.fleet.access.oidc import OidcLogins
from saltern.fleet.access.passwords import Passwords
from saltern.fleet.access.policies import Policies
from saltern.fleet.access.ports import Decision, Matcher, Peer, Principal, Request
from saltern.fleet.access.sessions import Sessions
from saltern.fleet.store.database import Database


class Access:
    """An ``Authority`` over the database. All methods wait for the database: call them in a thread. Only
    ``decide`` and ``explain`` do no more than read the policy, which SQLite answers at once.
    """

    def __init__(
        self, database: Database, *, policy_file: str = "", host: str = "", passwords: Passwords | None = None
    ) -> None:
        passwords = passwords or Passwords()
        self.policies = Policies(database, policy_file, host)
        self.sessions = Sessions(database, self.policies)
        self.accounts = Accounts(database, passwords)
        self.approvals = Approvals(database, self.policies)
        self.oidc = OidcLogins(database, self.policies, self.sessions)
        self.links = Links(database, self.sessions)
        self.logins = Logins(database, self.policies, self.sessions, passwords)

    def authenticate(self, headers: Mapping[str, str], peer: Peer, now: float) -> Principal | None:
        return self.sessions.authenticate(headers, peer, now)

    def decide(self, who: Principal, request: Request, matcher: Matcher, now: float) -> Decision:
        return decide(self.policies.current(), who, request, matcher, now)

    def decide_again(self, who: Principal, request: Request, matcher: Matcher, now: float) -> Decision:
        """Decide by the policy that was read last, even if there is a newer one: for parts of a page."""
        return decide(self.policies.last(), who, request, matcher, now)

    def explain(
        self, who: Principal, request: Request, matcher: Matcher, now: float
    ) -> tuple[Decision, list[Step]]:
        return explain(self.policies.current(), who, request, matcher, now)

    def permit(self, who: Principal, request: Request, work: Work, matcher: Matcher, now: float) -> Decision:
        """Decide on a job, using an approval if there is one; if it needs approval, make a request."""
        return self.approvals.permit(who, request, work, matcher, now)
