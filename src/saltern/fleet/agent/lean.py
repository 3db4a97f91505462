"""The agent's process, made small: what its libraries import for what it does not use costs megabytes.

Docstrings go (``-OO``), the C library gets one heap, and the client of the bus comes without modules that it
only wants for its version number and for web sockets.
"""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module
from types import ModuleType

from saltern.system import own_program
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


def import_lean() -> None:
    """Import the bus without what is only good for other things."""
    metadata = ModuleType("importlib.metadata")
    vars(metadata).update({"version": lambda _name: "0", "PackageNotFoundError": ImportError})
    with InPlaceOf({"importlib.metadata": metadata, "aiohttp": None}):
        import_module("saltern.fleet.bus.client")


def settle() -> None:
    """From here on little is made that stays: what was imported is not looked at again."""
    os.environ.pop(HEAPS, None)
    gc.collect()
    gc.freeze()
    gc.enable()
