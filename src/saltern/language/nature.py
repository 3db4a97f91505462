"""The nature of a state function, as its module declares it. The engine itself does not know any module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from saltern.language.delayed import REFRESHABLE

Repeat = Literal["safe", "once"]
NameIs = Literal["", "path", "source"]

# By convention of Salt's modules, functions with these names remove something. Used without a declaration:
# for Salt-style modules that have none, and for steps of another engine.
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

    ``repeat``: ``safe`` if it checks before it acts, so that it may be called again after the run broke;
    ``once`` if two calls differ from one. ``programs_only``: it only acts by programs that outlive the run
    (``ctx.host.kept_run``), so that their results determine its own. ``refreshes``: the data to read again
    before anything is rendered after it. ``reloads``: it may install a module. ``installs``: it may install
    saltern itself. ``removes``: it removes something, even if its changes do not show that. ``name_is``: its
    name is an absolute ``path``, or the ``source`` of a file. ``from_file``: it writes the file that
    ``source`` names. ``acts_always``: it acts at every call, unless a condition prevents that. ``advice``:
    how to write the state if a second run changes it again. ``runs_commands``: its arguments are commands
    with their options; also for a module of functions.
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
            raise ValueError(f"repeat is {self.repeat!r}; it must be 'safe' or 'once'")
        if self.name_is not in ("", "path", "source"):
            raise ValueError(f"name_is is {self.name_is!r}; it must be 'path' or 'source'")
        if any(one not in REFRESHABLE for one in self.refreshes):
            raise ValueError(
                f"refreshes is {self.refreshes!r}; it must be a tuple of {', '.join(REFRESHABLE)}"
            )


Natures = Callable[[str, str], Nature]  # of a state and its function
UNDECLARED = Nature()


def no_nature(_state: str, _fun: str) -> Nature:
    """The nature of a function without a declaration."""
    return UNDECLARED
