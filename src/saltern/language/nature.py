"""What a state function is to the engine, as its module declares it. The engine itself knows no module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from saltern.language.delayed import REFRESHABLE

Repeat = Literal["safe", "once"]

# By habit of Salt's modules, functions of these names take something away. Asked only where nothing can be
# declared: of a Salt-style module that says nothing, of the steps of another engine.
TAKE_AWAY = frozenset({"absent", "removed", "purged", "uninstalled", "delete", "dead", "tidied", "unmounted"})


class Nature(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The words of ``@state(…)``.

    ``repeat``: ``safe`` if it looks before it acts, so that it may be called again after the run broke;
    ``once`` if calling it twice is not the same as calling it once. ``programs_only``: it acts by programs
    that outlive the run (``ctx.host.kept_run``) and in no other way, so that their results stand for its own.
    ``refreshes``: what has to be looked at again before anything is rendered after it. ``reloads``: what it
    installs may be a module. ``installs``: what it installs may be saltern itself. ``removes``: it takes
    something away, even where its changes alone do not say so.
    """

    repeat: Repeat = "safe"
    programs_only: bool = False
    refreshes: tuple[str, ...] = ()
    reloads: bool = False
    installs: bool = False
    removes: bool = False

    def __post_init__(self) -> None:
        if self.repeat not in ("safe", "once"):
            raise ValueError(f"repeat is {self.repeat!r}; it is 'safe' or 'once'")
        if any(one not in REFRESHABLE for one in self.refreshes):
            raise ValueError(f"refreshes is {self.refreshes!r}; it is a tuple of {', '.join(REFRESHABLE)}")


Natures = Callable[[str, str], Nature]  # of a state and its function
UNDECLARED = Nature()


def undeclared(_state: str, _fun: str) -> Nature:
    """The nature of a function of which nothing is declared."""
    return UNDECLARED
