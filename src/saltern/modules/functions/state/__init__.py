"""``state``: the files of states, compiled and applied from within.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

LAZY: dict[str, str] = {
    "apply": "applying",
    "check_request": "requests",
    "clear_cache": "switching",
    "clear_request": "requests",
    "disable": "switching",
    "enable": "switching",
    "highstate": "applying",
    "id_exists": "showing",
    "list_disabled": "switching",
    "request": "requests",
    "run_request": "requests",
    "running": "switching",
    "show_highstate": "showing",
    "show_low_sls": "showing",
    "show_lowstate": "showing",
    "show_sls": "showing",
    "show_state_usage": "showing",
    "show_states": "showing",
    "show_top": "showing",
    "single": "applying",
    "sls": "applying",
    "sls_exists": "showing",
    "sls_id": "applying",
    "template": "applying",
    "test": "applying",
}
