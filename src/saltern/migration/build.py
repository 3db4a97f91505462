"""Build the new configuration and the report from the data that was read. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from saltern.config.files import Read
from saltern.config.foreign import is_foreign
from saltern.config.options import OPTIONS
from saltern.fleet.access.policy_text import policy_text
from saltern.fleet.access.salt_acl import import_acl
from saltern.migration.git_roots import left_settings, roots_of
from saltern.migration.keys import (
    AGENT_KEYS,
    CHANGED,
    MASTER,
    MINION,
    MISSING,
    NEEDLESS,
    SAME,
    Fate,
    fate_of,
    is_for_pillar,
)

TITLES = {
    SAME: "Works unchanged",
    CHANGED: "Is configured differently",
    MISSING: "Is missing",
    NEEDLESS: "Is no longer needed",
}
# Options of a minion that belong to its machine, and not to saltern's agent.
NOT_FOR_AGENTS = frozenset(
    {"id", "file_roots", "pillar_roots", "file_tree", "agent_socket", "agent_job", "controller"}
)


class Finding(Struct, frozen=True, kw_only=True):
    """One line of the report: a key or a file of Salt, its place, and its fate."""

    kind: str
    what: str
    where: str = ""
    advice: str = ""


class Migration(Struct, frozen=True, kw_only=True):
    """Everything that is written: two configurations, the policy (empty if there is none), and the report."""

    controller: dict[str, object]
    agent: dict[str, object]
    policy: str
    findings: list[Finding]


def build_migration(master: Read | None, minion: Read | None, minions: Mapping[str, list[str]]) -> Migration:
    """The new configuration; ``minions`` are the ids in each state of their keys."""
    findings: list[Finding] = []
    controller: dict[str, object] = {}
    policy = ""
    if master is not None:
        findings += _fates(master, MASTER)
        controller = {name: value for name, value in master.values.items() if _is_kept(name)}
        controller["file_roots"] = roots_of(master.values)
        if more := {name: value for name, value in master.values.items() if is_for_pillar(name)}:
            controller["pillar_config"] = more
        findings += [
            Finding(kind=CHANGED, what=what, where=_where(master, "gitfs_remotes"), advice=advice)
            for what, advice in left_settings(master.values)
        ]
        made = import_acl(master.values)
        policy = policy_text(made.rules, made.login) if made.rules else ""
        findings += [
            Finding(
                kind=CHANGED,
                what=note.what,
                advice=note.fix,
                where=_where(master, *note.path) if note.path else "",
            )
            for note in made.notes
        ]
    if minion is not None:
        findings += _fates(minion, MINION)
    findings += _keys(minions)
    return Migration(controller=controller, agent=_agent_options(minion), policy=policy, findings=findings)


def _is_kept(name: str) -> bool:
    return name in MASTER and MASTER[name].kind == SAME


def _agent_options(minion: Read | None) -> dict[str, object]:
    """The options of a minion with the same meaning for runs of an agent."""
    if minion is None:
        return {}
    return {
        name: value
        for name, value in _without_own_jobs(minion.values).items()
        if (name in OPTIONS or name in AGENT_KEYS) and name not in NOT_FOR_AGENTS and value is not None
    }


def _without_own_jobs(values: Mapping[str, object]) -> dict[str, object]:
    """The options without the jobs that a minion adds to its own schedule: an agent has its own."""
    schedule = values.get("schedule")
    if not isinstance(schedule, Mapping):
        return dict(values)
    jobs = {name: job for name, job in schedule.items() if not str(name).startswith("__")}
    others = {name: value for name, value in values.items() if name != "schedule"}
    return {**others, "schedule": jobs} if jobs else others


def _fates(read: Read, table: dict[str, Fate]) -> Iterator[Finding]:
    for key in _without_own_jobs(read.values):
        fate = fate_of(key, table)
        if fate is None and key in OPTIONS:
            fate = Fate(SAME)
        elif fate is None and is_foreign(key):
            fate = Fate(NEEDLESS, "saltern does not use it")
        elif fate is None:
            fate = Fate(MISSING, "unknown to saltern; config.get finds it if agent.yaml contains it")
        yield Finding(kind=fate.kind, what=key, where=_where(read, key), advice=fate.advice)


def _where(read: Read, *path: str) -> str:
    mark = read.mark(*path)
    return str(mark) if mark else ""


def _keys(minions: Mapping[str, list[str]]) -> Iterator[Finding]:
    for state, ids in minions.items():
        if ids:
            some = ", ".join(ids[:10]) + (f" and {len(ids) - 10} more" if len(ids) > 10 else "")
            advice = "saltern fleet tokens new; then on each: saltern agent join TOKEN --id ID"
            advice = advice if state == "accepted" else "these were not accepted by the master"
            amount = "1 minion" if len(ids) == 1 else f"{len(ids)} minions"
            yield Finding(kind=CHANGED, what=f"{amount} with {state} keys: {some}", advice=advice)
