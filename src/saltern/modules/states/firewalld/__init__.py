"""``firewalld``: zones and services of the firewall daemon.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

LAZY: dict[str, str] = {"bind": "zones", "present": "zones", "service": "services"}
