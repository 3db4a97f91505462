"""``sdb``: values of the stores in the configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.refused import Refused
from saltern.modules.lib import sdb

CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*(-_=+)"


@function
def get(ctx: Context, uri: str, strict: bool = False) -> object:
    """The value at an address ``sdb://PROFILE/KEY``; it is secret, and masked wherever it would be shown.

    Args:
        uri: the address. If the configuration does not have its profile, it is returned unchanged.
        strict: make that an error.

    Example:
        ```console
        $ saltern call sdb.get sdb://os/HOME --show-secrets
        local:
            sdb://os/HOME
        ```
    """
    found = _ask(uri, lambda: sdb.get(uri, _opts(ctx)))
    if strict and found == uri:
        raise Refused(f"{uri}: the configuration has no such profile with a driver")
    return found


@function(name="set")
def set_(ctx: Context, uri: str, value: object) -> object:
    """Store a value at an address; false if the configuration does not have its profile.

    The drivers ``sqlite3``, ``vault`` and ``keyring`` store values; ``env`` sets a variable that is not set
    yet, for this process only.

    Example:
        ```console
        $ saltern call sdb.set sdb://store/password hunter2222
        local:
            False
        ```
    """
    return _ask(uri, lambda: sdb.put(uri, value, _opts(ctx)))


@function
def delete(ctx: Context, uri: str) -> object:
    """Remove the value at an address. Returns true if there was one.

    Example:
        ```console
        $ saltern call sdb.delete sdb://store/password
        local:
            False
        ```
    """
    return _ask(uri, lambda: sdb.delete(uri, _opts(ctx)))


@function
def get_or_set_hash(ctx: Context, uri: str, length: int = 8, chars: str = CHARACTERS) -> object:
    """The value at an address; if there is none, random characters are stored there first.

    Example:
        ```console
        $ saltern call sdb.get_or_set_hash sdb://store/password length=20
        local:
            sdb://store/password
        ```
    """
    if not sdb.is_uri(uri):
        return False
    found = get(ctx, uri)
    if found is not None:
        return found
    from secrets import choice

    made = "".join(choice(chars) for _ in range(length))
    set_(ctx, uri, made)
    return made


def _opts(ctx: Context) -> Mapping[str, Any]:
    """The configuration, and the pillar: a profile may be in either."""
    return {**ctx.run.opts, "pillar": ctx.pillar}


def _ask(uri: str, work: Callable[[], object]) -> object:
    try:
        return work()
    except sdb.SdbError as problem:
        raise Refused(f"{str(uri).partition('?')[0]}: {problem}") from None
