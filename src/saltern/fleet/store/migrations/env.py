"""How Alembic runs the migrations: in the transaction that ``migrate`` has begun."""

from __future__ import annotations

from alembic import context

from saltern.fleet.store.tables import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    render_as_batch=True,  # SQLite cannot alter most things of a table: it is copied
)
context.run_migrations()
