"""Links: root on the controller's host signs in with a browser, once and soon.

Who uses the controller's socket as its admin may do everything already; the link brings that to a browser.
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
MARK = "link:"  # before the name, so that no code of a provider is taken for one of ours


class Link(Struct, frozen=True, kw_only=True):
    code: str
    expires: float


class Links:
    def __init__(self, database: Database, sessions: Sessions) -> None:
        self.database, self.sessions = database, sessions

    def make(self, who: Principal, now: float) -> Link:
        """A code for the caller, if that is the admin on the socket."""
        if who.via != "socket" or "admin" not in who.roles:
            what = f"{who.name} is not root on the socket of the controller, and gets no link"
            raise OperationError(Diagnostic(code="not-allowed", what=what, fix="sign in with your name"))
        code, expires = MARK + token_urlsafe(32), now + LIFE
        attempt = Attempt(nonce=who.name, challenge="", redirect=MARK, expires=expires)
        with self.database.write() as connection:
            prune_logins(connection, now)
            begin_attempt(connection, code, attempt)
            audit.append(connection, who.name, "login.link", {}, now)
        return Link(code=code, expires=expires)

    def finish(self, code: str, now: float) -> Session:
        """Begin the session; the code is used up."""
        attempt = None
        if code.startswith(MARK):
            with self.database.write() as connection:
                attempt = end_attempt(connection, code, now)
        if attempt is None or attempt.redirect != MARK:
            what = "this link has expired, or was used already"
            fix = "run `saltern console` again, or sign in with your name"
            raise OperationError(Diagnostic(code="login-refused", what=what, fix=fix))
        return self.sessions.begin(attempt.nonce, LINK, (), now)
