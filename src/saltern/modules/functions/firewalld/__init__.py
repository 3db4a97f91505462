"""``firewalld``: query and change zones and services of the firewall daemon.

With ``permanent`` they use the configuration, which needs no running daemon; otherwise the rules in force.
``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

_WHERE = {
    "zones": (
        "version reload_rules make_permanent default_zone set_default_zone list_zones get_zones new_zone "
        "delete_zone list_all get_icmp_types get_masquerade add_masquerade remove_masquerade"
    ),
    "ports": "add_port remove_port list_ports add_port_fwd remove_port_fwd list_port_fwd",
    "contents": (
        "block_icmp allow_icmp list_icmp_block get_interfaces add_interface remove_interface get_sources "
        "add_source remove_source get_rich_rules add_rich_rule remove_rich_rule list_services add_service "
        "remove_service"
    ),
    "services": (
        "get_services new_service delete_service add_service_port remove_service_port get_service_ports "
        "add_service_protocol remove_service_protocol get_service_protocols"
    ),
}
LAZY: dict[str, str] = {fun: part for part, funs in _WHERE.items() for fun in funs.split()}
