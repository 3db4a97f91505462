"""Bodies, queries and answers: one struct for each. Times are seconds since 1970."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from saltern.fleet.api.pages import PageQuery

TEXT = r"^[^\x00]*$"  # PostgreSQL stores no NUL in a text
Word = Annotated[str, Meta(max_length=255, pattern=TEXT)]
Target = Annotated[
    str, Meta(max_length=8192, pattern=TEXT, description="a compound target, such as `G@os:Debian and web*`")
]
Tag = Annotated[
    str, Meta(max_length=512, pattern=TEXT, description="a glob that the tag of an event matches")
]
Number = Annotated[int, Meta(ge=0, le=2**53)]
JobId = Annotated[str, Meta(pattern=r"^[0-9A-Za-z][0-9A-Za-z._-]{0,63}$")]
Digest = Annotated[str, Meta(pattern=r"^([0-9a-f]{64})?$")]
Version = Annotated[str, Meta(pattern=r"^[0-9a-f]{0,64}$")]
KeyState = Literal["", "pending", "accepted", "rejected", "revoked"]


class ApiAnswer(Struct, frozen=True, kw_only=True):
    """Base class of all answers."""


class Body(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base class of all bodies."""


class Query(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base class of all queries."""


# -- the controller -------------------------------------------------------------------------------


class Health(ApiAnswer, frozen=True, kw_only=True):
    """The process answers."""

    status: Literal["ok"] = "ok"
    version: str


class Ready(ApiAnswer, frozen=True, kw_only=True):
    """All parts work. If one does not, the answer is 503 and says which and why."""

    status: Literal["ready"] = "ready"


class CaAnswer(ApiAnswer, frozen=True, kw_only=True):
    """The certificate (PEM) of the fleet's own CA: compare its fingerprint before you trust it."""

    ca: str


class Me(ApiAnswer, frozen=True, kw_only=True):
    """The caller's identity. ``may``: the actions that their roles allow; an action that rules of the policy
    decide is included if some rule allows it for some function on some systems.
    """

    name: str
    roles: list[str]
    via: str
    may: list[str]
    groups: list[str] = []


# -- systems --------------------------------------------------------------------------------------


class SystemsQuery(PageQuery, frozen=True, kw_only=True):
    """Which systems are listed."""

    state: KeyState = ""
    target: Target = ""


class SystemAnswer(ApiAnswer, frozen=True, kw_only=True):
    """A system: the state of its key, and what is known about its agent."""

    id: str
    state: str
    fingerprint: str
    site: str
    first_seen: float
    decided_at: float | None
    decided_by: str
    why: str
    version: str
    online: bool
    seen_at: float | None
    back_by: float | None
    kind: str


class AcceptBody(Body, frozen=True, kw_only=True):
    """With a fingerprint only the key that has it is accepted."""

    fingerprint: Word = ""


class WhyBody(Body, frozen=True, kw_only=True):
    """The reason; it is stored with the system and in the audit."""

    why: Word = ""


class NoBody(Body, frozen=True, kw_only=True):
    """An empty body."""


class ResolveBody(Body, frozen=True, kw_only=True):
    """A target."""

    target: Target


class Resolved(ApiAnswer, frozen=True, kw_only=True):
    """The accepted systems that a target matches, by id."""

    systems: list[str]


class Poked(ApiAnswer, frozen=True, kw_only=True):
    """The systems that answered just now, those that are not connected, and those that are connected but
    silent.
    """

    there: list[str]
    away: list[str]
    silent: list[str]


class TokenBody(Body, frozen=True, kw_only=True):
    """A join token: for how many systems, for how many seconds, and for which site. ``takes``: systems of
    the controller's roster that become agent systems with it.
    """

    uses: Annotated[int, Meta(ge=1, le=100_000)] = 1
    life: Annotated[float, Meta(gt=0, le=365 * 86_400)] = 86_400.0
    site: Word = ""
    takes: Annotated[list[Word], Meta(max_length=10_000)] = []


class TokenMade(ApiAnswer, frozen=True, kw_only=True):
    """The token, which is shown only now."""

    token: str


class TokenAnswer(ApiAnswer, frozen=True, kw_only=True):
    """A join token, without its secret: ``uses`` is how many more systems can join with it."""

    id: str
    made_at: float
    made_by: str
    expires: float
    uses: int
    site: str


class GroupBody(Body, frozen=True, kw_only=True):
    """A name for a target: ``@NAME``."""

    name: Word
    target: Target


class GroupAnswer(ApiAnswer, frozen=True, kw_only=True):
    """A group, and the target that it stands for."""

    name: str
    target: str


class FactsAnswer(ApiAnswer, frozen=True, kw_only=True):
    """The grains of a system, as its agent reports them."""

    system: str
    digest: str
    changed_at: float
    grains: dict[str, Any]


# -- trees ----------------------------------------------------------------------------------------


class TreeAnswer(ApiAnswer, frozen=True, kw_only=True):
    """A version of the files of an environment. ``held``: it stays current, whatever changes in the roots."""

    number: int
    environment: str
    digest: str
    at: float
    by: str
    held: bool
    current: bool
    files: int
    size: int


class DiffQuery(PageQuery, frozen=True, kw_only=True):
    """Two versions, by the beginnings of their digests; without them, the last two."""

    old: Version = ""
    new: Version = ""


class DiffAnswer(ApiAnswer, frozen=True, kw_only=True):
    """One path that was ``added``, ``removed`` or ``changed``: digests of its content before and after."""

    path: str
    change: str
    before: str
    after: str


class RollbackBody(Body, frozen=True, kw_only=True):
    """The version to return to, by the beginning of its digest; empty: the one before."""

    version: Version = ""


class TreeNow(ApiAnswer, frozen=True, kw_only=True):
    """The digest of the current version."""

    digest: str
