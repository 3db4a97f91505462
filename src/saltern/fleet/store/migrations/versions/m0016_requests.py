"""The digest of the request that a job was submitted with, and from where to follow the job: a repeated
request gets the same answer."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    op.add_column("jobs", sa.Column("request", sa.String(255), nullable=False, server_default=""))
    op.add_column("jobs", sa.Column("cursor", sa.BigInteger(), nullable=False, server_default="0"))
