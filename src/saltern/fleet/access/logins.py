"""Logging in: with a password of saltern or of the host (PAM), or at an OpenID Connect provider."""

from __future__ import annotations

from msgspec.structs import replace

from saltern.fleet.access.pam import pam_groups
from saltern.fleet.access.passwords import Passwords
from saltern.fleet.access.policies import Policies
from saltern.fleet.access.ports import Peer
from saltern.fleet.access.sessions import Session, Sessions
from saltern.fleet.access.throttle import Throttle
from saltern.fleet.store.database import Database
from saltern.fleet.store.operators import operator, password_hash, set_password
from saltern.language.diagnostics import Diagnostic, OperationError

LOCAL, PAM = "local", "pam"
LONGEST = 255


class Logins:
    def __init__(
        self, database: Database, policies: Policies, sessions: Sessions, passwords: Passwords
    ) -> None:
        self.database, self.policies, self.sessions = database, policies, sessions
        self.passwords = passwords
        self.throttle = Throttle(database)

    def with_password(self, name: str, password: str, peer: Peer, now: float, way: str = LOCAL) -> Session:
        """Begin a session. A wrong name and a wrong password are refused with the same message."""
        known_as = name if way == LOCAL else f"{way}:{name}"
        self._check_way(way)
        self.throttle.begin(known_as, peer.address, now)
        proven = self._local(name, password) if way == LOCAL else self._pam(name, password)
        if proven is None or len(name) > LONGEST or self._is_disabled(known_as):
            raise _login_error()
        failures = self.throttle.forget_failures(known_as, peer.address, now)
        return replace(self.sessions.begin(known_as, way, proven, now), failures=failures)

    def _check_way(self, way: str) -> None:
        login = self.policies.current().login
        possible = [name for name in (LOCAL, PAM) if getattr(login, name)]
        if way not in possible:
            what = f"the policy does not allow logging in with a password of the kind {way!r}"
            ways = [*possible, *(["oidc"] if login.oidc else [])]
            fix = f"use {' or '.join(ways)}" if ways else "add a way to log in to the policy, under 'login'"
            raise OperationError(Diagnostic(code="login-way", what=what, fix=fix))

    def _local(self, name: str, password: str) -> tuple[str, ...] | None:
        """No groups, or None if the password is wrong; a hash with old parameters is replaced."""
        with self.database.read() as connection:
            hashed = password_hash(connection, name[:LONGEST])
        if not self.passwords.matches(hashed, password):
            return None
        if self.passwords.is_weak(hashed):
            with self.database.write() as connection:
                before = operator(connection, name)
                if before is not None:
                    set_password(connection, name, self.passwords.hash(password), before.changed_at)
        return ()

    def _pam(self, name: str, password: str) -> tuple[str, ...] | None:
        settings = self.policies.current().login.pam
        return None if settings is None else pam_groups(settings, name, password)

    def _is_disabled(self, name: str) -> bool:
        with self.database.read() as connection:
            found = operator(connection, name)
        return found is not None and found.disabled


def _login_error() -> OperationError:
    what = "the name or the password is wrong"
    fix = "check both; an admin can set another password: saltern operators password NAME"
    return OperationError(Diagnostic(code="login-failed", what=what, fix=fix))
