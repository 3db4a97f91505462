"""What the controller needs: keys that check proofs of tokens, settings that are shared, invitations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.execute("ALTER TABLE tokens RENAME COLUMN digest TO proof_key")
    op.execute("ALTER TABLE tokens DROP COLUMN system")
    if op.get_bind().dialect.name == "postgresql":  # SQLite keeps no comments
        about = "join tokens: of the secret only a key that checks proofs of it is kept"
        op.create_table_comment("tokens", about)
    op.create_table(
        "settings",
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("value", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_settings")),
        comment="what all controllers of a fleet share and no person writes",
    )
    op.create_table(
        "invitations",
        sa.Column("id", sa.String(length=255), nullable=False),
        sa.Column("made_at", sa.Double(), nullable=False),
        sa.Column("made_by", sa.String(length=255), nullable=False),
        sa.Column("expires", sa.Double(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitations")),
        comment="what a further controller needs, sealed to its token; removed when it has joined",
    )
