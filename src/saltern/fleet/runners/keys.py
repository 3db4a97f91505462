"""``key``: the wheel functions about the keys of systems, in the format of Salt."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from typing import Any

from saltern.fleet.runners.ports import Around

# Salt's name for the keys of a state. A revoked key is refused, as a rejected one is.
LABELS = {
    "accepted": "minions",
    "pending": "minions_pre",
    "rejected": "minions_rejected",
    "revoked": "minions_denied",
}
SHORT = {"acc": "accepted", "pre": "pending", "un": "pending", "rej": "rejected", "den": "revoked"}
Keys = dict[str, list[str]]


def list_all(around: Around) -> dict[str, Any]:
    """All keys, by their state."""
    found = _keys(around)
    return {"local": ["master.pem", "master.pub"], **found}


def list_keys(around: Around, match: str) -> Keys:
    """The keys of a state: accepted, pre, rejected, denied, all."""
    if match.startswith("all"):
        return _keys(around)
    states = [state for start, state in SHORT.items() if match.startswith(start)]
    return {LABELS[state]: _keys(around)[LABELS[state]] for state in states}


def name_match(around: Around, match: str) -> Keys:
    """The keys whose systems match a glob, by their state."""
    return _matching_keys(around, match, LABELS)


def accept(around: Around, match: str, include_rejected: bool = False, include_denied: bool = False) -> Keys:
    """Accept keys."""
    states = ["pending", *(["rejected"] * include_rejected), *(["revoked"] * include_denied)]
    return _decide(around, match, states, _accept)


def reject(around: Around, match: str, include_accepted: bool = False, include_denied: bool = False) -> Keys:
    """Reject keys; one that was accepted is revoked."""
    states = ["pending", *(["accepted"] * include_accepted), *(["revoked"] * include_denied)]
    return _decide(around, match, states, _reject)


def delete(around: Around, match: str) -> Keys:
    """Remove systems from the fleet."""
    return _decide(around, match, LABELS, lambda around, system, _state: around.ask.systems.remove(system))


def finger(around: Around, match: str, hash_type: object = None) -> dict[str, Any]:  # noqa: ARG001
    """The fingerprints of keys."""
    found: dict[str, Any] = {}
    for row in around.ask.systems.list():
        if row["state"] in LABELS and fnmatchcase(row["id"], match):
            found.setdefault(LABELS[row["state"]], {})[row["id"]] = row["fingerprint"]
    return found


def connected_systems(around: Around) -> list[str]:
    """The connected systems."""
    return sorted(row["id"] for row in around.ask.systems.list(state="accepted") if row["online"])


def _accept(around: Around, system: str, state: str) -> None:
    if state == "revoked":
        around.ask.systems.restore(system)
    else:
        around.ask.systems.accept(system)


def _reject(around: Around, system: str, state: str) -> None:
    if state == "accepted":
        around.ask.systems.revoke(system)
    else:
        around.ask.systems.reject(system)


def _keys(around: Around) -> Keys:
    found: Keys = {label: [] for label in LABELS.values()}
    for row in around.ask.systems.list():
        if row["state"] in LABELS:
            found[LABELS[row["state"]]].append(row["id"])
    return {label: sorted(ids) for label, ids in found.items()}


def _matching_keys(around: Around, match: object, states: Iterable[str]) -> Keys:
    known = _keys(around)
    patterns = [str(one) for one in match] if isinstance(match, list) else str(match).split(",")
    found = {
        LABELS[state]: [id_ for id_ in known[LABELS[state]] if any(fnmatchcase(id_, one) for one in patterns)]
        for state in states
    }
    return {label: ids for label, ids in found.items() if ids}


def _decide(
    around: Around, match: object, states: Iterable[str], decide: Callable[[Around, str, str], None]
) -> Keys:
    """Decide about the matching keys; return those that were changed, with their new states."""
    names = {label: state for state, label in LABELS.items()}
    done: list[str] = []
    for label, ids in _matching_keys(around, match, list(states)).items():
        for system in ids:
            decide(around, system, names[label])
            done.append(system)
    now = _keys(around)
    found = {label: [id_ for id_ in ids if id_ in done] for label, ids in now.items()}
    return {label: ids for label, ids in found.items() if ids}


RUNNERS: dict[str, Callable[..., object]] = {
    "key.list": list_keys,
    "key.list_": list_keys,
    "key.list_all": list_all,
    "key.name_match": name_match,
    "key.glob_match": name_match,
    "key.accept": accept,
    "key.reject": reject,
    "key.delete": delete,
    "key.finger": finger,
    "minions.connected": connected_systems,
}
