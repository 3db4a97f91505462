"""All settings that any system knows. Trees are written for several systems; each ignores the others'
settings.
"""

from __future__ import annotations

from collections.abc import Iterable

from saltern.modules.api.params import unknown_argument
from saltern.modules.api.refused import Refused
from saltern.modules.api.salt_unsupported import UNSUPPORTED
from saltern.modules.lib.networking import bonds, ifcfg_options, ifupdown_options

OTHERS = (
    "hotplug enable_ipv4 enable_ipv6 filename source slaves proto addresses noifupdown onboot bypassfirewall "
    "mode arpcheck network ipaddrs dns gateway test retain_settings advertise channels"
)


def known_names() -> set[str]:
    found = {
        *OTHERS.split(),
        *UNSUPPORTED["network.managed"],
        *bonds.NAMES,
        *ifupdown_options.ETHTOOL,
        *ifupdown_options.BRIDGE,
    }
    for table in (ifcfg_options.BEFORE, ifcfg_options.SIX, ifcfg_options.AFTER):
        found |= {name for name, _ in table.values()}
    plain = {
        *ifupdown_options.ALIASES,
        *ifupdown_options.BY_NAME,
        *ifupdown_options.COMMANDS,
        "proto",
        "addresses",
    }
    plain |= {name.replace("-", "_") for name in plain}
    return found | plain | {f"ipv{version}{name}" for version in (4, 6) for name in plain}


def check(names: Iterable[str]) -> None:
    """Raises ``Refused`` for a setting that no system has."""
    every = known_names()
    if strange := [name for name in names if name not in every]:
        raise Refused("; ".join(unknown_argument(name, every) for name in strange))
