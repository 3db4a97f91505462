"""Versions of the files that agents see."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "trees",
        sa.Column("number", number, autoincrement=True, nullable=False),
        sa.Column("environment", sa.String(length=255), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("by", sa.String(length=255), nullable=False),
        sa.Column("held", sa.Boolean(), nullable=False),
        sa.Column("current", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_trees")),
        comment="the versions of the files of each environment, in the order in which they were in force",
    )
    op.create_index(op.f("ix_trees_environment_number"), "trees", ["environment", "number"], unique=False)
    op.create_table(
        "manifests",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("environment", sa.String(length=255), nullable=False),
        sa.Column("files", sa.BigInteger(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_manifests")),
        comment="what a version of an environment holds: paths and digests, compressed",
    )
    op.create_table(
        "tree_sets",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("members", sa.LargeBinary(), nullable=False),
        sa.Column("used_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_tree_sets")),
        comment="what jobs name: the version of each environment, together",
    )
