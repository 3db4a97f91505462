"""Failed logins make the next attempt wait.

An attempt counts as failed until it has succeeded, so that only a few of many at once are checked.
"""

from __future__ import annotations

import hashlib
import math

from msgspec import Struct

from saltern.fleet.store import audit, logins
from saltern.fleet.store.database import Database
from saltern.language.diagnostics import Diagnostic, OperationError


class Limit(Struct, frozen=True):
    """``free`` failures cause no wait; each further one doubles the wait, up to ``longest`` seconds."""

    free: int
    longest: float


# For a name the wait is short: a stranger must not be able to keep its owner out.
LIMITS = {
    "name and address": Limit(5, 900.0),
    "name": Limit(20, 60.0),
    "address": Limit(50, 900.0),
}


def wait_after(count: int, limit: Limit) -> float:
    """Seconds to wait after this number of failures."""
    over = count - limit.free
    return 0.0 if over <= 0 else min(limit.longest, 2.0 ** min(over, 30))


class Throttle:
    def __init__(self, database: Database) -> None:
        self.database = database

    def begin(self, name: str, address: str, now: float) -> None:
        """Count an attempt; raises ``OperationError`` if it comes too early."""
        with self.database.write() as connection:
            logins.serialize_failures(connection)
            logins.prune_logins(connection, now)
            found = {
                kind: logins.failures(connection, key, now) for kind, key in _keys(name, address).items()
            }
            until = max(one.until for one in found.values())
            if until > now:
                raise _too_early(until - now)
            for kind, key in _keys(name, address).items():
                count = found[kind].count + 1
                wait = wait_after(count, LIMITS[kind])
                logins.note_failure(connection, key, count, now, now + wait)
                if count == LIMITS[kind].free + 1:
                    detail = {"by": kind, "failures": count, "address": address}
                    audit.append(connection, "controller", "login.throttled", detail, now)

    def forget_failures(self, name: str, address: str, now: float) -> int:
        """Forget the failures of this name; return how many there were before this attempt."""
        with self.database.write() as connection:
            logins.serialize_failures(connection)
            keys = _keys(name, address)
            before = logins.failures(connection, keys["name"], now).count - 1
            logins.forget_failures(connection, keys["name"])
            logins.forget_failures(connection, keys["name and address"])
            count = logins.failures(connection, keys["address"], now).count - 1
            wait = wait_after(count, LIMITS["address"])
            logins.note_failure(connection, keys["address"], max(0, count), now, now + wait)
        return max(0, before)


def _keys(name: str, address: str) -> dict[str, str]:
    """Digests, because people type their password where the name belongs."""
    parts = {"name and address": f"{name}\0{address}", "name": name, "address": address}
    return {kind: hashlib.sha256(f"{kind}\0{text}".encode()).hexdigest() for kind, text in parts.items()}


def _too_early(seconds: float) -> OperationError:
    left = math.ceil(seconds)
    what = f"too many logins have failed: try again in {left} s"
    fix = "wait; if the password is lost, an admin can set another: saltern operators password NAME"
    return OperationError(Diagnostic(code="login-throttled", what=what, fix=fix))
