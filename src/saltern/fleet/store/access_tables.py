"""The tables of permission: operators, credentials, failed logins, versions of the policy, approvals.

No table holds a secret: of passwords an argon2id hash is kept, of sessions and tokens a digest.
"""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Double, ForeignKey, Index, Integer, LargeBinary, Table, Text

from saltern.fleet.store.columns import DIGEST, METADATA, WORD, required

OPERATORS = Table(
    "operators",
    METADATA,
    Column("name", WORD, primary_key=True),
    required("password", Text, default=""),
    required("roles", Text),
    required("groups", Text),
    required("disabled", Boolean, default=False),
    required("note", Text, default=""),
    required("made_at", Double),
    required("made_by", WORD),
    required("changed_at", Double),
    comment="people and programs that may log in; of a password only an argon2id hash is kept",
)
CREDENTIALS = Table(
    "credentials",
    METADATA,
    Column("id", WORD, primary_key=True),
    required("kind", WORD),
    required("operator", WORD),
    required("source", WORD),
    required("digest", DIGEST),
    required("label", WORD, default=""),
    required("groups", Text),
    Column("scopes", Text),
    required("made_at", Double),
    required("expires", Double),
    Column("last_used", Double),
    Index(None, "operator"),
    Index(None, "expires"),
    comment="sessions and API tokens: only a digest of the secret is kept",
)
LOGIN_FAILURES = Table(
    "login_failures",
    METADATA,
    Column("key", WORD, primary_key=True),
    required("failures", Integer),
    required("last", Double),
    required("until", Double),
    comment="failed logins by name and by address, and until when no other attempt is looked at",
)
LOGIN_ATTEMPTS = Table(
    "login_attempts",
    METADATA,
    Column("state", DIGEST, primary_key=True),
    required("nonce", WORD),
    required("challenge", WORD),
    required("redirect", Text),
    required("expires", Double),
    comment="logins at an OpenID Connect provider that have begun; each is used once",
)
POLICIES = Table(
    "policies",
    METADATA,
    Column("version", Integer, primary_key=True, autoincrement=False),
    required("text", Text),
    required("digest", DIGEST),
    required("source", Text),
    required("made_at", Double),
    required("made_by", WORD),
    comment="every version of the policy; the newest is in force",
)
APPROVALS = Table(
    "approvals",
    METADATA,
    Column("id", WORD, primary_key=True),
    required("asked_by", WORD),
    required("asked_at", Double),
    required("expires", Double),
    required("function", WORD),
    required("target", Text),
    required("systems", LargeBinary),
    required("shown", LargeBinary),
    required("digest", DIGEST),
    required("rule", WORD),
    required("needed", Integer),
    required("state", WORD),
    Index(None, "asked_by", "digest"),
    Index(None, "state"),
    comment="jobs that need approval: what was asked for, and a digest that binds the approval to it",
)
VOTES = Table(
    "votes",
    METADATA,
    Column("approval", WORD, ForeignKey("approvals.id", ondelete="CASCADE"), primary_key=True),
    Column("who", WORD, primary_key=True),
    required("approves", Boolean),
    required("at", Double),
    required("why", Text, default=""),
    comment="who approved or rejected a request",
)
TABLES = (OPERATORS, CREDENTIALS, LOGIN_FAILURES, LOGIN_ATTEMPTS, POLICIES, APPROVALS, VOTES)
