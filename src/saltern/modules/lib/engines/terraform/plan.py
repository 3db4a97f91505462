"""A plan from ``show -json`` → the changes, with sensitive values hidden."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from saltern.language.texts import texts_in

SENSITIVE = "(sensitive)"
UNKNOWN = "(known after apply)"
SHORTEST = 4  # the shortest secret to hide elsewhere, too: shorter texts occur everywhere
NOTHING = ("no-op",)


class PlannedChange(Struct, frozen=True, kw_only=True):
    """One resource, or one output. ``actions`` are Terraform's, in order."""

    address: str
    kind: str
    actions: tuple[str, ...]
    changes: dict[str, object]
    reason: str = ""

    @property
    def word(self) -> str:
        return "replace" if len(self.actions) > 1 else self.actions[0]


class TerraformPlan(Struct, frozen=True, kw_only=True):
    resources: dict[str, PlannedChange]
    outputs: dict[str, PlannedChange]
    values: dict[str, object]  # of outputs, as they will be
    secrets: frozenset[str] = frozenset()  # texts to hide everywhere


def read(shown: Mapping[str, Any]) -> TerraformPlan:
    """The plan. ``shown`` contains plain secrets, and must not be stored."""
    secrets = frozenset(_secrets(shown))
    resources = [_resource(one, secrets) for one in shown.get("resource_changes") or ()]
    outputs = {
        name: _planned_change(f"output.{name}", "output", {"value": one}, secrets)
        for name, one in (shown.get("output_changes") or {}).items()
    }
    known = (shown.get("planned_values") or {}).get("outputs") or {}
    return TerraformPlan(
        resources={one.address: one for one in resources},
        outputs=outputs,
        values=hidden_outputs(known, secrets),
        secrets=secrets,
    )


def hidden_outputs(outputs: Mapping[str, Mapping[str, Any]], secrets: frozenset[str]) -> dict[str, object]:
    return {
        name: SENSITIVE if one.get("sensitive") else hide(one.get("value", UNKNOWN), False, secrets)
        for name, one in outputs.items()
    }


def _resource(one: Mapping[str, Any], secrets: frozenset[str]) -> PlannedChange:
    change = one.get("change") or {}
    before, after = change.get("before") or {}, change.get("after") or {}
    unknown, names = change.get("after_unknown"), {**before, **after}
    if isinstance(unknown, Mapping):
        names |= {name: None for name, inner in unknown.items() if inner}
    parts = {
        name: {key: _part(change.get(key), name) for key in change if key.startswith(("before", "after"))}
        for name in names
    }
    address = str(one.get("address"))
    if deposed := one.get("deposed"):
        address += f" (deposed {deposed})"
    actions = change.get("actions")
    reason = str(one.get("action_reason") or "").replace("_", " ")
    return _planned_change(address, str(one.get("type")), parts, secrets, actions=actions, reason=reason)


def _part(value: object, name: str) -> object:
    """The part of a mask or a value for one attribute; a mask may be true for all."""
    return value.get(name) if isinstance(value, Mapping) else value


def _planned_change(
    address: str,
    kind: str,
    parts: Mapping[str, Mapping[str, Any]],
    secrets: frozenset[str],
    *,
    actions: Iterable[str] | None = None,
    reason: str = "",
) -> PlannedChange:
    taken = tuple(actions or next((part.get("actions") for part in parts.values()), None) or NOTHING)
    changes: dict[str, object] = {
        name: {
            "old": hide(part.get("before"), part.get("before_sensitive"), secrets),
            "new": hide(_after(part), part.get("after_sensitive"), secrets),
        }
        for name, part in parts.items()
        if part.get("before") != part.get("after") or _any(part.get("after_unknown"))
    }
    still = taken == NOTHING or taken == ("read",)
    return PlannedChange(
        address=address, kind=kind, actions=taken, changes={} if still else changes, reason=reason
    )


def _after(part: Mapping[str, Any]) -> object:
    return _unknown(part.get("after"), part.get("after_unknown"))


def _unknown(value: object, mask: object) -> object:
    if mask is True:
        return UNKNOWN
    if isinstance(mask, Mapping) and mask:
        known = value if isinstance(value, Mapping) else {}
        return {key: _unknown(known.get(key), mask.get(key)) for key in {**known, **mask}}
    if isinstance(mask, list) and isinstance(value, list):
        return [_unknown(one, mask[at] if at < len(mask) else None) for at, one in enumerate(value)]
    return value


def _any(mask: object) -> bool:
    if isinstance(mask, Mapping):
        return any(map(_any, mask.values()))
    return any(map(_any, mask)) if isinstance(mask, list) else mask is True


def hide(value: object, mask: object, secrets: frozenset[str]) -> object:
    """Hide marked values, and their copies elsewhere: not every provider passes marks on."""
    if mask is True:
        return None if value is None else SENSITIVE
    if isinstance(value, Mapping):
        return {key: hide(inner, _part(mask, key), secrets) for key, inner in value.items()}
    if isinstance(value, list):
        marks = mask if isinstance(mask, list) else []
        return [hide(one, marks[at] if at < len(marks) else None, secrets) for at, one in enumerate(value)]
    if isinstance(value, str) and any(secret in value for secret in secrets):
        return SENSITIVE
    return value


def _secrets(shown: Mapping[str, Any]) -> Iterator[str]:
    for one in shown.get("resource_changes") or ():
        change = one.get("change") or {}
        for side in ("before", "after"):
            yield from _marked_texts(change.get(side), change.get(f"{side}_sensitive"))
    for one in (shown.get("output_changes") or {}).values():
        for side in ("before", "after"):
            yield from _marked_texts(one.get(side), one.get(f"{side}_sensitive"))
    declared = ((shown.get("configuration") or {}).get("root_module") or {}).get("variables") or {}
    for name, one in (shown.get("variables") or {}).items():
        yield from _marked_texts(one.get("value"), bool((declared.get(name) or {}).get("sensitive")))


def _marked_texts(value: object, mask: object) -> Iterator[str]:
    if mask is True:
        yield from (text for text in texts_in(value) if len(text) >= SHORTEST)
    elif isinstance(mask, Mapping) and isinstance(value, Mapping):
        for key, inner in mask.items():
            yield from _marked_texts(value.get(key), inner)
    elif isinstance(mask, list) and isinstance(value, list):
        for one, inner in zip(value, mask, strict=False):
            yield from _marked_texts(one, inner)
