"""Jobs that run on a few of their systems at a time."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("jobs", sa.Column("batch", sa.LargeBinary(), nullable=True))
