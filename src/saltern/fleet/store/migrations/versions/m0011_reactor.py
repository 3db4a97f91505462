"""Events that are stored once, with what caused them; reactions; the mine."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.add_column("events", sa.Column("uid", sa.String(length=600)))
    op.add_column("events", sa.Column("cause", sa.String(length=64), nullable=False, server_default=""))
    op.create_index("ix_events_uid", "events", ["uid"], unique=True)
    _add_reactions()
    _add_mine()


def _add_reactions() -> None:
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    word, text = sa.String(length=255), sa.Text()
    op.create_table(
        "reactions",
        sa.Column("number", number, autoincrement=True, nullable=False),
        sa.Column("token", sa.String(length=64), nullable=False),
        sa.Column("event", sa.BigInteger(), nullable=False),
        sa.Column("root", sa.BigInteger(), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("tag", sa.String(length=512), nullable=False),
        sa.Column("source", text, nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.Column("name", word, nullable=False),
        sa.Column("kind", word, nullable=False),
        sa.Column("function", word, nullable=False),
        sa.Column("target", text, nullable=False),
        sa.Column("status", word, nullable=False),
        sa.Column("why", text, nullable=False),
        sa.Column("jid", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_reactions"),
        comment="what followed from which event, by which line of which file",
        sqlite_autoincrement=True,
    )
    op.create_index("ix_reactions_token", "reactions", ["token"], unique=True)
    for column in ("jid", "root", "at"):
        op.create_index(f"ix_reactions_{column}", "reactions", [column])


def _add_mine() -> None:
    op.create_table(
        "mine",
        sa.Column("system", sa.String(length=255), nullable=False),
        sa.Column("function", sa.String(length=255), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.Column("allowed", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["system"], ["systems.id"], name="fk_mine_system", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("system", "function", name="pk_mine"),
        comment="what systems have published for others; `allowed`: the target of those that may read it",
    )
