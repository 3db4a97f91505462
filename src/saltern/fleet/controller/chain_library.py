"""Stored chains: create them, add versions, check them against real systems, archive them.

Changes are audited in the same transaction. A version is never changed; a run names its version.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from uuid import uuid4

from msgspec import Struct, json

from saltern.chains.document import Chain, read_chain
from saltern.chains.targets import unmatched_actions
from saltern.fleet.chains.model import Version
from saltern.fleet.chains.versions import next_version
from saltern.fleet.store import audit, chains
from saltern.fleet.store.chains import StoredChain, StoredVersion
from saltern.fleet.store.database import Connection, Database
from saltern.language.diagnostics import Diagnostic, OperationError

Groups = Sequence[tuple[Mapping[str, object], frozenset[str]]]  # facts, and the systems that have them


class Finding(Struct, frozen=True, kw_only=True):
    """One finding of a check. ``level`` is ``error`` or ``warning``."""

    level: str
    what: str
    action: str = ""
    systems: tuple[str, ...] = ()


def unknown_chain(name: str) -> OperationError:
    what, fix = f"no chain is called {name!r}", "saltern chain list shows them"
    return OperationError(Diagnostic(code="chain-unknown", what=what, fix=fix))


def save(
    database: Database, who: str, text: str, now: float, *, note: str = "", base: int | None = None
) -> StoredVersion:
    """Store a text as the newest version of the chain that it names; a new chain is created.

    ``base``: the version that was edited. If there is a newer one, nothing is stored. A text equal to the
    newest version makes no new version.
    """
    chain = read_chain(text, "chain")
    with database.write() as connection:
        chains.lock_chain(connection, chain.name)
        stored = chains.chain_named(connection, chain.name) or _make(connection, chain, who, now)
        last = chains.version_of(connection, stored.id)
        _check_base(chain.name, last, base)
        _check_archived(stored)
        new = next_version(stored.id, _as_version(last), text, who)
        if last is not None and new.number == last.number:
            return last
        version = StoredVersion(
            chain=stored.id,
            number=new.number,
            text=text,
            sha256=new.sha256,
            author=who,
            created=now,
            note=note,
        )
        chains.add_version(connection, version)
        detail = {"chain": chain.name, "version": version.number, "sha256": version.sha256, "note": note}
        audit.append(connection, who, "chain.save", detail, now)
        return version


def _as_version(stored: StoredVersion | None) -> Version | None:
    if stored is None:
        return None
    return Version(
        chain=stored.chain, number=stored.number, text=stored.text, sha256=stored.sha256, author=stored.author
    )


def _make(connection: Connection, chain: Chain, who: str, now: float) -> StoredChain:
    new = StoredChain(
        id=uuid4().hex, name=chain.name, created=now, created_by=who, owner=who, description=chain.description
    )
    chains.add_chain(connection, new)
    return new


def _check_base(name: str, last: StoredVersion | None, base: int | None) -> None:
    if base is None or last is None or last.number == base:
        return
    what = f"the chain {name!r} now has version {last.number} by {last.author}, but version {base} was edited"
    fix = f"look at `saltern chain diff {name} {base} {last.number}`, and edit version {last.number}"
    raise OperationError(Diagnostic(code="chain-edited", what=what, fix=fix))


def _check_archived(stored: StoredChain) -> None:
    if stored.archived_at is not None:
        what = f"the chain {stored.name!r} is archived"
        fix = f"saltern chain archive {stored.name} --undo restores it"
        raise OperationError(Diagnostic(code="chain-archived", what=what, fix=fix))


def find(connection: Connection, name: str, number: int | None = None) -> tuple[StoredChain, StoredVersion]:
    """A chain and one of its versions; without a number, the newest."""
    stored = chains.chain_named(connection, name)
    if stored is None:
        raise unknown_chain(name)
    version = chains.version_of(connection, stored.id, number)
    if version is None:
        what, fix = f"the chain {name!r} has no version {number}", f"saltern chain show {name} lists them"
        raise OperationError(Diagnostic(code="chain-version-unknown", what=what, fix=fix))
    return stored, version


def archive(database: Database, who: str, name: str, now: float, *, undo: bool = False) -> StoredChain:
    """Archive a chain, or restore it. Its runs and versions stay."""
    with database.write() as connection:
        stored, _ = find(connection, name)
        if chains.set_archived(connection, stored.id, who, None if undo else now):
            audit.append(
                connection, who, "chain.unarchive" if undo else "chain.archive", {"chain": stored.name}, now
            )
        return find(connection, name)[0]


def difference(old: StoredVersion, new: StoredVersion, name: str) -> list[str]:
    """What differs between two versions, as a unified diff."""
    names = (f"{name} version {old.number}", f"{name} version {new.number}")
    return list(difflib.unified_diff(old.text.splitlines(), new.text.splitlines(), *names, lineterm=""))


def validate(text: str, target: str, systems: Sequence[str], groups: Groups) -> list[Finding]:
    """The problems of a chain on the systems of a target: it has no action for them, a target of an action
    matches none, or a system cannot do what an action requires, by its known facts.

    ``groups``: the systems by those facts."""
    chain = read_chain(text, "chain")
    if not any(action.meant_for(one) for one in systems for action in chain.actions):
        return [Finding(level="error", what=f"no action is for a system of {target!r}")]
    found = [
        Finding(level="warning", action=action, what=f"no system of {target!r} matches {pattern!r}")
        for action, pattern in unmatched_actions(chain, systems)
    ]
    return [*found, *_unable(chain, groups)]


def _unable(chain: Chain, groups: Groups) -> list[Finding]:
    """Actions that systems cannot do, by their own facts."""
    found: list[Finding] = []
    for action in (*chain.actions, *chain.finalizers):
        for needs, what, level in NEEDS.get(action.kind, ()):
            unfit = (own for facts, own in groups if facts and not needs(facts))
            lacking = tuple(sorted(system for own in unfit for system in own if action.meant_for(system)))
            if lacking:
                found.append(Finding(level=level, action=action.id, what=what, systems=lacking))
    return found


def refuse_unable(chain: Chain, groups: Groups) -> None:
    """Raise if a system is known to be unable to do an action, and no action could change that: then earlier
    actions are not done there either."""
    for one in _unable(chain, groups):
        if one.level == "error":
            few = ", ".join(one.systems[:5]) + (
                f" and {len(one.systems) - 5} more" if one.systems[5:] else ""
            )
            what = f"{few} cannot do the action {one.action!r}: {one.what}"
            fix = "leave them out with the target, or with the `targets` of that action"
            raise OperationError(Diagnostic(code="chain-unable", what=what, fix=fix))


def _has_package_manager(facts: Mapping[str, object]) -> bool:
    return str(facts.get("os_family", "")) in PACKAGED or not facts.get("os_family")


def _is_linux(facts: Mapping[str, object]) -> bool:
    return str(facts.get("kernel", "Linux")) == "Linux"


def _can_reboot(facts: Mapping[str, object]) -> bool:
    return str(facts.get("virtual_subtype", "")).lower() not in ("docker", "podman", "kubernetes")


def _says_snapshots(facts: Mapping[str, object]) -> bool:
    return SNAPSHOTS in facts


def _has_snapshots(facts: Mapping[str, object]) -> bool:
    return facts.get(SNAPSHOTS) != ""


SNAPSHOTS = "boot_snapshots"
NO_SNAPSHOTS = "its root file system is not on a snapshot that can be chosen at boot"
ASKED = ("os_family", "kernel", "virtual_subtype", SNAPSHOTS)  # the facts that are read above
PACKAGED = frozenset(
    {"Debian", "RedHat", "Suse", "Arch", "Alpine", "Gentoo", "FreeBSD", "OpenBSD", "NetBSD", "MacOS"}
)
_PACKAGES = ((_has_package_manager, "its package manager is not known", "error"),)
Need = tuple[Callable[[Mapping[str, object]], bool], str, str]  # the last: the level of the finding
NEEDS: dict[str, Sequence[Need]] = {
    "packages": _PACKAGES,
    "patch": _PACKAGES,
    "upgrade": _PACKAGES,
    "reboot": (
        (_is_linux, "saltern reboots Linux only", "error"),
        (_can_reboot, "a container does not reboot", "error"),
    ),
    "transaction": (
        (_has_snapshots, NO_SNAPSHOTS, "error"),
        (_says_snapshots, "its version of saltern is too old for transactions: update it first", "warning"),
    ),
}


def inputs_of(version: StoredVersion) -> dict[str, object]:
    """The schema of the inputs of a run."""
    found: dict[str, object] = json.decode(version.inputs)
    return found
