"""Tables of what follows from events, and of what systems publish for each other: reactions, the mine."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
)

from saltern.fleet.store.columns import DIGEST, ID, JID, METADATA, NUMBER, WORD
from saltern.fleet.store.columns import required_column as _required

REACTIONS = Table(
    "reactions",
    METADATA,
    Column("number", NUMBER, primary_key=True, autoincrement=True),
    _required("token", DIGEST),
    _required("event", BigInteger),
    _required("root", BigInteger),
    _required("depth", Integer),
    _required("at", Double),
    _required("tag", String(512)),
    _required("source", Text),
    _required("line", Integer, default=0),
    _required("name", WORD, default=""),
    _required("kind", WORD, default=""),
    _required("function", WORD, default=""),
    _required("target", Text, default=""),
    _required("status", WORD),
    _required("why", Text, default=""),
    _required("jid", JID, default=""),
    Index(None, "token", unique=True),
    Index(None, "jid"),
    Index(None, "root"),
    Index(None, "at"),
    comment="what followed from which event, by which line of which file",
    sqlite_autoincrement=True,
)
MINE = Table(
    "mine",
    METADATA,
    Column("system", ID, ForeignKey("systems.id", ondelete="CASCADE"), primary_key=True),
    Column("function", WORD, primary_key=True),
    _required("at", Double),
    _required("data", LargeBinary),
    _required("allowed", Text, default=""),
    comment="what systems have published for others; `allowed`: the target of those that may read it",
)
TABLES = (REACTIONS, MINE)
