"""The tables of chains: what is to be done, in immutable versions, and what became of it in each run.

What a status may be is the table in ``saltern.chains.statuses``: each CHECK is made from it.
"""

from __future__ import annotations

from enum import Enum

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
)

from saltern.chains.statuses import Leg, Run, Step, Wave
from saltern.fleet.store.columns import DIGEST, ID, JID, LEG, METADATA, NUMBER, WORD, required


def one_of(column: str, statuses: type[Enum]) -> CheckConstraint:
    """The column holds a status of the table, and nothing else."""
    words = ", ".join(f"'{one.value}'" for one in statuses)
    return CheckConstraint(f"{column} IN ({words})", name=column)


def _run(**options: bool) -> Column[object]:
    return Column("run", WORD, ForeignKey("chain_runs.id", ondelete="CASCADE"), nullable=False, **options)  # type: ignore[arg-type]


def _leg(**options: bool) -> Column[object]:
    return Column("leg", LEG, ForeignKey("chain_legs.id", ondelete="CASCADE"), nullable=False, **options)  # type: ignore[arg-type]


CHAINS = Table(
    "chains",
    METADATA,
    Column("id", WORD, primary_key=True),
    required("name", WORD),
    required("owner", WORD, default=""),
    required("description", Text, default=""),
    required("created", Double),
    required("created_by", WORD),
    Column("archived_at", Double),
    required("archived_by", WORD, default=""),
    UniqueConstraint("name"),
    comment="chains of actions, by name; their texts are versions",
)
CHAIN_VERSIONS = Table(
    "chain_versions",
    METADATA,
    Column("chain", WORD, ForeignKey("chains.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    required("text", Text),
    required("sha256", DIGEST),
    required("inputs", LargeBinary, default=b"{}"),
    required("author", WORD),
    required("created", Double),
    required("note", Text, default=""),
    comment="every text that a chain has had; a version is never changed",
)
CHAIN_PLANS = Table(
    "chain_plans",
    METADATA,
    Column("id", WORD, primary_key=True),
    required("chain", WORD),
    required("version", Integer),
    required("target", Text),
    required("sha256", DIGEST),
    required("facts", DIGEST),
    required("author", WORD),
    required("created", Double),
    required("body", LargeBinary),
    ForeignKeyConstraint(["chain", "version"], ["chain_versions.chain", "chain_versions.number"]),
    comment="what a chain would do on all its systems, and the facts that this was found with",
)
CHAIN_RUNS = Table(
    "chain_runs",
    METADATA,
    Column("id", WORD, primary_key=True),
    required("chain", WORD),
    required("version", Integer),
    required("target", Text),
    required("inputs", LargeBinary, default=b"{}"),
    required("strategy", LargeBinary),
    required("environment", WORD, default="base"),
    required("tree", DIGEST, default=""),
    required("rule", WORD, default=""),
    required("plan_sha256", DIGEST),
    required("status", WORD),
    required("author", WORD),
    Column("client_token", WORD),
    required("created", Double),
    Column("begun", Double),
    Column("ended", Double),
    required("deadline", Double),
    Column("next_wakeup", Double),
    required("seen", Double, default=0),
    required("cancelled", Boolean, default=False),
    required("halted", Text, default=""),
    required("excused", LargeBinary, default=b"[]"),
    required("state", LargeBinary, default=b"{}"),
    required("row_version", BigInteger, default=0),
    one_of("status", Run),
    UniqueConstraint("author", "client_token"),
    ForeignKeyConstraint(["chain", "version"], ["chain_versions.chain", "chain_versions.number"]),
    Index(None, "created"),
    Index(None, "status", "next_wakeup"),
    Index(None, "chain"),
    comment="a version of a chain on all systems of a target",
)
CHAIN_WAVES = Table(
    "chain_waves",
    METADATA,
    _run(primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    required("stage", WORD, default=""),
    required("status", WORD),
    required("soak_until", Double, default=0),
    required("state", LargeBinary, default=b"{}"),
    one_of("status", Wave),
    comment="the legs of a run that begin together",
)
CHAIN_LEGS = Table(
    "chain_legs",
    METADATA,
    Column("id", LEG, primary_key=True),
    _run(),
    required("system", ID),
    required("wave", Integer),
    required("place", Integer),
    required("group", WORD, default=""),
    required("plan_sha256", DIGEST),
    required("plan_revision", Integer, default=0),
    required("epoch", BigInteger, default=0),
    required("status", WORD),
    required("away", Boolean, default=False),
    required("held", Boolean, default=False),
    required("ending", WORD, default=""),
    required("sent", WORD, default=""),
    required("order", BigInteger, default=0),
    required("seq", BigInteger, default=-1),
    required("answered", BigInteger, default=-1),
    required("begun", Double, default=0),
    Column("ended", Double),
    required("waits_for", Text, default=""),
    required("quarantined", Boolean, default=False),
    required("state", LargeBinary, default=b"{}"),
    one_of("status", Leg),
    UniqueConstraint("run", "system"),
    Index(None, "system", "status"),
    comment="one system in one run",
)
CHAIN_STEPS = Table(
    "chain_steps",
    METADATA,
    _leg(primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    required("action", WORD),
    required("kind", WORD),
    required("on_failure", WORD, default="stop"),
    required("final", Boolean, default=False),
    required("status", WORD),
    required("blocked_by", WORD, default=""),
    required("attempts", Integer, default=0),
    required("changed", Boolean, default=False),
    required("comment", Text, default=""),
    required("took", Double, default=0),
    Column("started", Double),
    Column("ended", Double),
    one_of("status", Step),
    comment="one action on one system: what became of it, or what keeps it from running",
)
CHAIN_ATTEMPTS = Table(
    "chain_attempts",
    METADATA,
    Column("leg", LEG, primary_key=True),
    Column("step", Integer, primary_key=True, autoincrement=False),
    Column("number", Integer, primary_key=True, autoincrement=False),
    required("status", WORD),
    required("comment", Text, default=""),
    Column("started", Double),
    Column("ended", Double),
    one_of("status", Step),
    ForeignKeyConstraint(["leg", "step"], ["chain_steps.leg", "chain_steps.number"], ondelete="CASCADE"),
    comment="each try of a step",
)
CHAIN_OUTPUTS = Table(
    "chain_outputs",
    METADATA,
    Column("leg", LEG, primary_key=True),
    Column("step", Integer, primary_key=True, autoincrement=False),
    Column("attempt", Integer, primary_key=True, autoincrement=False),
    Column("stream", WORD, primary_key=True),
    required("size", BigInteger),
    required("cut", Boolean, default=False),
    required("data", LargeBinary),
    ForeignKeyConstraint(["leg", "step"], ["chain_steps.leg", "chain_steps.number"], ondelete="CASCADE"),
    comment="what a step printed, up to a limit; `size` is what it was",
)
CHAIN_ORDERS = Table(
    "chain_orders",
    METADATA,
    Column("number", NUMBER, primary_key=True, autoincrement=True),
    _run(),
    required("at", Double),
    required("who", WORD),
    required("verb", WORD),
    required("legs", LargeBinary, default=b"[]"),
    required("step", WORD, default=""),
    required("reason", Text, default=""),
    required("outcome", Text, default=""),
    Index(None, "run", "number"),
    comment="what operators have ordered about a run, in the order in which it was decided",
    sqlite_autoincrement=True,
)
CHAIN_OUTBOX = Table(
    "chain_outbox",
    METADATA,
    Column("number", NUMBER, primary_key=True, autoincrement=True),
    _run(),
    _leg(),
    required("order", BigInteger),
    required("verb", WORD),
    required("step", WORD, default=""),
    required("body", LargeBinary, default=b"{}"),
    required("created", Double),
    Column("jid", JID),
    Column("sent", Double),
    Column("acked", Double),
    required("answer", WORD, default=""),
    UniqueConstraint("leg", "order"),
    Index(None, "acked", "jid"),
    Index(None, "jid"),
    comment="orders to systems: written with the decision, sent as jobs, acknowledged by returns",
    sqlite_autoincrement=True,
)
CHAIN_GATES = Table(
    "chain_gates",
    METADATA,
    _run(primary_key=True),
    Column("name", WORD, primary_key=True),
    required("place", WORD),
    required("needed", Integer, default=1),
    required("of", WORD, default=""),
    required("status", WORD),
    required("plan_sha256", DIGEST),
    Column("opened", Double),
    Column("expires", Double),
    Column("decided", Double),
    comment="where a run waits for approvals, or for the controller",
)
CHAIN_VOTES = Table(
    "chain_votes",
    METADATA,
    Column("run", WORD, primary_key=True),
    Column("gate", WORD, primary_key=True),
    Column("who", WORD, primary_key=True),
    required("approves", Boolean),
    required("at", Double),
    required("why", Text, default=""),
    required("plan_sha256", DIGEST),
    ForeignKeyConstraint(["run", "gate"], ["chain_gates.run", "chain_gates.name"], ondelete="CASCADE"),
    comment="who approved or rejected a gate, and the plan that was looked at",
)
CHAIN_REVISIONS = Table(
    "chain_revisions",
    METADATA,
    _run(primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    required("inputs", LargeBinary),
    required("plan_sha256", DIGEST),
    required("legs", LargeBinary),
    required("order", LargeBinary),
    required("status", WORD),
    required("author", WORD),
    required("at", Double),
    comment="other inputs for what a run has not done yet; those of before stay as they are",
)
TABLES = (
    CHAINS,
    CHAIN_VERSIONS,
    CHAIN_PLANS,
    CHAIN_RUNS,
    CHAIN_WAVES,
    CHAIN_LEGS,
    CHAIN_STEPS,
    CHAIN_ATTEMPTS,
    CHAIN_OUTPUTS,
    CHAIN_ORDERS,
    CHAIN_OUTBOX,
    CHAIN_GATES,
    CHAIN_VOTES,
    CHAIN_REVISIONS,
)
