"""What goes in and out about operators, sessions, API tokens, the policy and approvals."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from saltern.fleet.api.pages import PageQuery
from saltern.fleet.api.shapes import TEXT, Answer, Body, Number, Word

Secret = Annotated[str, Meta(max_length=1024)]
Names = Annotated[list[Word], Meta(max_length=100)]
Life = Annotated[float, Meta(gt=0, le=3650 * 86_400, description="seconds")]


class LoginBody(Body, frozen=True, kw_only=True):
    """A name and a password: of an operator, or of the controller's host (``pam``)."""

    name: Word
    password: Secret
    way: Literal["local", "pam"] = "local"


class LoginAnswer(Answer, frozen=True, kw_only=True):
    """A session. ``token`` is sent as ``Authorization: Bearer TOKEN``, and shown only now.

    ``failures``: how many logins with this name failed before.
    """

    token: str
    name: str
    expires: float
    failures: int


class OwnPasswordBody(Body, frozen=True, kw_only=True):
    """The present password, and the next one."""

    old: Secret
    new: Secret


class PasswordBody(Body, frozen=True, kw_only=True):
    """The next password."""

    password: Secret


class OperatorBody(Body, frozen=True, kw_only=True):
    """A new operator. Without a password they log in another way, or use a token."""

    name: Word
    roles: Names = []
    groups: Names = []
    password: Secret = ""
    note: Word = ""


class OperatorChange(Body, frozen=True, kw_only=True):
    """What is to be changed; null leaves it as it is."""

    roles: Names | None = None
    groups: Names | None = None
    disabled: bool | None = None


class OperatorAnswer(Answer, frozen=True, kw_only=True):
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


class ApiTokenMade(Answer, frozen=True, kw_only=True):
    """The token, which is shown only now."""

    id: str
    token: str
    expires: float


class ApiTokenAnswer(Answer, frozen=True, kw_only=True):
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


class PolicyAnswer(Answer, frozen=True, kw_only=True):
    """A version of the policy. ``source`` is the file that it was read from, or ``api``."""

    version: int
    text: str
    digest: str
    source: str
    made_at: float
    made_by: str


class ApprovalsQuery(PageQuery, frozen=True, kw_only=True):
    """Which requests."""

    state: Word = ""


class VoteBody(Body, frozen=True, kw_only=True):
    """Why."""

    why: Word = ""


class VoteAnswer(Answer, frozen=True, kw_only=True):
    """What one person decided."""

    who: str
    approves: bool
    at: float
    why: str


class ApprovalAnswer(Answer, frozen=True, kw_only=True):
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
