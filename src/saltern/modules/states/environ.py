"""``environ``: the environment of this process, and of all commands of later states."""

from __future__ import annotations

import os
from collections.abc import Mapping

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused


@state
def setenv(
    ctx: Context,
    name: str,
    *,
    value: object,
    false_unsets: bool = False,
    clear_all: bool = False,
    permanent: bool = False,
) -> Result:
    """Set environment variables for the rest of the run.

    Args:
        name: the variable, if ``value`` is a text.
        value: its value, or a mapping of variables to values; false makes a variable empty.
        false_unsets: false removes a variable instead.
        clear_all: empty or remove all variables that are not named.
        permanent: not supported: only for Windows.

    Example:
        ```yaml
        proxy:
          environ.setenv:
            - value:
                http_proxy: http://proxy.example.org:3128
        ```
    """
    if permanent:
        raise Refused("permanent is for Windows; manage /etc/environment with file.keyvalue here")
    named = _wanted_variables(name, value, false_unsets=false_unsets)
    nothing: str | None = None if false_unsets else ""
    wanted = {**(dict.fromkeys(os.environ, nothing) if clear_all else {}), **named}

    def act(changes: Changes) -> None:
        for key, new in changes.items():
            if new is None:
                os.environ.pop(key, None)
            else:
                os.environ[key] = str(new)

    return bring(
        ctx,
        lambda: {key: new for key, new in wanted.items() if os.environ.get(key) != new},
        act,
        facts=lambda: {key: os.environ.get(key) for key in named},
        words=Words(
            "The environment is already as specified",
            "The environment would be changed",
            "The environment was changed",
        ),
    )


def _wanted_variables(name: str, value: object, *, false_unsets: bool) -> dict[str, str | None]:
    """The variables and their values; None for variables to remove."""
    given = value if isinstance(value, Mapping) else {name: value}
    wanted: dict[str, str | None] = {}
    for key, one in given.items():
        if not key or "=" in str(key) or "\0" in str(key):
            raise Refused(f"{key!r} cannot be the name of a variable")
        if isinstance(one, list | dict) or one is None:
            raise Refused(f"the value of {key} needs to be a text, a number or false")
        wanted[str(key)] = (None if false_unsets else "") if one is False else str(one)
    return wanted
