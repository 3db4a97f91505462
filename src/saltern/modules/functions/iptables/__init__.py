"""``iptables``: query and change the kernel's packet filter.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

_WHERE = {
    "query": "version build_rule get_rules get_saved_rules get_policy get_saved_policy check check_chain",
    "modify": "set_policy save new_chain delete_chain append insert delete flush",
}
LAZY: dict[str, str] = {fun: part for part, funs in _WHERE.items() for fun in funs.split()}
