"""``sdb://`` addresses in the configuration and in the pillar: the values that they stand for."""

from __future__ import annotations

from collections.abc import Mapping

from saltern.language.diagnostics import Diagnostic, OperationError, PillarError


def has_address(value: object) -> bool:
    """Whether data has an address of a store in it."""
    if isinstance(value, str):
        return value.startswith("sdb://")
    if isinstance(value, Mapping):
        return any(map(has_address, value.values()))
    return isinstance(value, list) and any(map(has_address, value))


def option_values(extra: Mapping[str, object], opts: Mapping[str, object]) -> dict[str, object]:
    """Options of the configuration with the values of their addresses: functions and sources see these."""
    if not any(map(has_address, extra.values())):
        return {}
    from saltern.modules.lib import sdb

    try:
        return {name: sdb.resolved(value, opts) for name, value in extra.items()}
    except sdb.SdbError as problem:
        raise OperationError(_no_value("configuration", problem)) from None


def without_addresses(pillar: dict[str, object], opts: Mapping[str, object]) -> dict[str, object]:
    """The pillar with the values that addresses in it stand for."""
    if not has_address(pillar):
        return pillar
    from saltern.modules.lib import sdb

    try:
        found: dict[str, object] = sdb.resolved(pillar, opts)
    except sdb.SdbError as problem:
        raise PillarError(_no_value("pillar", problem)) from None
    return found


def _no_value(where: str, problem: Exception) -> Diagnostic:
    what = f"an sdb:// address in the {where} has no value: {problem}"
    return Diagnostic(code="sdb", what=what)
