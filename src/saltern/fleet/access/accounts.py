"""Operators and their API tokens: add, change and remove them, each with an entry in the audit log."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec.structs import replace

from saltern.fleet.access.passwords import Passwords, check_password
from saltern.fleet.access.ports import ROLES, Principal
from saltern.fleet.access.scopes import check_scopes
from saltern.fleet.access.secrets import new_secret
from saltern.fleet.access.throttle import Throttle
from saltern.fleet.store import audit
from saltern.fleet.store import credentials as tokens
from saltern.fleet.store import operators as store
from saltern.fleet.store.credentials import TOKEN, Credential
from saltern.fleet.store.database import Database, Transaction
from saltern.fleet.store.operators import Operator
from saltern.language.diagnostics import Diagnostic, OperationError, did_you_mean

DAY = 86400.0
LONGEST_LIFE = 3650 * DAY
EXTERNAL_LIFE = 30 * DAY  # of a token for an account elsewhere, whose end is not noticed here
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._@-]{0,63}")
EXTERNAL = re.compile(r"(oidc|pam):[^\s\x00-\x1f]{1,200}")
GROUP = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")


class Accounts:
    def __init__(self, database: Database, passwords: Passwords) -> None:
        self.database, self.passwords = database, passwords
        self.throttle = Throttle(database)

    def add(self, who: Principal, one: Operator, password: str, now: float) -> Operator:
        """Add an operator; without a password they log in another way, or use a token."""
        check_operator(one)
        if password:
            check_password(one.name, password)
        hashed = self.passwords.hash(password) if password else ""
        made = replace(one, made_at=now, changed_at=now, made_by=who.name, has_password=bool(password))
        with self.database.write() as connection:
            if not store.add_operator(connection, made, hashed):
                raise _problem(
                    "operator-exists", f"there is already an operator {one.name!r}", "choose another name"
                )
            detail = {"operator": one.name, "roles": one.roles, "groups": one.groups}
            audit.append(connection, who.name, "operators.add", detail, now)
        return made

    def change(
        self,
        who: Principal,
        name: str,
        now: float,
        *,
        roles: tuple[str, ...] | None = None,
        groups: tuple[str, ...] | None = None,
        disabled: bool | None = None,
    ) -> Operator:
        """Change the given fields. A disabled operator loses all sessions; tokens work again once enabled."""
        changes = {"roles": roles, "groups": groups, "disabled": disabled}
        given = {key: value for key, value in changes.items() if value is not None}
        with self._write_operator(name) as (connection, before):
            check_operator(replace(before, **given))
            if (disabled or roles is not None) and before.name == who.name:
                raise _own(name)
            store.change_operator(connection, name, now, roles=roles, groups=groups, disabled=disabled)
            if disabled:
                tokens.remove_sessions(connection, name)
            audit.append(connection, who.name, "operators.change", {"operator": name, **given}, now)
            return replace(before, **given, changed_at=now)

    def remove(self, who: Principal, name: str, now: float) -> None:
        with self._write_operator(name) as (connection, _before):
            if name == who.name:
                raise _own(name)
            store.remove_operator(connection, name)
            audit.append(connection, who.name, "operators.remove", {"operator": name}, now)

    def set_password(self, who: Principal, name: str, password: str, now: float) -> None:
        """Set a password, as its owner or as an admin; all other sessions of the operator end."""
        check_password(name, password)
        if not NAME.fullmatch(name):
            raise _problem("operator-invalid", f"{name!r} logs in elsewhere, and has no password here", "")
        hashed = self.passwords.hash(password)
        with self._write_operator(name) as (connection, _before):
            store.set_password(connection, name, hashed, now)
            tokens.remove_sessions(connection, name, but=who.credential if who.name == name else "")
            audit.append(connection, who.name, "operators.password", {"operator": name}, now)

    def change_own_password(self, who: Principal, old: str, new: str, now: float) -> None:
        self.throttle.begin(who.name, "own password", now)
        with self.database.read() as connection:
            hashed = store.password_hash(connection, who.name)
        if not self.passwords.matches(hashed, old):
            raise _problem("login-failed", "the current password is wrong", "")
        self.throttle.forget_failures(who.name, "own password", now)
        self.set_password(who, who.name, new, now)

    def make_token(
        self,
        who: Principal,
        now: float,
        *,
        operator: str = "",
        label: str = "",
        scopes: tuple[str, ...] | None = None,
        life: float = 90 * DAY,
    ) -> tuple[Credential, str]:
        """Make an API token and its secret, which is shown only once. Without ``operator``: for the
        caller.
        """
        name = operator or who.name
        if who.via not in ("session", "socket") or (who.via == "socket" and not operator):
            raise _no_token(who)
        if scopes is not None:
            check_scopes(scopes)
        external = EXTERNAL.fullmatch(name) is not None
        _check_life(life, EXTERNAL_LIFE if external else LONGEST_LIFE)
        id_, secret, shown = new_secret(TOKEN)
        made = Credential(
            id=id_,
            kind=TOKEN,
            operator=name,
            source=name.partition(":")[0] if external else "local",
            label=label,
            groups=who.groups if external and name == who.name else (),
            scopes=scopes,
            made_at=now,
            expires=now + life,
        )
        with self.database.write() as connection:
            if not external and store.operator(connection, name) is None:
                raise _unknown(name, [one.name for one in store.operators(connection)])
            tokens.add_credential(connection, made, secret)
            detail = {
                "token": id_,
                "operator": name,
                "label": label,
                "scopes": scopes,
                "expires": made.expires,
            }
            audit.append(connection, who.name, "operators.token", detail, now)
        return made, shown

    def remove_token(self, who: Principal, id_: str, now: float, *, operator: str = "") -> None:
        """Remove a session or a token; with ``operator`` only one of theirs."""
        with self.database.write() as connection:
            if not tokens.remove_credential(connection, id_, operator=operator):
                fix = "saltern operators tokens lists them"
                raise _problem("token-unknown", f"there is no API token or session {id_!r}", fix)
            audit.append(connection, who.name, "operators.token-remove", {"token": id_}, now)

    @contextmanager
    def _write_operator(self, name: str) -> Iterator[tuple[Transaction, Operator]]:
        with self.database.write() as connection:
            found = store.operator(connection, name)
            if found is None:
                raise _unknown(name, [one.name for one in store.operators(connection)])
            yield connection, found


def check_operator(one: Operator) -> None:
    """Refuse invalid names, unknown roles and invalid groups."""
    if not NAME.fullmatch(one.name) and not EXTERNAL.fullmatch(one.name):
        what = f"{one.name!r} is not a valid name for an operator"
        fix = "use letters, digits and '._-@', or oidc:NAME or pam:NAME for one who logs in elsewhere"
        raise _problem("operator-invalid", what, fix)
    for role in one.roles:
        if role not in ROLES:
            fix = did_you_mean(role, ROLES) or f"roles are {', '.join(ROLES)}"
            raise _problem("operator-invalid", f"no role is called {role!r}", fix)
    for group in one.groups:
        if not GROUP.fullmatch(group):
            fix = "use letters, digits, '.', '_' and '-'"
            raise _problem("operator-invalid", f"{group!r} is not a valid name for a group", fix)


def _check_life(life: float, longest: float) -> None:
    if not 0 < life <= longest:
        what = f"a token lives for up to {longest / DAY:.0f} days"
        raise _problem("token-life", what, "give a shorter life; the operator can make another one later")


def _no_token(who: Principal) -> OperationError:
    if who.via == "socket":
        what = f"{who.name} is the user of the socket, and has no tokens"
        return _problem("token-refused", what, "name the operator that the token is for")
    what = "a token cannot make other tokens: a stolen one could live on in them"
    return _problem("token-refused", what, "log in, and then make the token")


def _own(name: str) -> OperationError:
    what = f"{name} cannot remove or disable themselves, or change their own roles"
    return _problem("operator-own", what, "ask another admin, or use the socket on the controller")


def _unknown(name: str, known: list[str]) -> OperationError:
    fix = did_you_mean(name, known) or "saltern operators lists them"
    return _problem("operator-unknown", f"there is no operator {name!r}", fix)


def _problem(code: str, what: str, fix: str) -> OperationError:
    return OperationError(Diagnostic(code=code, what=what, fix=fix))
