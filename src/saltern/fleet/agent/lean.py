"""Keeps the agent's process small: unused imports of its libraries cost megabytes.

Docstrings are dropped (``-OO``), the C library gets one heap, and the client of the bus is loaded without the
modules that it only needs for its version number, for web sockets, and for a stream interface that is unused.
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
    """Replace this process by the same program without docstrings, unless it already runs so."""
    if sys.flags.optimize >= OPTIMIZED or HEAPS in os.environ:
        return
    python, *rest = own_program.command("saltern", words)
    env = own_program.environment(**{HEAPS: "1"})
    try:
        os.execve(python, [python, "-OO", *rest], env)
    except OSError:
        pass  # the process is larger, and works the same


class Header(StrEnum):
    """The headers that the client of the bus itself reads; their names are part of the protocol."""

    STATUS = "Status"
    DESCRIPTION = "Description"
    CONSUMER_STALLED = "Nats-Consumer-Stalled"


def import_lean() -> None:
    """Import the bus without the modules that it does not need."""
    metadata = ModuleType("importlib.metadata")
    vars(metadata).update({"version": lambda _name: "0", "PackageNotFoundError": ImportError})
    streams = late_module("nats.js", api=late_module("nats.js.api", Header=Header))
    with InPlaceOf({"importlib.metadata": metadata, "aiohttp": None, "nats.js": streams}):
        import_module("saltern.fleet.bus.client")
    if "nats.js" not in sys.modules:
        vars(sys.modules["nats"])["js"] = streams  # `import nats.js` does not set it for a module made here


def late_module(name: str, **known: object) -> ModuleType:
    """A module with these names; for any other name it imports the real module."""
    module = ModuleType(name)

    def find(other: str) -> object:
        real = import_module(name)
        if real is module:  # the stand-in is still registered
            raise AttributeError(other)
        return getattr(real, other)

    vars(module).update(known, __getattr__=find)
    return module


def settle() -> None:
    """Freeze imported objects, so that the garbage collector does not scan them again."""
    os.environ.pop(HEAPS, None)
    collect_from_now_on()
