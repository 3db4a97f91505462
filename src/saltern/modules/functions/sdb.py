"""``sdb``: values out of stores that the configuration names."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.refused import Refused
from saltern.modules.lib import sdb


@function
def get(ctx: Context, uri: str, strict: bool = False) -> object:
    """The value of an address ``sdb://PROFILE/KEY``; it is secret, and masked wherever it would be shown.

    Args:
        uri: the address. One whose profile the configuration does not have is given back as it is.
        strict: make that an error.

    Example:
        ```console
        $ saltern call sdb.get sdb://os/HOME --show-secrets
        local:
            sdb://os/HOME
        ```
    """
    if not sdb.is_uri(uri):
        return uri
    try:
        found = sdb.get(uri, ctx.run.opts)
    except sdb.SdbError as problem:
        raise Refused(f"{uri.partition('?')[0]}: {problem}") from None
    if strict and found == uri:
        raise Refused(f"{uri}: the configuration has no such profile, with a driver")
    return found
