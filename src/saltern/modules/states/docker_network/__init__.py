"""``docker_network``: networks of a Docker engine. Needs a running engine, and no other program.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

LAZY: dict[str, str] = {"absent": "absent", "present": "present"}
