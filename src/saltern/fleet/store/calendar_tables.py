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

from saltern.fleet.store.columns import METADATA, NUMBER, WORD, required

CALENDARS = Table(
    "calendars",
    METADATA,
    Column("name", WORD, primary_key=True),
    required("kind", WORD),
    required("zone", WORD, default="UTC"),
    required("target", Text, default="*"),
    required("text", Text),
    required("note", Text, default=""),
    required("author", WORD),
    required("changed", Double),
    CheckConstraint("kind IN ('allow', 'deny')", name="kind"),
    comment="maintenance windows: when work is allowed or denied on the systems of a target",
)
SCHEDULES = Table(
    "schedules",
    METADATA,
    Column("name", WORD, primary_key=True),
    Column("chain", WORD, ForeignKey("chains.id", ondelete="CASCADE"), nullable=False),
    Column("version", Integer),
    required("target", Text),
    required("inputs", LargeBinary, default=b"{}"),
    required("strategy", LargeBinary, default=b"{}"),
    required("cron", WORD),
    required("zone", WORD, default="UTC"),
    required("overlap", WORD, default="skip"),
    required("catch_up", WORD, default="one"),
    required("enabled", Boolean, default=True),
    required("author", WORD),
    required("changed", Double),
    Column("next_at", Double),
    Column("last_at", Double),
    required("last_run", WORD, default=""),
    required("last_why", Text, default=""),
    CheckConstraint("overlap IN ('skip', 'queue', 'allow')", name="overlap"),
    CheckConstraint("catch_up IN ('none', 'one', 'all')", name="catch_up"),
    Index(None, "enabled", "next_at"),
    comment="chains that are run at their times; when each fires next is kept here, and nowhere else",
)
SUBSCRIPTIONS = Table(
    "subscriptions",
    METADATA,
    Column("name", WORD, primary_key=True),
    required("kind", WORD),
    required("address", Text),
    required("events", Text),
    required("secret", LargeBinary, default=b""),
    required("enabled", Boolean, default=True),
    required("author", WORD),
    required("changed", Double),
    CheckConstraint("kind IN ('webhook', 'mail')", name="kind"),
    comment="who is notified of what: a web address or a mailbox, and patterns of events",
)
NOTIFICATIONS = Table(
    "notifications",
    METADATA,
    Column("number", NUMBER, primary_key=True, autoincrement=True),
    Column("subscription", WORD, ForeignKey("subscriptions.name", ondelete="CASCADE"), nullable=False),
    required("event", WORD),
    required("body", LargeBinary),
    required("created", Double),
    Column("next_at", Double),
    required("attempts", Integer, default=0),
    Column("done", Double),
    required("problem", Text, default=""),
    Index(None, "done", "next_at"),
    comment="what is to be sent, written with what it is about; sent at least once",
)
TABLES = (CALENDARS, SCHEDULES, SUBSCRIPTIONS, NOTIFICATIONS)
