"""Revisions of runs of chains: other inputs for what was not done yet."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
WORD = sa.String(255)


def upgrade() -> None:
    op.create_table(
        "chain_revisions",
        sa.Column("run", WORD, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("inputs", sa.LargeBinary(), nullable=False),
        sa.Column("plan_sha256", sa.String(64), nullable=False),
        sa.Column("legs", sa.LargeBinary(), nullable=False),
        sa.Column("order", sa.LargeBinary(), nullable=False),
        sa.Column("status", WORD, nullable=False),
        sa.Column("author", WORD, nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run"], ["chain_runs.id"], name=op.f("fk_chain_revisions_run"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run", "number", name=op.f("pk_chain_revisions")),
        comment="other inputs for what a run has not done yet; those of before stay as they are",
    )
