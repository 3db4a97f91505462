"""``network``: the buffers of a network card, through ``ethtool``."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.programs import PLAIN_WORDS, error_text, has
from saltern.modules.lib.networking import checks

BUFFERS = ("rx", "rx-mini", "rx-jumbo", "tx")


@function
def get_bufsize(ctx: Context, iface: str) -> dict[str, dict[str, str]]:
    """The current and maximum sizes of the buffers of a network card; empty if it does not report them.

    Args:
        iface: the interface.

    Example:
        ```console
        $ saltern call network.get_bufsize eth0
        ```
    """
    if not has("ethtool"):
        return {}
    reported = ctx.host.run(["ethtool", "-g", checks.interface(iface)], env=PLAIN_WORDS).out
    found: dict[str, dict[str, str]] = {}
    at = ""
    for line in reported.splitlines():
        name, _, value = line.partition(":")
        if line.startswith("Pre-set"):
            at = "Pre-set maximums"
        elif line.startswith("Current"):
            at = "Current hardware settings"
        elif at and value.strip():
            found.setdefault(at, {})[name.strip()] = value.strip()
    return found


@function
def mod_bufsize(ctx: Context, /, iface: str, **sizes: object) -> dict[str, object]:
    """Set the sizes of the buffers of a network card.

    Args:
        iface: the interface.
        sizes: ``rx``, ``tx``, ``rx-mini`` and ``rx-jumbo``.

    Example:
        ```console
        $ saltern call network.mod_bufsize eth0 rx=512
        ```
    """
    wanted = {name: checks.integer(name, sizes[name]) for name in BUFFERS if sizes.get(name) is not None}
    if not wanted:
        return {"result": False, "comment": f"needs one of {', '.join(BUFFERS)}"}
    words = [word for pair in wanted.items() for word in pair]
    ran = ctx.host.run(["ethtool", "-G", checks.interface(iface), *words], env=PLAIN_WORDS)
    if ran.code:
        return {"result": False, "comment": error_text(ran) or "ethtool is not installed"}
    return {"result": True, "comment": " ".join(words)}
