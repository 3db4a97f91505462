"""The options of a reactor."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from saltern.fleet.access.ports import Principal
from saltern.fleet.reactor.rules import Rule

# Reactions act as this principal. Rules of the policy with `who: reactor` restrict what it may do.
REACTOR = Principal(name="reactor", roles=("admin",), via="internal")


class ReactorOptions(Struct, frozen=True, kw_only=True):
    """``rate``: reactions a second; ``depth``: reactions that may trigger each other in sequence; ``family``:
    how many one event may cause in total; ``patience``: seconds after which an event is too old to react to.
    """

    id: str = "controller"
    rules: tuple[Rule, ...] = ()
    file: str = ""
    engine: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    rate: float = 50.0
    depth: int = 8
    family: int = 100
    patience: float = 3600.0
    socket: str = ""
