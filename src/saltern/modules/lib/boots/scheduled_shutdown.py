"""A shutdown that was scheduled elsewhere, when this run wants to reboot."""

from __future__ import annotations

from saltern.modules.api.refused import Refused
from saltern.system.reboot import Rebooter

POLICIES = ("auto", "replace", "fail")
FIX = "call it off with `shutdown -c`, or let the state do that: pending_shutdown: replace"


def policy(word: str) -> str:
    """Raises ``Refused`` for what is none."""
    if word not in POLICIES:
        raise Refused(f"pending_shutdown is one of {', '.join(POLICIES)}, not {word!r}")
    return word


def make_way(machine: Rebooter, how: str) -> str:
    """What to report of a shutdown that ours replaces; empty: there was none. Raises ``Refused`` if it stays.

    A reboot is what we want, too; a machine that is to be switched off would not come back.
    """
    found = machine.pending()
    if found is None:
        return ""
    if how == "fail" or (how == "auto" and not found.comes_back):
        raise Refused(f"{found}, and not by this run: {FIX}")
    if why := machine.cancel():
        raise Refused(f"{found}, and not by this run; it cannot be cancelled: {why}")
    return f"{found}, and was cancelled: this one replaces it"
