"""``cron``: commands that run at certain times.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

from saltern.language.nature import Nature

NATURE = Nature(runs_commands=True)

LAZY: dict[str, str] = {
    "absent": "jobs",
    "env_absent": "variables",
    "env_present": "variables",
    "file": "whole",
    "present": "jobs",
}
