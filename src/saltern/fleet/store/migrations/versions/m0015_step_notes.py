"""What a step says in one line and its exit code; the boot and the build that a leg was last seen under; what
becomes of a gate that is not approved in time."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
WORD = sa.String(255)


def upgrade() -> None:
    for table in ("chain_steps", "chain_attempts"):
        op.add_column(table, sa.Column("note", sa.Text(), nullable=False, server_default=""))
        op.add_column(table, sa.Column("exit_code", sa.Integer(), nullable=True))
    for name in ("boot", "build"):
        op.add_column("chain_legs", sa.Column(name, WORD, nullable=False, server_default=""))
    op.add_column("chain_gates", sa.Column("otherwise", WORD, nullable=False, server_default="reject"))
