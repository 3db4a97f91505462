"""Where builds are kept: two slots, and a link to the one that is in use.

Below one directory: ``slots/a`` and ``slots/b`` are virtual environments, ``current`` is a link to one of
them, ``previous`` a link to what was in use before. ``updating`` and ``rolled-back`` are marks of an
update that is under way: a process that starts after a crash reads them.
"""

from __future__ import annotations

import os
import sys

from msgspec import DecodeError, Struct, json

from saltern.system import atomic

ROOT = "/opt/saltern"
NAMES = ("slots/a", "slots/b")
UPDATING, ROLLED_BACK = "updating", "rolled-back"


class Mark(Struct, kw_only=True):
    jid: str = ""
    why: str = ""


def python_of(root: str, link: str = "current") -> str:
    return os.path.join(root, link, "bin", "python")


def in_use(root: str) -> str:
    """The target of the link as written; empty if there is none."""
    link = os.path.join(root, "current")
    return os.readlink(link) if os.path.islink(link) else ""


def spare(root: str) -> str:
    """The slot that neither the link nor this process uses."""
    taken = {os.path.realpath(os.path.join(root, in_use(root) or NAMES[1])), os.path.realpath(sys.prefix)}
    return next((one for one in NAMES if os.path.realpath(os.path.join(root, one)) not in taken), NAMES[0])


def running_in(root: str, slot: str) -> bool:
    return os.path.realpath(sys.prefix) == os.path.realpath(os.path.join(root, slot))


def point_at(root: str, link: str, target: str) -> None:
    """Point the link to a slot, atomically and durably."""
    atomic.link(os.path.join(root, link), target)


def mark(root: str, name: str, jid: str, why: str = "") -> None:
    atomic.write(os.path.join(root, name), json.encode(Mark(jid=jid, why=why)), mode=0o644)


def read_mark(root: str, name: str) -> Mark | None:
    try:
        with open(os.path.join(root, name), "rb") as file:
            return json.decode(file.read(), type=Mark)
    except (OSError, DecodeError):
        return None


def unmark(root: str) -> None:
    for name in (UPDATING, ROLLED_BACK):
        if os.path.exists(os.path.join(root, name)):
            os.remove(os.path.join(root, name))
