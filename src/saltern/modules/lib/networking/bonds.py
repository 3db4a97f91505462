"""Options of a bond, by its mode."""

from __future__ import annotations

from collections.abc import Mapping

from saltern.modules.api.refused import Refused
from saltern.modules.lib.networking import checks

MODES = ("balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb")
LINK = {"miimon": "100", "downdelay": "200", "updelay": "0", "use_carrier": "1"}
ARP = {"arp_interval": "250"}
MOST_TARGETS = 16

# Default values.
DEFAULTS: Mapping[str, Mapping[str, str]] = dict.fromkeys(MODES, LINK) | {
    "802.3ad": {**LINK, "lacp_rate": "0", "ad_select": "0"}
}


def _targets(name: str, value: object) -> str:
    found = value.split(",") if isinstance(value, str) else checks.list_of_words(value)
    if not 1 <= len(found) <= MOST_TARGETS:
        raise Refused(f"{name} needs one to {MOST_TARGETS} addresses")
    return ",".join(checks.address4(name, one.strip()) for one in found)


def _lacp_rate(name: str, value: object) -> str:
    rates = {"slow": "0", "fast": "1", "0": "0", "1": "1"}
    return rates[checks.one_of(*rates)(name, value)]


OPTIONS: Mapping[str, checks.Check] = {
    "arp_ip_target": _targets,
    "lacp_rate": _lacp_rate,
    "use_carrier": checks.flag("1", "0"),
    "xmit_hash_policy": checks.one_of("layer2", "layer2+3", "layer3+4", "encap2+3", "encap3+4"),
    "primary": lambda _name, value: checks.interface(str(value)),
    **dict.fromkeys(
        ("miimon", "downdelay", "updelay", "arp_interval", "min_links", "resend_igmp", "num_grat_arp"),
        checks.integer,
    ),
    **dict.fromkeys(
        ("ad_select", "fail_over_mac", "primary_reselect", "arp_validate", "all_slaves_active"), checks.word
    ),
}
NAMES = frozenset({*OPTIONS, "mode", "slaves", "hashing-algorithm"})


def options(given: Mapping[str, object]) -> dict[str, str]:
    """All options of a bond, with ``mode`` as a number. Raises ``Refused`` for impossible values."""
    if "mode" not in given:
        raise Refused(f"a bond needs a mode, one of {', '.join(MODES)}")
    text = str(given["mode"])
    mode = MODES[int(text)] if text in map(str, range(len(MODES))) else checks.one_of(*MODES)("mode", text)
    asked = {name: given[name] for name in OPTIONS if given.get(name) is not None}
    if given.get("hashing-algorithm"):
        asked["xmit_hash_policy"] = given["hashing-algorithm"]
    usual = ARP if "arp_ip_target" in asked else DEFAULTS[mode]
    reported = {name: OPTIONS[name](name, value) for name, value in asked.items()}
    return {"mode": str(MODES.index(mode)), **usual, **reported}
