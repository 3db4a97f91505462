"""``nftables``: query and change the kernel's packet filter.

Functions that change or check something return ``{"result": …, "comment": …}``, as Salt's do. ``LAZY`` says
which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

_WHERE = {
    "query": (
        "version build_rule list_tables get_rules get_rules_json get_saved_rules "
        "check_table check_chain check get_rule_handle get_policy"
    ),
    "modify": "save new_table delete_table new_chain delete_chain append insert delete flush set_policy",
}
LAZY: dict[str, str] = {fun: part for part, funs in _WHERE.items() for fun in funs.split()}
