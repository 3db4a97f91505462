"""The audit: who did what, and whether its chain is whole."""

from __future__ import annotations

from typing import Any

import msgspec

from saltern.fleet.api.call import Call
from saltern.fleet.api.job_shapes import AuditAnswer, AuditNoted, AuditVerified
from saltern.fleet.api.pages import Page, PageQuery, decode_cursor, make_page
from saltern.fleet.store import audit
from saltern.fleet.store.audit import Entry, Head


async def list_audit(call: Call[PageQuery, None]) -> Page[AuditAnswer]:
    """Who did what, the oldest first."""
    query = call.query
    after = decode_cursor(query.cursor, tuple[int])[0] if query.cursor else 0
    rows = await call.read(audit.page, after=after, limit=query.limit + 1)
    return make_page([_answer(row) for row in rows], query.limit, lambda one: (one.number,))


async def verify_audit(call: Call[AuditNoted, None]) -> AuditVerified:
    """Check the chain of the audit."""
    noted = Head(call.query.number, call.query.digest) if call.query.number else None
    problem = await call.read(audit.verify, noted)
    head = await call.read(audit.head)
    return AuditVerified(whole=not problem, problem=problem, number=head.number, digest=head.digest)


def _answer(row: Entry) -> AuditAnswer:
    detail: dict[str, Any] = msgspec.json.decode(row.detail)
    return AuditAnswer(
        number=row.number, at=row.at, who=row.who, action=row.action, detail=detail, digest=row.digest
    )
