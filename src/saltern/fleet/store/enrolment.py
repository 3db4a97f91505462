"""Stores a decided request to join: the system, and the use of its token."""

from __future__ import annotations

from sqlalchemy import Connection

from saltern.fleet.store.database import serialize
from saltern.fleet.store.systems import Applicant, System, decide, enrol, forget, gives_way, system
from saltern.fleet.store.tokens import use_token


def record_enrolment(
    connection: Connection, one: Applicant, state: str, now: float, *, token: str = ""
) -> bool | None:
    """Store the decision. True if something was written, None if nothing changed.

    False, and nothing is written, if what the decision depends on has changed: decide again. The first
    request for an id stays until an operator has decided; another key that asks meanwhile is not stored.
    """
    serialize(connection, "enrolment")
    known = system(connection, one.id)
    same = known is not None and (known.key, known.sealing_key) == (one.key, one.sealing_key)
    if known is not None and known.state == "accepted" and not same and not gives_way(known, token):
        return False
    if known is not None and same and known.state == state:
        return None
    if state not in ("accepted", "pending"):
        return False
    if known is not None and same and known.state != "pending":
        return False  # an operator has decided meanwhile
    if token and not use_token(connection, token, now):
        return False
    return _write(connection, one, state, now, known, same=same, token=token)


def _write(
    connection: Connection,
    one: Applicant,
    state: str,
    now: float,
    known: System | None,
    *,
    same: bool,
    token: str,
) -> bool | None:
    accept_by = (token or "policy") if state == "accepted" else ""
    if known is not None and same:
        return decide(connection, one.id, state, f"token {accept_by}", now) or False
    if known is not None:
        if known.state == "pending" and not accept_by:
            return None
        forget(connection, one.id)
    enrol(connection, one, now, accept_by=accept_by)
    return True
