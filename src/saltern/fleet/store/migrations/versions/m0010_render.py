"""Rendering on the controller: files that agents do not get, and the blocks of open jobs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
WORD = sa.String(255)
DIGEST = sa.String(64)


def upgrade() -> None:
    op.create_table(
        "hidden_files",
        sa.Column("stub", DIGEST, nullable=False),
        sa.Column("token", WORD, nullable=False),
        sa.Column("digest", DIGEST, nullable=False),
        sa.Column("words", WORD, nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("stub", name=op.f("pk_hidden_files")),
        sa.UniqueConstraint("digest", "words", name=op.f("uq_hidden_files_digest_words")),
        comment="texts of files that are rendered on the controller, by the digest of the stub of each",
    )
    op.create_table(
        "render_scopes",
        sa.Column("jid", sa.String(64), nullable=False),
        sa.Column("system", WORD, nullable=False),
        sa.Column("name", WORD, nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("jid", "system", "name", name=op.f("pk_render_scopes")),
        comment="delayed blocks of jobs that are open, with what they see; removed when the job ends there",
    )
