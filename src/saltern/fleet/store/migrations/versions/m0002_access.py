"""Operators, their credentials, versions of the policy, and approvals."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "approvals",
        sa.Column("id", sa.String(length=255), nullable=False),
        sa.Column("asked_by", sa.String(length=255), nullable=False),
        sa.Column("asked_at", sa.Double(), nullable=False),
        sa.Column("expires", sa.Double(), nullable=False),
        sa.Column("function", sa.String(length=255), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("systems", sa.LargeBinary(), nullable=False),
        sa.Column("shown", sa.LargeBinary(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("rule", sa.String(length=255), nullable=False),
        sa.Column("needed", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=255), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_approvals")),
        comment="jobs that need approval: what was asked for, and a digest that binds the approval to it",
    )
    op.create_index(op.f("ix_approvals_asked_by_digest"), "approvals", ["asked_by", "digest"], unique=False)
    op.create_index(op.f("ix_approvals_state"), "approvals", ["state"], unique=False)
    op.create_table(
        "credentials",
        sa.Column("id", sa.String(length=255), nullable=False),
        sa.Column("kind", sa.String(length=255), nullable=False),
        sa.Column("operator", sa.String(length=255), nullable=False),
        sa.Column("source", sa.String(length=255), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("label", sa.String(length=255), nullable=False),
        sa.Column("groups", sa.Text(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=True),
        sa.Column("made_at", sa.Double(), nullable=False),
        sa.Column("expires", sa.Double(), nullable=False),
        sa.Column("last_used", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_credentials")),
        comment="sessions and API tokens: only a digest of the secret is kept",
    )
    op.create_index(op.f("ix_credentials_expires"), "credentials", ["expires"], unique=False)
    op.create_index(op.f("ix_credentials_operator"), "credentials", ["operator"], unique=False)
    op.create_table(
        "login_attempts",
        sa.Column("state", sa.String(length=64), nullable=False),
        sa.Column("nonce", sa.String(length=255), nullable=False),
        sa.Column("challenge", sa.String(length=255), nullable=False),
        sa.Column("redirect", sa.Text(), nullable=False),
        sa.Column("expires", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("state", name=op.f("pk_login_attempts")),
        comment="logins at an OpenID Connect provider that have begun; each is used once",
    )
    op.create_table(
        "login_failures",
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("last", sa.Double(), nullable=False),
        sa.Column("until", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_login_failures")),
        comment="failed logins by name and by address, and until when no other attempt is looked at",
    )
    op.create_table(
        "operators",
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("password", sa.Text(), nullable=False),
        sa.Column("roles", sa.Text(), nullable=False),
        sa.Column("groups", sa.Text(), nullable=False),
        sa.Column("disabled", sa.Boolean(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("made_at", sa.Double(), nullable=False),
        sa.Column("made_by", sa.String(length=255), nullable=False),
        sa.Column("changed_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_operators")),
        comment="people and programs that may log in; of a password only an argon2id hash is kept",
    )
    op.create_table(
        "policies",
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("made_at", sa.Double(), nullable=False),
        sa.Column("made_by", sa.String(length=255), nullable=False),
        sa.PrimaryKeyConstraint("version", name=op.f("pk_policies")),
        comment="every version of the policy; the newest is in force",
    )
    op.create_table(
        "votes",
        sa.Column("approval", sa.String(length=255), nullable=False),
        sa.Column("who", sa.String(length=255), nullable=False),
        sa.Column("approves", sa.Boolean(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["approval"], ["approvals.id"], name=op.f("fk_votes_approval"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("approval", "who", name=op.f("pk_votes")),
        comment="who approved or rejected a request",
    )
