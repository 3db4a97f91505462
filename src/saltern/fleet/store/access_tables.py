"""The tables of permission: operators, credentials, failed logins, versions of the policy, approvals.

No table holds a secret: of passwords an argon2id hash is kept, of sessions and tokens a digest.
"""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Double, ForeignKey, Index, Integer, LargeBinary, Table, Text

from saltern.fleet.store.columns import DIGEST, METADATA, WORD, required_column

OPERATORS = Table(
    "operators",
    METADATA,
    Column("name", WORD, primary_key=True),
    required_column("password", Text, default=""),
    required_column("roles", Text),
    required_column("groups", Text),
    required_column("disabled", Boolean, default=False),
    required_column("note", Text, default=""),
    required_column("made_at", Double),
    required_column("made_by", WORD),
    required_column("changed_at", Double),
    comment="people and programs that may log in; of a password only an argon2id hash is kept",
)
CREDENTIALS = Table(
    "credentials",
    METADATA,
    Column("id", WORD, primary_key=True),
    required_column("kind", WORD),
    required_column("operator", WORD),
    required_column("source", WORD),
    required_column("digest", DIGEST),
    required_column("label", WORD, default=""),
    required_column("groups", Text),
    Column("scopes", Text),
    required_column("made_at", Double),
    required_column("expires", Double),
    Column("last_used", Double),
    Index(None, "operator"),
    Index(None, "expires"),
    comment="sessions and API tokens: only a digest of the secret is kept",
)
LOGIN_FAILURES = Table(
    "login_failures",
    METADATA,
    Column("key", WORD, primary_key=True),
    required_column("failures", Integer),
    required_column("last", Double),
    required_column("until", Double),
    comment="failed logins by name and by address, and until when no other attempt is looked at",
)
LOGIN_ATTEMPTS = Table(
    "login_attempts",
    METADATA,
    Column("state", DIGEST, primary_key=True),
    required_column("nonce", WORD),
    required_column("challenge", WORD),
    required_column("redirect", Text),
    required_column("expires", Double),
    comment="logins at an OpenID Connect provider that have begun; each is used once",
)
POLICIES = Table(
    "policies",
    METADATA,
    Column("version", Integer, primary_key=True, autoincrement=False),
    required_column("text", Text),
    required_column("digest", DIGEST),
    required_column("source", Text),
    required_column("made_at", Double),
    required_column("made_by", WORD),
    comment="every version of the policy; the newest is in force",
)
APPROVALS = Table(
    "approvals",
    METADATA,
    Column("id", WORD, primary_key=True),
    required_column("asked_by", WORD),
    required_column("asked_at", Double),
    required_column("expires", Double),
    required_column("function", WORD),
    required_column("target", Text),
    required_column("systems", LargeBinary),
    required_column("shown", LargeBinary),
    required_column("digest", DIGEST),
    required_column("rule", WORD),
    required_column("needed", Integer),
    required_column("state", WORD),
    Index(None, "asked_by", "digest"),
    Index(None, "state"),
    comment="jobs that need approval: what was asked for, and a digest that binds the approval to it",
)
VOTES = Table(
    "votes",
    METADATA,
    Column("approval", WORD, ForeignKey("approvals.id", ondelete="CASCADE"), primary_key=True),
    Column("who", WORD, primary_key=True),
    required_column("approves", Boolean),
    required_column("at", Double),
    required_column("why", Text, default=""),
    comment="who approved or rejected a request",
)
TABLES = (OPERATORS, CREDENTIALS, LOGIN_FAILURES, LOGIN_ATTEMPTS, POLICIES, APPROVALS, VOTES)
