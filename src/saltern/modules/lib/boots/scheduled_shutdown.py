"""A shutdown that another program has scheduled, when this run wants to reboot."""

from __future__ import annotations

from saltern.modules.api.refused import Refused
from saltern.system.reboot import Rebooter

POLICIES = ("auto", "replace", "fail")
FIX = "cancel it with `shutdown -c`, or set pending_shutdown: replace"


def policy(word: str) -> str:
    """The policy. Raises ``Refused`` for an unknown one."""
    if word not in POLICIES:
        raise Refused(f"pending_shutdown must be one of {', '.join(POLICIES)}, not {word!r}")
    return word


def make_way(machine: Rebooter, how: str) -> str:
    """Cancel a scheduled shutdown if the policy allows it, and return a note on it; empty if there was none.

    Raises ``Refused`` if it stays: a machine that is powered off would not come back.
    """
    found = machine.pending_shutdown()
    if found is None:
        return ""
    if how == "fail" or (how == "auto" and not found.comes_back):
        raise Refused(f"{found}, and not by this run: {FIX}")
    if why := machine.cancel():
        raise Refused(f"{found}, and not by this run; it cannot be cancelled: {why}")
    return f"{found}, and was cancelled: this one replaces it"
