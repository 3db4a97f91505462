"""Where pop finds the plugins."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CLI_CONFIG: dict[str, Any] = {}
CONFIG: dict[str, Any] = {}
DYNE = {"tool": ["tool"], "output": ["output"]}
