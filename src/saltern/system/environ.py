"""The environment of this process as a mapping of texts, decoded once while it stays the same.

``dict(os.environ)`` decodes every name and value in Python, and a run needs it twice for each command.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

_seen: dict[object, object] = {}
_decoded: dict[str, str] = {}


def environment() -> dict[str, str]:
    """A copy of ``os.environ``."""
    global _seen, _decoded
    held: Mapping[object, object] | None = getattr(os.environ, "_data", None)
    if held is None:  # another Python implementation, or a test that replaced it
        return dict(os.environ)
    if held != _seen:
        _seen, _decoded = dict(held), dict(os.environ)
    return _decoded.copy()
