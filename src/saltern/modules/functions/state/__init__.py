"""``state``: compile and apply state files from within a run.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

from saltern.language.nature import Nature

NATURE = Nature(runs_commands=True)

LAZY: dict[str, str] = {
    "apply": "apply",
    "check_request": "requests",
    "clear_cache": "disable",
    "clear_request": "requests",
    "disable": "disable",
    "enable": "disable",
    "high": "apply_data",
    "highstate": "apply",
    "id_exists": "show",
    "list_disabled": "disable",
    "low": "apply_data",
    "request": "requests",
    "run_request": "requests",
    "running": "disable",
    "show_highstate": "show",
    "show_low_sls": "show",
    "show_lowstate": "show",
    "show_sls": "show",
    "show_state_usage": "show",
    "show_states": "show",
    "show_top": "show",
    "single": "apply",
    "sls": "apply",
    "sls_exists": "show",
    "sls_id": "apply",
    "template": "apply",
    "template_str": "apply_data",
    "test": "apply",
    "top": "apply_data",
}
