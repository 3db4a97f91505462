"""Arguments of a state → options of a program, by a table."""

from __future__ import annotations

from collections.abc import Mapping


def flags(table: Mapping[str, str], given: Mapping[str, object], *, spread: bool = False) -> list[str]:
    """The options for the given arguments. A list repeats its option, or follows it if it is in
    ``spread``.
    """
    found: list[str] = []
    for name, flag in table.items():
        value = given.get(name)
        if value is None or value is False:
            continue
        if value is True:
            found.append(flag)
        elif not isinstance(value, list):
            found.append(f"{flag}={value}")
        elif spread:
            found += [flag, *map(str, value)] if value else []
        else:
            found += [f"{flag}={one}" for one in value]
    return found
