"""``nftables``: tables, chains and rules of the kernel's packet filter.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

LAZY: dict[str, str] = {
    "append": "rules",
    "chain_absent": "chains",
    "chain_present": "chains",
    "delete": "rules",
    "flush": "chains",
    "insert": "rules",
    "set_policy": "chains",
    "table_absent": "tables",
    "table_present": "tables",
}
