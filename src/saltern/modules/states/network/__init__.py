"""``network``: interfaces, routes and host names, in the configuration files of the system.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

LAZY: dict[str, str] = {"managed": "interfaces", "routes": "routes", "system": "machine"}
