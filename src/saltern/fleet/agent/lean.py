"""The agent's process, made small: what its libraries import for what it does not use costs megabytes.

Docstrings go (``-OO``), the C library gets one heap, and the client of the bus comes without modules that it
only wants for its version number, for web sockets, and for an interface to streams that we do not use.
"""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from importlib import import_module
from types import ModuleType

from saltern.system import own_program
from saltern.system.garbage import collect_from_now_on
from saltern.system.lean_msgspec import InPlaceOf

HEAPS = "MALLOC_ARENA_MAX"  # of the GNU C library; workers do not inherit it
OPTIMIZED = 2


def restart_lean(words: list[str]) -> None:
    """Become the same program without docstrings, unless that is what runs already."""
    if sys.flags.optimize >= OPTIMIZED or HEAPS in os.environ:
        return
    python, *rest = own_program.command("saltern", words)
    env = own_program.environment(**{HEAPS: "1"})
    try:
        os.execve(python, [python, "-OO", *rest], env)
    except OSError:
        pass  # it is larger, and works as well


class Header(StrEnum):
    """The headers that the client of the bus itself looks at; their names are part of the protocol."""

    STATUS = "Status"
    DESCRIPTION = "Description"
    CONSUMER_STALLED = "Nats-Consumer-Stalled"


def import_lean() -> None:
    """Import the bus without what is only good for other things."""
    metadata = ModuleType("importlib.metadata")
    vars(metadata).update({"version": lambda _name: "0", "PackageNotFoundError": ImportError})
    streams = late_module("nats.js", api=late_module("nats.js.api", Header=Header))
    with InPlaceOf({"importlib.metadata": metadata, "aiohttp": None, "nats.js": streams}):
        import_module("saltern.fleet.bus.client")
    if "nats.js" not in sys.modules:
        vars(sys.modules["nats"])["js"] = streams  # `import nats.js` leaves that to who makes the module


def late_module(name: str, **known: object) -> ModuleType:
    """A module that has these names, and for any other one imports what it is in place of."""
    module = ModuleType(name)

    def find(other: str) -> object:
        real = import_module(name)
        if real is module:  # this one is still in its place
            raise AttributeError(other)
        return getattr(real, other)

    vars(module).update(known, __getattr__=find)
    return module


def settle() -> None:
    """From here on little is made that stays: what was imported is not looked at again."""
    os.environ.pop(HEAPS, None)
    collect_from_now_on()
