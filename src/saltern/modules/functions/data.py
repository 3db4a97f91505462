"""``data``: values that this machine stores in a file, beyond the run that sets them."""

from __future__ import annotations

import os

from msgspec import DecodeError, msgpack

from saltern.config.settings import state_directory
from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.lib.nested_data import fresh
from saltern.system.files import Attributes, make_directories, read, write

FILE = "datastore"
OURS = Attributes(mode=0o600)  # for their owner only: the values may be secret


def _file(ctx: Context) -> str:
    return os.path.join(state_directory(ctx.settings), FILE)


def _stored_values(ctx: Context) -> dict[str, object]:
    """The stored values; empty without a file. Raises ``BadArgument`` if the file cannot be read."""
    text = read(_file(ctx))
    try:
        kept = msgpack.decode(text) if text else {}
    except DecodeError as problem:
        raise BadArgument(f"{_file(ctx)} cannot be read: {problem}; remove it to start again") from None
    return kept if isinstance(kept, dict) else {}


def _keep(ctx: Context, kept: dict[str, object]) -> None:
    try:
        text = msgpack.encode(kept)
    except (TypeError, OverflowError, ValueError) as problem:
        raise BadArgument(f"this cannot be stored: {problem}") from None
    make_directories(os.path.dirname(_file(ctx)), Attributes(mode=0o700))
    write(_file(ctx), text, OURS)


@function
def get(ctx: Context, key: str, default: object = None) -> object:
    """The value of a key, or the default.

    Example:
        ```jinja
        {% do salt['data.update']('port', 8080) %}
        {{ salt['data.get']('port') }}
        ```
        ```text
        8080
        ```
    """
    return fresh(_stored_values(ctx).get(key, default))


@function
def update(ctx: Context, key: str, value: object) -> bool:
    """Store a value.

    Example:
        ```jinja
        {% do salt['data.update']('port', 8080) %}
        {{ salt['data.get']('port') }}
        ```
        ```text
        8080
        ```
    """
    _keep(ctx, {**_stored_values(ctx), key: value})
    return True


@function
def pop(ctx: Context, key: str, default: object = None) -> object:
    """Remove a key, and return its value or the default.

    Example:
        ```jinja
        {% do salt['data.update']('port', 8080) %}
        {{ salt['data.pop']('port') }} {{ salt['data.get']('port', 'gone') }}
        ```
        ```text
        8080 gone
        ```
    """
    kept = _stored_values(ctx)
    if key not in kept:
        return default
    value = kept.pop(key)
    _keep(ctx, kept)
    return value


@function
def has_key(ctx: Context, key: str) -> bool:
    """True if a value is stored under this key.

    Example:
        ```jinja
        {% do salt['data.update']('port', 8080) %}
        {{ salt['data.has_key']('port') }}
        ```
        ```text
        True
        ```
    """
    return key in _stored_values(ctx)


@function
def items(ctx: Context) -> object:
    """All stored keys and values.

    Example:
        ```jinja
        {% do salt['data.update']('port', 8080) %}
        {{ salt['data.items']() }}
        ```
        ```text
        {'port': 8080}
        ```
    """
    return fresh(_stored_values(ctx))


@function
def clear(ctx: Context) -> bool:
    """Remove all values.

    Example:
        ```jinja
        {% do salt['data.update']('port', 8080) %}
        {% do salt['data.clear']() %}
        {{ salt['data.items']() }}
        ```
        ```text
        {}
        ```
    """
    _keep(ctx, {})
    return True


@function
def keys(ctx: Context) -> list[str]:
    """The stored keys.

    Example:
        ```jinja
        {% do salt['data.update']('port', 8080) %}
        {{ salt['data.keys']() }}
        ```
        ```text
        ['port']
        ```
    """
    return list(_stored_values(ctx))


@function
def values(ctx: Context) -> object:
    """The stored values.

    Example:
        ```jinja
        {% do salt['data.update']('port', 8080) %}
        {{ salt['data.values']() }}
        ```
        ```text
        [8080]
        ```
    """
    return fresh(list(_stored_values(ctx).values()))


@function
def cas(ctx: Context, key: str, value: object, old_value: object) -> bool:
    """Replace a value with another; false if the stored value is not the expected one.

    Args:
        key: its key.
        value: the new value.
        old_value: the expected value.

    Example:
        ```jinja
        {% do salt['data.update']('port', 8080) %}
        {{ salt['data.cas']('port', 8081, 8080) }} {{ salt['data.cas']('port', 8082, 8080) }}
        ```
        ```text
        True False
        ```
    """
    kept = _stored_values(ctx)
    if key not in kept or kept[key] != old_value:
        return False
    _keep(ctx, {**kept, key: value})
    return True


@function
def load(ctx: Context) -> object:
    """All stored keys and values; the same as ``data.items``.

    Example:
        ```jinja
        {% do salt['data.update']('port', 8080) %}
        {{ salt['data.load']() }}
        ```
        ```text
        {'port': 8080}
        ```
    """
    return fresh(_stored_values(ctx))


@function
def dump(ctx: Context, new_data: object) -> bool:
    """Replace all stored values; false if the new data is not a mapping.

    Args:
        new_data: the keys and their values.

    Example:
        ```jinja
        {% do salt['data.dump']({'host': 'web1'}) %}
        {{ salt['data.items']() }}
        ```
        ```text
        {'host': 'web1'}
        ```
    """
    if not isinstance(new_data, dict):
        return False
    _keep(ctx, dict(new_data))
    return True
