"""The tables of maintenance windows, of schedules, and of who is notified."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
)

from saltern.fleet.store.columns import METADATA, NUMBER, WORD, required_column

CALENDARS = Table(
    "calendars",
    METADATA,
    Column("name", WORD, primary_key=True),
    required_column("kind", WORD),
    required_column("zone", WORD, default="UTC"),
    required_column("target", Text, default="*"),
    required_column("text", Text),
    required_column("note", Text, default=""),
    required_column("author", WORD),
    required_column("changed", Double),
    CheckConstraint("kind IN ('allow', 'deny')", name="kind"),
    comment="maintenance windows: when work is allowed or denied on the systems of a target",
)
SCHEDULES = Table(
    "schedules",
    METADATA,
    Column("name", WORD, primary_key=True),
    Column("chain", WORD, ForeignKey("chains.id", ondelete="CASCADE"), nullable=False),
    Column("version", Integer),
    required_column("target", Text),
    required_column("inputs", LargeBinary, default=b"{}"),
    required_column("strategy", LargeBinary, default=b"{}"),
    required_column("cron", WORD),
    required_column("zone", WORD, default="UTC"),
    required_column("overlap", WORD, default="skip"),
    required_column("catch_up", WORD, default="one"),
    required_column("enabled", Boolean, default=True),
    required_column("author", WORD),
    required_column("changed", Double),
    Column("next_at", Double),
    Column("last_at", Double),
    required_column("last_run", WORD, default=""),
    required_column("last_why", Text, default=""),
    CheckConstraint("overlap IN ('skip', 'queue', 'allow')", name="overlap"),
    CheckConstraint("catch_up IN ('none', 'one', 'all')", name="catch_up"),
    Index(None, "enabled", "next_at"),
    comment="chains that are run at their times; when each fires next is kept here, and nowhere else",
)
SUBSCRIPTIONS = Table(
    "subscriptions",
    METADATA,
    Column("name", WORD, primary_key=True),
    required_column("kind", WORD),
    required_column("address", Text),
    required_column("events", Text),
    required_column("secret", LargeBinary, default=b""),
    required_column("enabled", Boolean, default=True),
    required_column("author", WORD),
    required_column("changed", Double),
    CheckConstraint("kind IN ('webhook', 'mail')", name="kind"),
    comment="who is notified of what: a web address or a mailbox, and patterns of events",
)
NOTIFICATIONS = Table(
    "notifications",
    METADATA,
    Column("number", NUMBER, primary_key=True, autoincrement=True),
    Column("subscription", WORD, ForeignKey("subscriptions.name", ondelete="CASCADE"), nullable=False),
    required_column("event", WORD),
    required_column("body", LargeBinary),
    required_column("created", Double),
    Column("next_at", Double),
    required_column("attempts", Integer, default=0),
    Column("done", Double),
    required_column("problem", Text, default=""),
    Index(None, "done", "next_at"),
    comment="what is to be sent, written with what it is about; sent at least once",
)
TABLES = (CALENDARS, SCHEDULES, SUBSCRIPTIONS, NOTIFICATIONS)
