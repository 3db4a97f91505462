"""How large the fleet of the console's bench is, and the names of what is in it."""

from __future__ import annotations

import hashlib
from typing import Any

from msgspec import Struct

Row = dict[str, Any]
CHAINS = ("os-patch", "db-minor", "certs-renew", "staging", "web-deploy", "kernel", "agent", "audit-host")
WIDE = "wide"  # the chain of the run with many steps
DAY = 86_400.0
AT_ONCE = 2_000  # rows of one insert


class Scale(Struct, frozen=True, kw_only=True):
    """How many of each."""

    systems: int = 10_000
    runs: int = 2_000
    wide: int = 1_000
    steps: int = 50
    jobs: int = 500
    events: int = 20_000
    pending: int = 200


SMALL = Scale(systems=300, runs=60, wide=120, steps=50, jobs=30, events=500, pending=12)


def digest_of(*words: object) -> str:
    return hashlib.sha256("\n".join(map(str, words)).encode()).hexdigest()
