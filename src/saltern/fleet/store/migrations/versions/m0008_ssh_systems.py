"""Systems without an agent: those of the controller's roster, which are reached over SSH."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    word = sa.String(length=255)
    op.add_column("systems", sa.Column("kind", word, nullable=False, server_default="agent"))
    op.add_column("systems", sa.Column("successor", word, nullable=False, server_default=""))
