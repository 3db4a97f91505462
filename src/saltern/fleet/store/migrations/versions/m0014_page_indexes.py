"""Indexes for what pages of a large fleet count: systems by how they are, facts, legs by status, tags."""

from __future__ import annotations

from alembic import op

revision = "0014"
down_revision = "0013"
INDEXES = (
    ("systems", ("state", "online", "version", "kind")),
    ("systems", ("kind",)),
    ("facts", ("system", "digest")),
    ("chain_legs", ("run", "status")),
    ("chain_legs", ("status",)),
    ("events", ("tag", "number")),
)


def upgrade() -> None:
    op.drop_index(op.f("ix_systems_state"), "systems")
    for table, columns in INDEXES:
        op.create_index(op.f(f"ix_{table}_{'_'.join(columns)}"), table, list(columns))
