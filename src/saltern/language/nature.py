"""The nature of a state function, as its module declares it. The engine itself knows no module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from saltern.language.delayed import REFRESHABLE

Repeat = Literal["safe", "once"]
NameIs = Literal["", "path", "source"]

# By convention of Salt's modules, functions of these names remove something. Used if nothing is declared:
# for Salt-style modules without a declaration, and for steps of another engine.
TAKE_AWAY = frozenset(
    {
        "absent",
        "dead",
        "delete",
        "purged",
        "removed",
        "retention_schedule",
        "tidied",
        "uninstalled",
        "unmounted",
    }
)


class Nature(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The words of ``@state(…)``.

    ``repeat``: ``safe`` if it looks before it acts, so that it may be called again after the run broke;
    ``once`` if calling it twice is not the same as calling it once. ``programs_only``: it acts by programs
    that outlive the run (``ctx.host.kept_run``) and in no other way, so that their results stand for its own.
    ``refreshes``: what has to be looked at again before anything is rendered after it. ``reloads``: what it
    installs may be a module. ``installs``: what it installs may be saltern itself. ``removes``: it takes
    something away, even where its changes alone do not say so. ``name_is``: its name is an absolute ``path``,
    or the ``source`` of a file. ``from_file``: it writes what ``source`` names. ``acts_always``: it acts at
    every call, unless a condition says when. ``advice``: what to write if a second run changes it again.
    ``runs_commands``: what it is given are commands, with their options; also of a module of functions.
    """

    repeat: Repeat = "safe"
    programs_only: bool = False
    refreshes: tuple[str, ...] = ()
    reloads: bool = False
    installs: bool = False
    removes: bool = False
    name_is: NameIs = ""
    from_file: bool = False
    acts_always: bool = False
    advice: str = ""
    runs_commands: bool = False

    def __post_init__(self) -> None:
        if self.repeat not in ("safe", "once"):
            raise ValueError(f"repeat is {self.repeat!r}; it is 'safe' or 'once'")
        if self.name_is not in ("", "path", "source"):
            raise ValueError(f"name_is is {self.name_is!r}; it is 'path' or 'source'")
        if any(one not in REFRESHABLE for one in self.refreshes):
            raise ValueError(f"refreshes is {self.refreshes!r}; it is a tuple of {', '.join(REFRESHABLE)}")


Natures = Callable[[str, str], Nature]  # of a state and its function
UNDECLARED = Nature()


def no_nature(_state: str, _fun: str) -> Nature:
    """The nature of a function without a declaration."""
    return UNDECLARED
