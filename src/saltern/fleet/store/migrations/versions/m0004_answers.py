"""Answers to writes, by client token."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "answers",
        sa.Column("user", sa.String(length=255), nullable=False),
        sa.Column("token", sa.String(length=64), nullable=False),
        sa.Column("request", sa.String(length=64), nullable=False),
        sa.Column("made_at", sa.Double(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("user", "token", name=op.f("pk_answers")),
        comment="answers to writes by client token, sealed with it; kept for a day",
    )
    op.create_index(op.f("ix_answers_made_at"), "answers", ["made_at"], unique=False)
