"""``selinux``: query its mode and policy, and change the local part of the policy.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

_WHERE = {
    "modes": "selinux_fs_path getenforce getconfig setenforce",
    "booleans": "list_sebool getsebool setsebool setsebools",
    "policy_modules": "list_semod getsemod setsemod install_semod remove_semod",
    "contexts": (
        "filetype_id_to_string fcontext_get_policy fcontext_add_policy fcontext_delete_policy "
        "fcontext_policy_is_applied fcontext_apply_policy"
    ),
    "ports": "port_get_policy port_add_policy port_modify_policy port_delete_policy",
}
LAZY: dict[str, str] = {fun: part for part, funs in _WHERE.items() for fun in funs.split()}
