"""Chains, their versions, and the runs of them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
IMMUTABLE = "a version of a chain is never changed"
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

RUN = (
    "draft",
    "awaiting approval",
    "scheduled",
    "running",
    "paused",
    "halted",
    "cancelling",
    "succeeded",
    "partial",
    "failed",
    "cancelled",
    "expired",
)
LEG = (
    "pending",
    "queued",
    "delivered",
    "running",
    "rebooting",
    "updating",
    "waiting",
    "paused",
    "succeeded",
    "succeeded with skips",
    "failed",
    "cancelled",
    "expired",
    "indeterminate",
)
WAVE = (
    "pending",
    "running",
    "soaking",
    "over",
)
STEP = (
    "not run",
    "waiting",
    "running",
    "succeeded",
    "failed",
    "timed out",
    "indeterminate",
    "skipped",
    "cancelled",
)


def _one_of(table: str, words: tuple[str, ...]) -> sa.CheckConstraint:
    listed = ", ".join(f"'{word}'" for word in words)
    return sa.CheckConstraint(f"status IN ({listed})", name=op.f(f"ck_{table}_status"))


def _chains() -> None:
    op.create_table(
        "chains",
        sa.Column("id", sa.String(length=255), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("owner", sa.String(length=255), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("created_by", sa.String(length=255), nullable=False),
        sa.Column("archived_at", sa.Double(), nullable=True),
        sa.Column("archived_by", sa.String(length=255), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_chains")),
        sa.UniqueConstraint("name", name=op.f("uq_chains_name")),
        comment="chains of actions, by name; their texts are versions",
    )


def _chain_versions() -> None:
    op.create_table(
        "chain_versions",
        sa.Column("chain", sa.String(length=255), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("inputs", sa.LargeBinary(), nullable=False),
        sa.Column("author", sa.String(length=255), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["chain"], ["chains.id"], name=op.f("fk_chain_versions_chain"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("chain", "number", name=op.f("pk_chain_versions")),
        comment="every text that a chain has had; a version is never changed",
    )


def _chain_plans() -> None:
    op.create_table(
        "chain_plans",
        sa.Column("id", sa.String(length=255), nullable=False),
        sa.Column("chain", sa.String(length=255), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("facts", sa.String(length=64), nullable=False),
        sa.Column("author", sa.String(length=255), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["chain", "version"],
            ["chain_versions.chain", "chain_versions.number"],
            name=op.f("fk_chain_plans_chain_version"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_chain_plans")),
        comment="what a chain would do on all its systems, and the facts that this was found with",
    )


def _chain_runs() -> None:
    op.create_table(
        "chain_runs",
        sa.Column("id", sa.String(length=255), nullable=False),
        sa.Column("chain", sa.String(length=255), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("inputs", sa.LargeBinary(), nullable=False),
        sa.Column("strategy", sa.LargeBinary(), nullable=False),
        sa.Column("environment", sa.String(length=255), nullable=False),
        sa.Column("tree", sa.String(length=64), nullable=False),
        sa.Column("rule", sa.String(length=255), nullable=False),
        sa.Column("plan_sha256", sa.String(length=64), nullable=False),
        sa.Column("status", sa.String(length=255), nullable=False),
        sa.Column("author", sa.String(length=255), nullable=False),
        sa.Column("client_token", sa.String(length=255), nullable=True),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("begun", sa.Double(), nullable=True),
        sa.Column("ended", sa.Double(), nullable=True),
        sa.Column("deadline", sa.Double(), nullable=False),
        sa.Column("next_wakeup", sa.Double(), nullable=True),
        sa.Column("seen", sa.Double(), nullable=False),
        sa.Column("cancelled", sa.Boolean(), nullable=False),
        sa.Column("halted", sa.Text(), nullable=False),
        sa.Column("excused", sa.LargeBinary(), nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.Column("row_version", sa.BigInteger(), nullable=False),
        _one_of("chain_runs", RUN),
        sa.ForeignKeyConstraint(
            ["chain", "version"],
            ["chain_versions.chain", "chain_versions.number"],
            name=op.f("fk_chain_runs_chain_version"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_chain_runs")),
        sa.UniqueConstraint("author", "client_token", name=op.f("uq_chain_runs_author_client_token")),
        comment="a version of a chain on all systems of a target",
    )
    op.create_index(op.f("ix_chain_runs_chain"), "chain_runs", ["chain"], unique=False)
    op.create_index(op.f("ix_chain_runs_created"), "chain_runs", ["created"], unique=False)
    op.create_index(
        op.f("ix_chain_runs_status_next_wakeup"), "chain_runs", ["status", "next_wakeup"], unique=False
    )


def _chain_gates() -> None:
    op.create_table(
        "chain_gates",
        sa.Column("run", sa.String(length=255), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("place", sa.String(length=255), nullable=False),
        sa.Column("needed", sa.Integer(), nullable=False),
        sa.Column("of", sa.String(length=255), nullable=False),
        sa.Column("status", sa.String(length=255), nullable=False),
        sa.Column("plan_sha256", sa.String(length=64), nullable=False),
        sa.Column("opened", sa.Double(), nullable=True),
        sa.Column("expires", sa.Double(), nullable=True),
        sa.Column("decided", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["run"], ["chain_runs.id"], name=op.f("fk_chain_gates_run"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run", "name", name=op.f("pk_chain_gates")),
        comment="where a run waits for approvals, or for the controller",
    )


def _chain_legs() -> None:
    op.create_table(
        "chain_legs",
        sa.Column("id", sa.String(length=512), nullable=False),
        sa.Column("run", sa.String(length=255), nullable=False),
        sa.Column("system", sa.String(length=255), nullable=False),
        sa.Column("wave", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("group", sa.String(length=255), nullable=False),
        sa.Column("plan_sha256", sa.String(length=64), nullable=False),
        sa.Column("plan_revision", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.String(length=255), nullable=False),
        sa.Column("away", sa.Boolean(), nullable=False),
        sa.Column("held", sa.Boolean(), nullable=False),
        sa.Column("ending", sa.String(length=255), nullable=False),
        sa.Column("sent", sa.String(length=255), nullable=False),
        sa.Column("order", sa.BigInteger(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("answered", sa.BigInteger(), nullable=False),
        sa.Column("begun", sa.Double(), nullable=False),
        sa.Column("ended", sa.Double(), nullable=True),
        sa.Column("waits_for", sa.Text(), nullable=False),
        sa.Column("quarantined", sa.Boolean(), nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        _one_of("chain_legs", LEG),
        sa.ForeignKeyConstraint(
            ["run"], ["chain_runs.id"], name=op.f("fk_chain_legs_run"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_chain_legs")),
        sa.UniqueConstraint("run", "system", name=op.f("uq_chain_legs_run_system")),
        comment="one system in one run",
    )
    op.create_index(op.f("ix_chain_legs_system_status"), "chain_legs", ["system", "status"], unique=False)


def _chain_orders() -> None:
    op.create_table(
        "chain_orders",
        sa.Column("number", NUMBER, autoincrement=True, nullable=False),
        sa.Column("run", sa.String(length=255), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("who", sa.String(length=255), nullable=False),
        sa.Column("verb", sa.String(length=255), nullable=False),
        sa.Column("legs", sa.LargeBinary(), nullable=False),
        sa.Column("step", sa.String(length=255), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run"], ["chain_runs.id"], name=op.f("fk_chain_orders_run"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_chain_orders")),
        comment="what operators have ordered about a run, in the order in which it was decided",
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_chain_orders_run_number"), "chain_orders", ["run", "number"], unique=False)


def _chain_waves() -> None:
    op.create_table(
        "chain_waves",
        sa.Column("run", sa.String(length=255), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("stage", sa.String(length=255), nullable=False),
        sa.Column("status", sa.String(length=255), nullable=False),
        sa.Column("soak_until", sa.Double(), nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        _one_of("chain_waves", WAVE),
        sa.ForeignKeyConstraint(
            ["run"], ["chain_runs.id"], name=op.f("fk_chain_waves_run"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run", "number", name=op.f("pk_chain_waves")),
        comment="the legs of a run that begin together",
    )


def _chain_outbox() -> None:
    op.create_table(
        "chain_outbox",
        sa.Column("number", NUMBER, autoincrement=True, nullable=False),
        sa.Column("run", sa.String(length=255), nullable=False),
        sa.Column("leg", sa.String(length=512), nullable=False),
        sa.Column("order", sa.BigInteger(), nullable=False),
        sa.Column("verb", sa.String(length=255), nullable=False),
        sa.Column("step", sa.String(length=255), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("jid", sa.String(length=64), nullable=True),
        sa.Column("sent", sa.Double(), nullable=True),
        sa.Column("acked", sa.Double(), nullable=True),
        sa.Column("answer", sa.String(length=255), nullable=False),
        sa.ForeignKeyConstraint(
            ["leg"], ["chain_legs.id"], name=op.f("fk_chain_outbox_leg"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["run"], ["chain_runs.id"], name=op.f("fk_chain_outbox_run"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_chain_outbox")),
        sa.UniqueConstraint("leg", "order", name=op.f("uq_chain_outbox_leg_order")),
        comment="orders to systems: written with the decision, sent as jobs, acknowledged by returns",
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_chain_outbox_acked_jid"), "chain_outbox", ["acked", "jid"], unique=False)
    op.create_index(op.f("ix_chain_outbox_jid"), "chain_outbox", ["jid"], unique=False)


def _chain_steps() -> None:
    op.create_table(
        "chain_steps",
        sa.Column("leg", sa.String(length=512), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("action", sa.String(length=255), nullable=False),
        sa.Column("kind", sa.String(length=255), nullable=False),
        sa.Column("on_failure", sa.String(length=255), nullable=False),
        sa.Column("final", sa.Boolean(), nullable=False),
        sa.Column("status", sa.String(length=255), nullable=False),
        sa.Column("blocked_by", sa.String(length=255), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("changed", sa.Boolean(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("took", sa.Double(), nullable=False),
        sa.Column("started", sa.Double(), nullable=True),
        sa.Column("ended", sa.Double(), nullable=True),
        _one_of("chain_steps", STEP),
        sa.ForeignKeyConstraint(
            ["leg"], ["chain_legs.id"], name=op.f("fk_chain_steps_leg"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("leg", "number", name=op.f("pk_chain_steps")),
        comment="one action on one system: what became of it, or what keeps it from running",
    )


def _chain_votes() -> None:
    op.create_table(
        "chain_votes",
        sa.Column("run", sa.String(length=255), nullable=False),
        sa.Column("gate", sa.String(length=255), nullable=False),
        sa.Column("who", sa.String(length=255), nullable=False),
        sa.Column("approves", sa.Boolean(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("plan_sha256", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["run", "gate"],
            ["chain_gates.run", "chain_gates.name"],
            name=op.f("fk_chain_votes_run_gate"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("run", "gate", "who", name=op.f("pk_chain_votes")),
        comment="who approved or rejected a gate, and the plan that was looked at",
    )


def _chain_attempts() -> None:
    op.create_table(
        "chain_attempts",
        sa.Column("leg", sa.String(length=512), nullable=False),
        sa.Column("step", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("status", sa.String(length=255), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("started", sa.Double(), nullable=True),
        sa.Column("ended", sa.Double(), nullable=True),
        _one_of("chain_attempts", STEP),
        sa.ForeignKeyConstraint(
            ["leg", "step"],
            ["chain_steps.leg", "chain_steps.number"],
            name=op.f("fk_chain_attempts_leg_step"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("leg", "step", "number", name=op.f("pk_chain_attempts")),
        comment="each try of a step",
    )


def _chain_outputs() -> None:
    op.create_table(
        "chain_outputs",
        sa.Column("leg", sa.String(length=512), nullable=False),
        sa.Column("step", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("attempt", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("stream", sa.String(length=255), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("cut", sa.Boolean(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["leg", "step"],
            ["chain_steps.leg", "chain_steps.number"],
            name=op.f("fk_chain_outputs_leg_step"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("leg", "step", "attempt", "stream", name=op.f("pk_chain_outputs")),
        comment="what a step printed, up to a limit; `size` is what it was",
    )


def _keep_versions() -> None:
    """A trigger refuses what would change a version."""
    if op.get_bind().dialect.name == "sqlite":
        body = f"BEGIN SELECT RAISE(ABORT, '{IMMUTABLE}'); END"
        op.execute(f"CREATE TRIGGER chain_versions_kept BEFORE UPDATE ON chain_versions {body}")
        return
    body = f"BEGIN RAISE EXCEPTION '{IMMUTABLE}'; END"
    op.execute(f"CREATE FUNCTION chain_versions_kept() RETURNS trigger LANGUAGE plpgsql AS $$ {body} $$")
    what = "BEFORE UPDATE ON chain_versions FOR EACH ROW EXECUTE FUNCTION chain_versions_kept()"
    op.execute(f"CREATE TRIGGER chain_versions_kept {what}")


def upgrade() -> None:
    for make in (
        _chains,
        _chain_versions,
        _chain_plans,
        _chain_runs,
        _chain_gates,
        _chain_legs,
        _chain_orders,
        _chain_waves,
        _chain_outbox,
        _chain_steps,
        _chain_votes,
        _chain_attempts,
        _chain_outputs,
        _keep_versions,
    ):
        make()
