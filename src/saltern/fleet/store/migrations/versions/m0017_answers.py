"""An index for the orders that a controller has ended by assumption: it looks for them twice a second."""

from __future__ import annotations

from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    op.create_index(op.f("ix_chain_outbox_answer"), "chain_outbox", ["answer"])
