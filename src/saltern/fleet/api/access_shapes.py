"""Bodies and answers about operators, sessions, API tokens, the policy and approvals."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from saltern.fleet.api.pages import PageQuery
from saltern.fleet.api.shapes import TEXT, ApiAnswer, Body, Number, Target, Word

Secret = Annotated[str, Meta(max_length=1024)]
Names = Annotated[list[Word], Meta(max_length=100)]
Life = Annotated[float, Meta(gt=0, le=3650 * 86_400, description="seconds")]


class LoginBody(Body, frozen=True, kw_only=True):
    """A name and a password: of an operator, or of the controller's host (``pam``)."""

    name: Word
    password: Secret
    way: Literal["local", "pam"] = "local"


class LoginAnswer(ApiAnswer, frozen=True, kw_only=True):
    """A session. ``token`` is sent as ``Authorization: Bearer TOKEN``, and shown only now.

    ``failures``: how many logins with this name failed before.
    """

    token: str
    name: str
    expires: float
    failures: int


class LoginWays(ApiAnswer, frozen=True, kw_only=True):
    """The ways to log in that the policy allows: ``local``, ``pam``, ``oidc``."""

    ways: list[str]


class OidcBegin(Body, frozen=True, kw_only=True):
    """Where the provider sends the browser back to, and the S256 challenge of PKCE."""

    redirect: Annotated[str, Meta(max_length=1000, pattern=TEXT)]
    challenge: Word


class OidcBegun(ApiAnswer, frozen=True, kw_only=True):
    """The address for the browser; ``state`` must come back with the code."""

    address: str
    state: str


class OidcFinish(Body, frozen=True, kw_only=True):
    """What came back from the provider (``issuer`` is its parameter ``iss``), and the verifier of PKCE."""

    state: Secret
    code: Annotated[str, Meta(max_length=8192, pattern=TEXT)]
    verifier: Secret
    issuer: Annotated[str, Meta(max_length=1000, pattern=TEXT)] = ""


class LinkMade(ApiAnswer, frozen=True, kw_only=True):
    """A code for one sign-in in a browser, shown only now. ``url``: where browsers reach this controller;
    empty: it listens on its socket only. ``path``: the page there that takes the code.
    """

    code: str
    expires: float
    url: str
    path: str


class LinkBody(Body, frozen=True, kw_only=True):
    """The code of a link."""

    code: Secret


class OwnPasswordBody(Body, frozen=True, kw_only=True):
    """The current password, and the new one."""

    old: Secret
    new: Secret


class PasswordBody(Body, frozen=True, kw_only=True):
    """The new password."""

    password: Secret


class OperatorBody(Body, frozen=True, kw_only=True):
    """A new operator. Without a password they log in another way, or use a token."""

    name: Word
    roles: Names = []
    groups: Names = []
    password: Secret = ""
    note: Word = ""


class OperatorChange(Body, frozen=True, kw_only=True):
    """The fields to change; null leaves a field as it is."""

    roles: Names | None = None
    groups: Names | None = None
    disabled: bool | None = None


class OperatorAnswer(ApiAnswer, frozen=True, kw_only=True):
    """An operator."""

    name: str
    roles: list[str]
    groups: list[str]
    disabled: bool
    note: str
    made_at: float
    made_by: str
    changed_at: float
    has_password: bool


class ApiTokenBody(Body, frozen=True, kw_only=True):
    """An API token: ``scopes`` narrow what it may do, such as ``jobs.submit:test.*``; null: all of it."""

    label: Word = ""
    scopes: Names | None = None
    life: Life = 90 * 86_400.0


class ApiTokenMade(ApiAnswer, frozen=True, kw_only=True):
    """The token, which is shown only now."""

    id: str
    token: str
    expires: float


class ApiTokenAnswer(ApiAnswer, frozen=True, kw_only=True):
    """A session or an API token, without its secret."""

    id: str
    kind: str
    operator: str
    source: str
    label: str
    scopes: list[str] | None
    made_at: float
    expires: float
    last_used: float | None


class PolicyBody(Body, frozen=True, kw_only=True):
    """A policy. ``after`` is the version that was edited: a newer one is not overwritten."""

    text: Annotated[str, Meta(max_length=1_000_000, pattern=TEXT)]
    after: Number | None = None


class PolicyAnswer(ApiAnswer, frozen=True, kw_only=True):
    """A version of the policy. ``source`` is the file that it was read from, or ``api``."""

    version: int
    text: str
    digest: str
    source: str
    made_at: float
    made_by: str


class ExplainBody(Body, frozen=True, kw_only=True):
    """A job that could be requested. Roles and groups are added to those that the operator has."""

    who: Word
    function: Word
    target: Target
    test: bool = False
    roles: Names = []
    groups: Names = []


class StepAnswer(ApiAnswer, frozen=True, kw_only=True):
    """What one rule says, and the systems that it decides."""

    rule: str
    says: str
    systems: list[str]


class ExplainAnswer(ApiAnswer, frozen=True, kw_only=True):
    """The decision, and what each rule says. ``outside``: the systems for which it is denied."""

    verdict: str
    rule: str
    why: str
    fix: str
    outside: list[str]
    roles: list[str]
    steps: list[StepAnswer]


class ApprovalsQuery(PageQuery, frozen=True, kw_only=True):
    """Which requests are listed."""

    state: Word = ""


class VoteBody(Body, frozen=True, kw_only=True):
    """The reason for the decision."""

    why: Word = ""


class VoteAnswer(ApiAnswer, frozen=True, kw_only=True):
    """What one person decided."""

    who: str
    approves: bool
    at: float
    why: str


class ApprovalAnswer(ApiAnswer, frozen=True, kw_only=True):
    """A request: a job that needs the approval of other persons. ``shown`` are its arguments, concealed."""

    id: str
    asked_by: str
    asked_at: float
    expires: float
    function: str
    target: str
    systems: list[str]
    shown: dict[str, Any]
    rule: str
    needed: int
    state: str
    votes: list[VoteAnswer]
