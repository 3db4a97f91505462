"""The policy as a value: rules, conditions, windows, who has which role, and the ways to log in."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Annotated, Literal

from msgspec import Meta, Struct

from saltern.fleet.access.ports import ROLES, Principal
from saltern.fleet.access.windows import Window

EVERYWHERE = "*"
Service = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$")]  # a path would be read as a file
# Without TLS only on this machine: anyone could sit in between.
Address = Annotated[
    str, Meta(pattern=r"^(https://|http://(127\.0\.0\.1|\[::1\]|localhost)(:[0-9]+)?(/|$))[^?#]*$")
]
Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]


class Condition(Struct, frozen=True, kw_only=True):
    """Every part that is set must hold: a test run, one of the windows open, this number of approvals."""

    test: bool = False
    windows: tuple[str, ...] = ()
    approvals: int = 0


class Rule(Struct, frozen=True, kw_only=True):
    """Who may run which functions where. ``only``: one of these conditions must hold; empty: no condition."""

    name: str
    who: tuple[str, ...]
    functions: tuple[str, ...]
    target: str = EVERYWHERE
    only: tuple[Condition, ...] = ()
    deny: bool = False

    def concerns(self, who: Principal, function: str) -> bool:
        return means(self.who, who) and any(fnmatchcase(function, glob) for glob in self.functions)


class Pam(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Log in with an account of the controller's host. ``groups``: only members of one of these may."""

    service: Service = "saltern"
    groups: tuple[str, ...] = ()


class Oidc(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Log in at an OpenID Connect provider.

    ``name_claim`` becomes the name of the operator, ``groups_claim`` their groups. The secret of a
    confidential client is in a file, so that it is never in the policy. ``redirects``: addresses besides
    loopback to which the provider may send a browser back.
    """

    issuer: Address
    client_id: Annotated[str, Meta(min_length=1)]
    client_secret_file: str = ""
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    name_claim: str = "preferred_username"
    groups_claim: str = "groups"
    algorithms: tuple[Algorithm, ...] = ("RS256", "PS256", "ES256", "EdDSA")
    redirects: tuple[Address, ...] = ()


class Login(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The ways to log in, and how many hours a session lasts.

    ``socket``: every user of the controller's host is known on its socket, as ``local:NAME``; without it
    only root and the user of the controller are, who are admins.
    """

    local: bool = True
    socket: bool = False
    pam: Pam | None = None
    oidc: Oidc | None = None
    session_hours: Annotated[float, Meta(gt=0, le=720)] = 12.0


class Policy(Struct, frozen=True, kw_only=True):
    rules: tuple[Rule, ...] = ()
    windows: dict[str, tuple[Window, ...]] = {}
    roles: dict[str, tuple[str, ...]] = {}
    login: Login = Login()


# After all rules of the policy, so that a policy that omits its own administrators does not lock them out.
ADMIN_RULE = Rule(name="admin (built in)", who=("role:admin",), functions=("*",))


def means(patterns: tuple[str, ...], who: Principal) -> bool:
    """True if one of the patterns matches this person: a name, ``role:NAME`` or ``group:NAME``."""
    return any(_means(pattern, who) for pattern in patterns)


def _means(pattern: str, who: Principal) -> bool:
    kind, colon, rest = pattern.partition(":")
    if colon and kind == "role":
        return rest in who.roles
    if colon and kind == "group":
        return any(fnmatchcase(group, rest) for group in who.groups)
    return fnmatchcase(who.name, pattern)


def roles_of(policy: Policy, who: Principal) -> tuple[str, ...]:
    """The roles of a person, including those that the policy gives to their name or to one of their
    groups.
    """
    given = {role for role, patterns in policy.roles.items() if means(patterns, who)}
    return tuple(role for role in ROLES if role in given or role in who.roles)
