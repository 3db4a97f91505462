"""The steps of a leg as one letter each, so that equal legs are grouped by the database."""

from __future__ import annotations

import hashlib

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
LETTERS = {
    "not run": "n", "waiting": "w", "running": "r", "succeeded": "o", "failed": "f", "timed out": "t",
    "indeterminate": "u", "skipped": "s", "cancelled": "x",
}  # fmt: skip


def upgrade() -> None:
    op.add_column("chain_legs", sa.Column("shape", sa.Text(), nullable=False, server_default=""))
    legs = sa.table("chain_legs", sa.column("id"), sa.column("shape"))
    for leg, shape in _shapes(op.get_bind()).items():
        op.get_bind().execute(sa.update(legs).where(legs.c.id == leg).values(shape=shape))


def _shapes(connection: sa.Connection) -> dict[str, str]:
    columns: list[sa.ColumnClause[object]] = [
        sa.column(name) for name in ("leg", "number", "action", "status", "changed")
    ]
    steps = sa.table("chain_steps", *columns)
    found: dict[str, list[tuple[str, str]]] = {}
    for row in connection.execute(sa.select(steps).order_by(steps.c.leg, steps.c.number)):
        mark = "c" if row.changed and row.status == "succeeded" else LETTERS[row.status]
        found.setdefault(row.leg, []).append((row.action, mark))
    return {leg: _shape(rows) for leg, rows in found.items()}


def _shape(rows: list[tuple[str, str]]) -> str:
    names = "\n".join(action for action, _ in rows)
    return f"{''.join(mark for _, mark in rows)}:{hashlib.sha256(names.encode()).hexdigest()[:8]}"
