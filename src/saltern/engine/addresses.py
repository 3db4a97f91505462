"""``sdb://`` addresses in the configuration and in the pillar: the values that they stand for."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from saltern.language.diagnostics import Diagnostic, OperationError, PillarError
from saltern.language.source import Mark

if TYPE_CHECKING:
    from saltern.config.settings import Settings
    from saltern.modules.lib.sdb import SdbError


def has_address(value: object) -> bool:
    """True if the data contains the address of a store."""
    if isinstance(value, str):
        return value.startswith("sdb://")
    if isinstance(value, Mapping):
        return any(map(has_address, value.values()))
    return isinstance(value, list) and any(map(has_address, value))


def option_values(settings: Settings, opts: Mapping[str, object]) -> dict[str, object]:
    """The configuration with the values of its addresses, for functions and sources."""
    if not any(map(has_address, settings.extra.values())):
        return {}
    from saltern.modules.lib import sdb

    try:
        return {name: sdb.resolve(value, opts) for name, value in settings.extra.items()}
    except sdb.SdbError as problem:
        where = _option_place(settings, problem.uri)
        raise OperationError(_no_value("configuration", problem, where)) from None


def without_addresses(
    pillar: dict[str, object], opts: Mapping[str, object], roots: Mapping[str, Sequence[str]]
) -> dict[str, object]:
    """The pillar with addresses replaced by their values; ``roots`` are the roots of its files."""
    if not has_address(pillar):
        return pillar
    from saltern.modules.lib import sdb

    try:
        found: dict[str, object] = sdb.resolve(pillar, opts)
    except sdb.SdbError as problem:
        where = _line_with(problem.uri, roots)
        raise PillarError(_no_value("pillar", problem, where)) from None
    return found


def _no_value(kind: str, problem: SdbError, where: Mark | None) -> Diagnostic:
    what = f"the address {problem.uri.partition('?')[0]} in the {kind} has no value: {problem}"
    return Diagnostic(code="sdb", what=what, where=where)


def _option_place(settings: Settings, uri: str) -> Mark | None:
    from saltern.config.files import option_place

    path = next(
        (found for name, value in settings.extra.items() if (found := _path(value, uri, (name,)))), ()
    )
    return option_place(settings.files, path)


def _path(value: object, uri: str, above: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """The path to an address in data; empty if it is not there."""
    if value == uri:
        return above
    pairs = (
        value.items() if isinstance(value, Mapping) else enumerate(value if isinstance(value, list) else ())
    )
    return next((found for key, inner in pairs if (found := _path(inner, uri, (*above, key)))), ())


def _line_with(uri: str, roots: Mapping[str, Sequence[str]]) -> Mark | None:
    """The first line of a pillar file that contains the address."""
    folders = dict.fromkeys(root for several in roots.values() for root in several)
    for folder, _, names in (place for root in folders for place in os.walk(root)):
        for path in sorted(os.path.join(folder, name) for name in names if name.endswith(".sls")):
            try:
                with open(path, encoding="utf-8", errors="replace") as file:
                    at = next((number for number, line in enumerate(file, 1) if uri in line), 0)
            except OSError:
                continue
            if at:
                return Mark(path, at)
    return None
