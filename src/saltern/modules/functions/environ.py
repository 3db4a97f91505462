"""``environ``: the environment of this process and of its child processes."""

from __future__ import annotations

import os
from collections.abc import Mapping

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.lib.nested_data import each

# ruff: noqa: ARG001 - signatures are Salt's


@function
def get(ctx: Context, key: str, default: str = "") -> object:
    """The value of a variable, or the default.

    Example:
        ```console
        $ saltern call environ.get HOME
        local:
            /root
        ```
    """
    return os.environ.get(key, default) if isinstance(key, str) else False


@function
def has_value(ctx: Context, key: str, value: str | None = None) -> bool:
    """True if a variable exists, with this value if one is given.

    Example:
        ```console
        $ saltern call environ.has_value HOME /root
        local:
            True
        ```
    """
    found = os.environ.get(key)
    return found is not None and (value is None or found == value)


@function
def item(ctx: Context, keys: object, default: str = "") -> dict[str, str]:
    """These variables and their values.

    Example:
        ```console
        $ saltern call environ.item HOME
        local:
            ----------
            HOME:
                /root
        ```
    """
    return {str(key): os.environ.get(str(key), default) for key in each(keys)}


@function
def items(ctx: Context) -> dict[str, str]:
    """All variables.

    Example:
        ```console
        $ saltern call environ.items
        ```
    """
    return dict(os.environ)


@function
def setval(
    ctx: Context, key: str, val: object, false_unsets: bool = False, permanent: bool = False
) -> str | None:
    """Set a variable; false makes it empty, or removes it with ``false_unsets``.

    Example:
        ```jinja
        {{ salt['environ.setval']('http_proxy', 'http://proxy:3128') }}
        ```
        ```text
        http://proxy:3128
        ```
    """
    if permanent:
        raise BadArgument("environ.setval cannot set a variable permanently here; manage /etc/environment")
    if val is False and false_unsets:
        os.environ.pop(key, None)
        return None
    os.environ[key] = "" if val is False else str(val)
    return os.environ[key]


@function
def setenv(
    ctx: Context,
    environ: Mapping[str, object],
    false_unsets: bool = False,
    clear_all: bool = False,
    update_minion: bool = False,
    permanent: bool = False,
) -> dict[str, str | None]:
    """Set several variables. ``clear_all`` makes all others empty, or removes them.

    Example:
        ```jinja
        {{ salt['environ.setenv']({'http_proxy': 'http://proxy:3128'}) }}
        ```
        ```text
        {'http_proxy': 'http://proxy:3128'}
        ```
    """
    if not isinstance(environ, Mapping):
        raise BadArgument("environ.setenv needs a mapping of names to values")
    wanted: dict[str, object] = dict.fromkeys(os.environ, False) if clear_all else {}
    return {
        key: setval(ctx, key, val, false_unsets, permanent) for key, val in (wanted | dict(environ)).items()
    }
