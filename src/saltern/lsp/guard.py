"""While an editor checks, templates may look but not act.

A template can call any function. What ``saltern check`` is asked to do once, an editor would do with every
key that is pressed, in a tree that was perhaps only opened to be read. So programs, connections and writes
are refused here, unless the user says that the tree is trusted.
"""

from __future__ import annotations

import os
import sys

from saltern.system.effects import ACTS, WRITES

REFUSED = "refused in the editor"


class Refused(PermissionError):
    """Something was about to act."""


def refuse() -> None:
    """From now on and for good, in this process.

    No directory is left out, not even the cache: what is kept there is run later, when nobody refuses.
    """
    sys.dont_write_bytecode = True
    sys.addaudithook(_hear)


def _hear(event: str, args: tuple[object, ...]) -> None:
    if event not in ACTS and not (event == "open" and _writes(args)):
        return
    path = args[0] if args else ""
    if event == "open" and (isinstance(path, int) or path == os.devnull):
        return  # a number was opened before, and asked for then
    raise Refused(1, f"{REFUSED}: {event} {path!r}")


def _writes(args: tuple[object, ...]) -> bool:
    flags = args[2] if len(args) > 2 else 0
    return isinstance(flags, int) and bool(flags & WRITES)
