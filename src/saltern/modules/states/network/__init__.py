"""``network``: interfaces, routes and the names of a machine, in the files of its system.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

LAZY: dict[str, str] = {"managed": "interfaces", "routes": "routes", "system": "machine"}
