"""Maintenance windows, schedules of chains, and who is notified."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
WORD = sa.String(255)


def upgrade() -> None:
    op.create_table(
        "calendars",
        sa.Column("name", WORD, nullable=False),
        sa.Column("kind", WORD, nullable=False),
        sa.Column("zone", WORD, nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("author", WORD, nullable=False),
        sa.Column("changed", sa.Double(), nullable=False),
        sa.CheckConstraint("kind IN ('allow', 'deny')", name=op.f("ck_calendars_kind")),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_calendars")),
        comment="maintenance windows: when work is allowed or denied on the systems of a target",
    )
    op.create_table(
        "schedules",
        sa.Column("name", WORD, nullable=False),
        sa.Column("chain", WORD, nullable=False),
        sa.Column("version", sa.Integer(), nullable=True),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("inputs", sa.LargeBinary(), nullable=False),
        sa.Column("strategy", sa.LargeBinary(), nullable=False),
        sa.Column("cron", WORD, nullable=False),
        sa.Column("zone", WORD, nullable=False),
        sa.Column("overlap", WORD, nullable=False),
        sa.Column("catch_up", WORD, nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("author", WORD, nullable=False),
        sa.Column("changed", sa.Double(), nullable=False),
        sa.Column("next_at", sa.Double(), nullable=True),
        sa.Column("last_at", sa.Double(), nullable=True),
        sa.Column("last_run", WORD, nullable=False),
        sa.Column("last_why", sa.Text(), nullable=False),
        sa.CheckConstraint("overlap IN ('skip', 'queue', 'allow')", name=op.f("ck_schedules_overlap")),
        sa.CheckConstraint("catch_up IN ('none', 'one', 'all')", name=op.f("ck_schedules_catch_up")),
        sa.ForeignKeyConstraint(
            ["chain"], ["chains.id"], name=op.f("fk_schedules_chain"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_schedules")),
        comment="chains that are run at their times; when each fires next is kept here, and nowhere else",
    )
    op.create_index(op.f("ix_schedules_enabled_next_at"), "schedules", ["enabled", "next_at"])
    op.create_table(
        "subscriptions",
        sa.Column("name", WORD, nullable=False),
        sa.Column("kind", WORD, nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("events", sa.Text(), nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("author", WORD, nullable=False),
        sa.Column("changed", sa.Double(), nullable=False),
        sa.CheckConstraint("kind IN ('webhook', 'mail')", name=op.f("ck_subscriptions_kind")),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_subscriptions")),
        comment="who is notified of what: a web address or a mailbox, and patterns of events",
    )
    op.create_table(
        "notifications",
        sa.Column("number", NUMBER, autoincrement=True, nullable=False),
        sa.Column("subscription", WORD, nullable=False),
        sa.Column("event", WORD, nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("next_at", sa.Double(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("done", sa.Double(), nullable=True),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["subscription"],
            ["subscriptions.name"],
            name=op.f("fk_notifications_subscription"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_notifications")),
        comment="what is to be sent, written with what it is about; sent at least once",
    )
    op.create_index(op.f("ix_notifications_done_next_at"), "notifications", ["done", "next_at"])
