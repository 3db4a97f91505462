"""The first schema: systems, jobs and their returns, events, audit, leases."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "audit",
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("who", sa.String(length=255), nullable=False),
        sa.Column("action", sa.String(length=255), nullable=False),
        sa.Column("detail", sa.LargeBinary(), nullable=False),
        sa.Column("previous", sa.String(length=64), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_audit")),
        comment="who did what: append-only, each row holds the digest of the one before",
    )
    op.create_table(
        "events",
        sa.Column(
            "number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False
        ),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("tag", sa.String(length=512), nullable=False),
        sa.Column("system", sa.String(length=255), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_events")),
        comment="what happened, in the order in which the controller learned of it",
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_events_at"), "events", ["at"], unique=False)
    op.create_table(
        "groups",
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("expression", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_groups")),
        comment="names for targets: @NAME",
    )
    op.create_table(
        "jobs",
        sa.Column("jid", sa.String(length=64), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("expires", sa.Double(), nullable=False),
        sa.Column("user", sa.String(length=255), nullable=False),
        sa.Column("rule", sa.String(length=255), nullable=False),
        sa.Column("function", sa.String(length=255), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("work", sa.LargeBinary(), nullable=False),
        sa.Column("envelope", sa.Text(), nullable=False),
        sa.Column("broadcast", sa.Boolean(), nullable=False),
        sa.Column("expected", sa.Integer(), nullable=False),
        sa.Column("open", sa.Integer(), nullable=False),
        sa.Column("parent", sa.String(length=64), nullable=True),
        sa.Column("cancelled_at", sa.Double(), nullable=True),
        sa.Column("cancelled_by", sa.String(length=255), nullable=False),
        sa.Column("ended", sa.Double(), nullable=True),
        sa.Column("client_token", sa.String(length=255), nullable=True),
        sa.PrimaryKeyConstraint("jid", name=op.f("pk_jobs")),
        sa.UniqueConstraint("user", "client_token", name=op.f("uq_jobs_user_client_token")),
        comment="what was asked for, written down before anything is sent",
    )
    op.create_index(op.f("ix_jobs_created"), "jobs", ["created"], unique=False)
    op.create_index(op.f("ix_jobs_ended"), "jobs", ["ended"], unique=False)
    op.create_index(op.f("ix_jobs_parent"), "jobs", ["parent"], unique=False)
    op.create_table(
        "leases",
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("holder", sa.String(length=255), nullable=False),
        sa.Column("fence", sa.BigInteger(), nullable=False),
        sa.Column("expires", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_leases")),
        comment="which controller does what only one may do; the fence grows with every change of hands",
    )
    op.create_table(
        "records",
        sa.Column("jid", sa.String(length=64), nullable=False),
        sa.Column("system", sa.String(length=255), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("jid", "system", "number", name=op.f("pk_records")),
        comment="the journal of a job on a system, record by record",
    )
    op.create_table(
        "returns",
        sa.Column("jid", sa.String(length=64), nullable=False),
        sa.Column("system", sa.String(length=255), nullable=False),
        sa.Column("part", sa.Integer(), nullable=False),
        sa.Column("parts", sa.Integer(), nullable=False),
        sa.Column("encoding", sa.String(length=255), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("jid", "system", "part", name=op.f("pk_returns")),
        comment="what a system returned, in the parts in which it came",
    )
    op.create_index(op.f("ix_returns_system"), "returns", ["system"], unique=False)
    op.create_table(
        "systems",
        sa.Column("id", sa.String(length=255), nullable=False),
        sa.Column("state", sa.String(length=255), nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("sealing_key", sa.LargeBinary(), nullable=False),
        sa.Column("fingerprint", sa.String(length=255), nullable=False),
        sa.Column("site", sa.String(length=255), nullable=False),
        sa.Column("first_seen", sa.Double(), nullable=False),
        sa.Column("decided_at", sa.Double(), nullable=True),
        sa.Column("decided_by", sa.String(length=255), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("instance", sa.String(length=255), nullable=False),
        sa.Column("starts", sa.BigInteger(), nullable=False),
        sa.Column("boot", sa.String(length=255), nullable=False),
        sa.Column("version", sa.String(length=255), nullable=False),
        sa.Column("online", sa.Boolean(), nullable=False),
        sa.Column("seen_at", sa.Double(), nullable=True),
        sa.Column("back_by", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_systems")),
        comment="every system that asked to join, with its keys and what is known of its agent",
    )
    op.create_index(op.f("ix_systems_state"), "systems", ["state"], unique=False)
    op.create_table(
        "tokens",
        sa.Column("id", sa.String(length=255), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("made_at", sa.Double(), nullable=False),
        sa.Column("made_by", sa.String(length=255), nullable=False),
        sa.Column("expires", sa.Double(), nullable=False),
        sa.Column("uses", sa.Integer(), nullable=False),
        sa.Column("system", sa.String(length=255), nullable=False),
        sa.Column("site", sa.String(length=255), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        comment="join tokens: only a digest of the secret is kept",
    )
    op.create_table(
        "facts",
        sa.Column("system", sa.String(length=255), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("grains", sa.LargeBinary(), nullable=False),
        sa.Column("changed_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["system"], ["systems.id"], name=op.f("fk_facts_system"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("system", name=op.f("pk_facts")),
        comment="the grains of a system, as its agent reports them",
    )
    op.create_table(
        "targets",
        sa.Column("jid", sa.String(length=64), nullable=False),
        sa.Column("system", sa.String(length=255), nullable=False),
        sa.Column("status", sa.String(length=255), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("updated", sa.Double(), nullable=False),
        sa.Column("started", sa.Double(), nullable=True),
        sa.Column("ended", sa.Double(), nullable=True),
        sa.Column("exit_code", sa.Integer(), nullable=False),
        sa.Column("changed", sa.BigInteger(), nullable=False),
        sa.Column("failed", sa.BigInteger(), nullable=False),
        sa.Column("records", sa.BigInteger(), nullable=False),
        sa.Column("back_by", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["jid"], ["jobs.jid"], name=op.f("fk_targets_jid"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("jid", "system", name=op.f("pk_targets")),
        comment="one row for each system of a job's expected set: how far it is there",
    )
    op.create_index(op.f("ix_targets_system_status"), "targets", ["system", "status"], unique=False)
