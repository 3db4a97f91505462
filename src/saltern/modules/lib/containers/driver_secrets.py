"""Hide passwords in the options of drivers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

HIDDEN = "(hidden)"
SECRET = re.compile(r"pass|secret|token|credential|key", re.IGNORECASE)
INSIDE = re.compile(r"((?:password|pass|secret|token|credentials)=)[^,\s]*", re.IGNORECASE)


def hide_passwords(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """The options with passwords hidden: ``{o: username=a,password=(hidden)}``."""
    return {
        name: HIDDEN if SECRET.search(name) else _hide_password(value)
        for name, value in (options or {}).items()
    }


def _hide_password(value: Any) -> Any:
    return INSIDE.sub(rf"\1{HIDDEN}", value) if isinstance(value, str) else value
