"""The types of permission that other packages use: ``Principal``, ``ACTIONS``, ``Request``, ``Decision``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum
from typing import Protocol

from msgspec import Struct

ROLES: dict[str, str] = {
    "viewer": "read systems, facts, jobs, returns, events and trees",
    "operator": "all that a viewer may; what they may run is decided by rules for `role:operator`",
    "approver": "all that a viewer may, decide requests of others, and read the audit",
    "admin": "everything; jobs unless a rule of the policy forbids them",
}
EVERY_ROLE = tuple(ROLES)
NO_ROLE: tuple[str, ...] = ()


class Principal(Struct, frozen=True, kw_only=True):
    """Who asks. ``name`` is a local account, or begins with another way in: ``oidc:``, ``pam:``, ``local:``.

    ``via`` says how they proved it: ``socket``, ``session``, ``token``, or ``internal`` for the work of the
    controller itself. ``scopes`` narrow what a token may do; None narrows nothing. ``credential`` is the id
    of the session or the token, never its secret.
    """

    name: str
    roles: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    via: str = "session"
    scopes: tuple[str, ...] | None = None
    credential: str = ""

    def has(self, role: str) -> bool:
        return role in self.roles or "admin" in self.roles


CONTROLLER = Principal(name="controller", roles=("admin",), via="internal")


class Action(Struct, frozen=True, kw_only=True):
    """A row of the table. ``roles`` may do it. ``by_rules``: the rules of the policy decide instead, by
    function and system. ``own``: everyone who is logged in may. ``own_jobs``: everyone may do it to the jobs
    that they submitted themselves.
    """

    what: str
    roles: tuple[str, ...] = ("admin",)
    by_rules: bool = False
    own: bool = False
    own_jobs: bool = False


_READERS = EVERY_ROLE
ACTIONS: dict[str, Action] = {
    "own.read": Action(what="see your own account", roles=NO_ROLE, own=True),
    "own.write": Action(
        what="log out, change your password, make and remove your API tokens", roles=NO_ROLE, own=True
    ),
    "systems.read": Action(what="list systems and resolve targets", roles=_READERS),
    "facts.read": Action(what="read the facts of a system", roles=_READERS),
    "systems.decide": Action(what="accept, reject, revoke, restore and remove systems"),
    "groups.read": Action(what="list groups", roles=_READERS),
    "groups.write": Action(what="set and remove groups"),
    "tokens.read": Action(what="list join tokens"),
    "tokens.write": Action(what="make and remove join tokens"),
    "jobs.submit": Action(what="run a function on systems", roles=NO_ROLE, by_rules=True),
    "jobs.cancel": Action(what="cancel a job of another person", roles=NO_ROLE, by_rules=True),
    "jobs.read": Action(
        what="list jobs, follow them, read returns and records", roles=_READERS, own_jobs=True
    ),
    "events.read": Action(what="follow events", roles=_READERS),
    "events.send": Action(what="send your own events", roles=("operator", "admin")),
    "reactor.read": Action(what="read the map of the reactor, and what followed from events", roles=_READERS),
    "reactor.write": Action(what="add and remove rows of the map of the reactor"),
    "reactor.test": Action(what="see what would follow from an event"),
    "trees.read": Action(what="list versions of trees and compare them", roles=_READERS),
    "trees.write": Action(what="publish a tree, or return to an earlier version"),
    "chains.read": Action(what="list chains, read their versions, compare them with systems", roles=_READERS),
    "chains.write": Action(what="make, change and archive chains", roles=("operator", "admin")),
    "windows.read": Action(what="read maintenance windows, and ask whether one is open", roles=_READERS),
    "windows.write": Action(what="set and remove maintenance windows"),
    "schedules.read": Action(what="read schedules of chains", roles=_READERS),
    "schedules.write": Action(what="set, switch and remove schedules of chains"),
    "subscriptions.read": Action(what="list who is notified of what, and what was sent", roles=_READERS),
    "subscriptions.write": Action(what="set and remove subscriptions, and send again what is dead"),
    "approvals.read": Action(what="list requests for approval", roles=_READERS),
    "approvals.decide": Action(
        what="approve or reject a request of another person", roles=("approver", "admin")
    ),
    "operators.read": Action(what="list operators and their API tokens"),
    "operators.write": Action(what="add, change and remove operators and their API tokens"),
    "policy.read": Action(what="read the policy, and ask what it would decide", roles=("approver", "admin")),
    "policy.write": Action(what="change the policy"),
    "audit.read": Action(what="read and verify the audit", roles=("approver", "admin")),
    "controller.read": Action(what="read metrics and the state of the controller", roles=_READERS),
}


class Verdict(Enum):
    ALLOWED = "allowed"
    NEEDS_APPROVAL = "needs approval"
    DENIED = "denied"


class Decision(Struct, frozen=True, kw_only=True):
    """What was decided, by which rule, and why. ``outside``: the systems on which it is not allowed.

    ``approvals``: how many persons must approve, if it needs approval. ``code`` (``not-allowed``,
    ``outside-scope`` or ``needs-approval``) and ``fix`` are shown to the person.
    """

    verdict: Verdict
    rule: str = ""
    why: str = ""
    code: str = ""
    fix: str = ""
    outside: tuple[str, ...] = ()
    approvals: int = 0

    @property
    def allowed(self) -> bool:
        return self.verdict is Verdict.ALLOWED


class Request(Struct, frozen=True, kw_only=True):
    """A request: an action, and for jobs the function and every system of the expected set."""

    action: str
    function: str = ""
    systems: tuple[str, ...] = ()
    test: bool = False
    approved_by: tuple[str, ...] = ()


class Matcher(Protocol):
    """Returns those of the given systems that a target of the policy matches, by their facts."""

    def __call__(self, target: str, systems: Collection[str]) -> Collection[str]: ...


class Peer(Struct, frozen=True, kw_only=True):
    """The other end of a connection: the user of a UNIX socket (``SO_PEERCRED``), or an address."""

    uid: int | None = None
    address: str = ""


class Authority(Protocol):
    """The interface for the API. ``authenticate`` reads headers (names in lower case); None: not logged in.

    Call both in a thread: they wait for the database.
    """

    def authenticate(self, headers: Mapping[str, str], peer: Peer, now: float) -> Principal | None: ...

    def decide(self, who: Principal, request: Request, matcher: Matcher, now: float) -> Decision: ...
