"""``sdb://PROFILE/KEY``: secret values of the stores in the configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from saltern.language import secrets
from saltern.language.texts import texts_in
from saltern.modules.lib.sdb_drivers import DRIVERS, Config, Driver, SdbError

__all__ = ["SdbError", "addresses", "delete", "get", "is_uri", "put", "resolve"]

PREFIX = "sdb://"
T = TypeVar("T")


def is_uri(value: object) -> bool:
    return isinstance(value, str) and value.startswith(PREFIX)


def parts(uri: object) -> tuple[str, str]:
    """The profile and key of an address; both empty if it is not one."""
    profile, mark, key = str(uri).removeprefix(PREFIX).partition("/") if is_uri(uri) else ("", "", "")
    return (profile, key) if mark and key else ("", "")


def get(uri: str, opts: Config) -> object:
    """The value; the address itself if the configuration has no such profile, as in Salt."""
    try:
        found = _driver(uri, opts)
        if found is None:
            return uri
        driver, key, config = found
        value = driver.get(key, config, opts)
    except SdbError as problem:
        problem.uri = uri
        raise
    secrets.add(value)
    return value


def put(uri: str, value: object, opts: Config) -> object:
    """Store a value. Returns the driver's value, or false if the configuration has no such profile."""
    found = _driver(uri, opts)
    if found is None:
        return False
    secrets.add(value)
    driver, key, config = found
    return _may(driver.put, "stores nothing", config)(key, value, config, opts)


def delete(uri: str, opts: Config) -> object:
    """Remove a value. Returns true if there was one; false if the configuration has no such profile."""
    found = _driver(uri, opts)
    if found is None:
        return False
    driver, key, config = found
    return _may(driver.delete, "deletes nothing", config)(key, config, opts)


def _may(does: T | None, what: str, config: Config) -> T:
    if does is None:
        raise SdbError(f"the driver {config['driver']!r} {what}")
    return does


def _driver(uri: str, opts: Config) -> tuple[Driver, str, Config] | None:
    """The driver of an address, with the key and the profile, which may be part of the pillar."""
    profile, key = parts(uri)
    config = (opts.get(profile) or (opts.get("pillar") or {}).get(profile)) if profile else None
    if not isinstance(config, Mapping) or "driver" not in config:
        return None
    driver = DRIVERS.get(str(config["driver"]))
    if driver is None:
        names = ", ".join(DRIVERS)
        raise SdbError(f"the profile {profile!r} has the driver {config['driver']!r}; use one of {names}")
    return driver, key, config


def resolve(value: Any, opts: Config) -> Any:
    """The data with its addresses replaced by their values; the same object if it has none."""
    if is_uri(value):
        return get(value, opts)
    if isinstance(value, Mapping):
        made = {key: resolve(inner, opts) for key, inner in value.items()}
        if all(made[key] is inner for key, inner in value.items()):
            return value
        copy = value.copy() if isinstance(value, dict) else {}
        copy.update(made)
        return copy
    if isinstance(value, list):
        items = [resolve(inner, opts) for inner in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    return value


def addresses(value: object) -> Iterator[str]:
    """All addresses in data."""
    return filter(is_uri, texts_in(value))
