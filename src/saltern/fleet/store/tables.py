"""``METADATA``: every table, for SQLite and PostgreSQL alike.

Times are seconds since 1970. What has a shape of its own (arguments, grains, results) is JSON in bytes:
written and read by msgspec, never searched by the database.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from saltern.fleet.store import access_tables, calendar_tables, chain_tables, reactor_tables, render_tables
from saltern.fleet.store.columns import DIGEST, ID, JID, METADATA, NUMBER, WORD
from saltern.fleet.store.columns import required_column as _required

__all__ = ["METADATA"]
ACCESS = access_tables.TABLES  # operators, their credentials, the policy: part of METADATA
CHAINS = chain_tables.TABLES  # chains, their runs, legs, steps: part of METADATA
REACTOR = reactor_tables.TABLES  # what followed from events, and the mine: part of METADATA
CALENDARS = calendar_tables.TABLES  # windows, schedules, notifications: part of METADATA
RENDERING = render_tables.TABLES  # files that agents do not get, blocks of open jobs: part of METADATA

SYSTEMS = Table(
    "systems",
    METADATA,
    Column("id", ID, primary_key=True),
    _required("state", WORD),
    _required("key", LargeBinary),
    _required("sealing_key", LargeBinary),
    _required("fingerprint", WORD),
    _required("site", WORD, default=""),
    _required("first_seen", Double),
    Column("decided_at", Double),
    _required("decided_by", WORD, default=""),
    _required("why", Text, default=""),
    _required("instance", WORD, default=""),
    _required("starts", BigInteger, default=0),
    _required("boot", WORD, default=""),
    _required("version", WORD, default=""),
    _required("online", Boolean, default=False),
    Column("seen_at", Double),
    Column("back_by", Double),
    _required("kind", WORD, default="agent", server_default="agent"),
    _required("successor", WORD, default="", server_default=""),
    Index(None, "state", "online", "version", "kind"),
    Index(None, "kind"),
    comment="every system that asked to join, with its keys and what is known of its agent",
)
FACTS = Table(
    "facts",
    METADATA,
    Column("system", ID, ForeignKey("systems.id", ondelete="CASCADE"), primary_key=True),
    _required("digest", DIGEST),
    _required("grains", LargeBinary),
    _required("changed_at", Double),
    Index(None, "system", "digest"),
    comment="the grains of a system, as its agent reports them",
)
GROUPS = Table(
    "groups",
    METADATA,
    Column("name", WORD, primary_key=True),
    _required("expression", Text),
    comment="names for targets: @NAME",
)
TOKENS = Table(
    "tokens",
    METADATA,
    Column("id", WORD, primary_key=True),
    _required("proof_key", DIGEST),
    _required("made_at", Double),
    _required("made_by", WORD),
    _required("expires", Double),
    _required("uses", Integer),
    _required("site", WORD, default=""),
    comment="join tokens: of the secret only a key that checks proofs of it is kept",
)
JOBS = Table(
    "jobs",
    METADATA,
    Column("jid", JID, primary_key=True),
    _required("created", Double),
    _required("expires", Double),
    _required("user", WORD),
    _required("rule", WORD, default=""),
    _required("function", WORD),
    _required("target", Text),
    _required("work", LargeBinary),
    _required("envelope", Text, default=""),
    _required("broadcast", Boolean, default=False),
    _required("expected", Integer),
    _required("open", Integer),
    Column("parent", JID),
    Column("cancelled_at", Double),
    _required("cancelled_by", WORD, default=""),
    Column("ended", Double),
    Column("client_token", WORD),
    _required("request", WORD, default=""),
    _required("cursor", BigInteger, default=0),
    Column("batch", LargeBinary),
    Index(None, "created"),
    Index(None, "parent"),
    UniqueConstraint("user", "client_token"),
    Index(None, "ended"),
    comment="what was asked for, written down before anything is sent",
)
TARGETS = Table(
    "targets",
    METADATA,
    Column("jid", JID, ForeignKey("jobs.jid", ondelete="CASCADE"), primary_key=True),
    Column("system", ID, primary_key=True),
    _required("status", WORD),
    _required("why", Text, default=""),
    _required("updated", Double),
    Column("started", Double),
    Column("ended", Double),
    _required("exit_code", Integer, default=0),
    _required("changed", BigInteger, default=0),
    _required("failed", BigInteger, default=0),
    _required("records", BigInteger, default=0),
    Column("back_by", Double),
    Index(None, "system", "status"),
    comment="one row for each system of a job's expected set: how far it is there",
)
RETURNS = Table(
    "returns",
    METADATA,
    Column("jid", JID, primary_key=True),
    Column("system", ID, primary_key=True),
    Column("part", Integer, primary_key=True),
    _required("parts", Integer),
    _required("encoding", WORD),
    _required("body", LargeBinary),
    Index(None, "system"),
    comment="what a system returned, in the parts in which it came",
)
RECORDS = Table(
    "records",
    METADATA,
    Column("jid", JID, primary_key=True),
    Column("system", ID, primary_key=True),
    Column("number", BigInteger, primary_key=True),
    _required("data", LargeBinary),
    comment="the journal of a job on a system, record by record",
)
EVENTS = Table(
    "events",
    METADATA,
    Column("number", NUMBER, primary_key=True, autoincrement=True),
    _required("at", Double),
    _required("tag", String(512)),
    _required("system", ID, default=""),
    _required("data", LargeBinary),
    Column("uid", String(600)),
    _required("cause", JID, default="", server_default=""),
    Index(None, "at"),
    Index(None, "tag", "number"),
    Index(None, "uid", unique=True),
    comment="what happened, in the order in which the controller learned of it",
    sqlite_autoincrement=True,  # a number is a cursor: it is never used again, also if all rows were pruned
)
AUDIT = Table(
    "audit",
    METADATA,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    _required("at", Double),
    _required("who", WORD),
    _required("action", WORD),
    _required("detail", LargeBinary),
    _required("previous", DIGEST),
    _required("digest", DIGEST),
    comment="who did what: append-only, each row holds the digest of the one before",
)
ANSWERS = Table(
    "answers",
    METADATA,
    Column("user", WORD, primary_key=True),
    Column("token", DIGEST, primary_key=True),
    _required("request", DIGEST),
    _required("made_at", Double),
    _required("status", Integer),
    _required("body", LargeBinary),
    Index(None, "made_at"),
    comment="answers to writes by client token, sealed with it; kept for a day",
)
LEASES = Table(
    "leases",
    METADATA,
    Column("name", WORD, primary_key=True),
    _required("holder", WORD),
    _required("fence", BigInteger),
    _required("expires", Double),
    comment="which controller does what only one may do; the fence grows with every change of hands",
)
SETTINGS = Table(
    "settings",
    METADATA,
    Column("name", WORD, primary_key=True),
    _required("value", LargeBinary),
    comment="what all controllers of a fleet share and no person writes",
)
INVITATIONS = Table(
    "invitations",
    METADATA,
    Column("id", WORD, primary_key=True),
    _required("made_at", Double),
    _required("made_by", WORD),
    _required("expires", Double),
    _required("sealed", LargeBinary),
    comment="what a further controller needs, sealed to its token; removed when it has joined",
)
TREES = Table(
    "trees",
    METADATA,
    Column("number", NUMBER, primary_key=True, autoincrement=True),
    _required("environment", WORD),
    _required("digest", DIGEST),
    _required("at", Double),
    _required("by", WORD),
    _required("held", Boolean, default=False),
    _required("current", Boolean, default=True),
    Index(None, "environment", "number"),
    comment="the versions of the files of each environment, in the order in which they were in force",
)
MANIFESTS = Table(
    "manifests",
    METADATA,
    Column("digest", DIGEST, primary_key=True),
    _required("environment", WORD),
    _required("files", BigInteger),
    _required("size", BigInteger),
    _required("data", LargeBinary),
    comment="what a version of an environment holds: paths and digests, compressed",
)
TREE_SETS = Table(
    "tree_sets",
    METADATA,
    Column("digest", DIGEST, primary_key=True),
    _required("members", LargeBinary),
    _required("used_at", Double),
    comment="what jobs name: the version of each environment, together",
)
