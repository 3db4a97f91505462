"""Sign-in links: root on the controller's host opens the console in a browser. A link works once, and not for
long.

The admin on the controller's socket may do everything already; the link gives a browser the same rights.
"""

from __future__ import annotations

from secrets import token_urlsafe

from msgspec import Struct

from saltern.fleet.access.ports import Principal
from saltern.fleet.access.sessions import LINK, Session, Sessions
from saltern.fleet.store import audit
from saltern.fleet.store.database import Database
from saltern.fleet.store.logins import Attempt, begin_attempt, end_attempt, prune_logins
from saltern.language.diagnostics import Diagnostic, OperationError

LIFE = 120.0  # seconds
MARK = "link:"  # before the name, so that a code of a provider is never taken for a link


class Link(Struct, frozen=True, kw_only=True):
    code: str
    expires: float


class Links:
    def __init__(self, database: Database, sessions: Sessions) -> None:
        self.database, self.sessions = database, sessions

    def make(self, who: Principal, now: float) -> Link:
        """Make a code for the caller, who must be the admin on the socket."""
        if who.via != "socket" or "admin" not in who.roles:
            what = f"{who.name} is not root on the socket of the controller, and cannot get a link"
            raise OperationError(Diagnostic(code="not-allowed", what=what, fix="sign in with your name"))
        code, expires = MARK + token_urlsafe(32), now + LIFE
        attempt = Attempt(nonce=who.name, challenge="", redirect=MARK, expires=expires)
        with self.database.write() as connection:
            prune_logins(connection, now)
            begin_attempt(connection, code, attempt)
            audit.append(connection, who.name, "login.link", {}, now)
        return Link(code=code, expires=expires)

    def finish(self, code: str, now: float) -> Session:
        """Begin a session, and invalidate the code."""
        attempt = None
        if code.startswith(MARK):
            with self.database.write() as connection:
                attempt = end_attempt(connection, code, now)
        if attempt is None or attempt.redirect != MARK:
            what = "this link has expired or was already used"
            fix = "run `saltern console` again, or sign in with your name"
            raise OperationError(Diagnostic(code="login-refused", what=what, fix=fix))
        return self.sessions.begin(attempt.nonce, LINK, (), now)
