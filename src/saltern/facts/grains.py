"""Grains: facts about this machine, collected only when they are read.

Grains are collected in groups; the first read of a grain collects its group.
Reading all of them (iterating, comparing, copying) collects all groups.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from msgspec import Struct

from saltern.config.settings import Settings
from saltern.facts.lazy_dict import LazyDict

_PLACES = ("/etc/salt/grains", "/etc/saltern/grains")


class Group(Struct, frozen=True):
    """Grains that are collected together, by a function of this package that takes the settings.

    ``look`` names the function, so that its module is imported only when needed.
    """

    look: str
    names: tuple[str, ...]

    def collect(self, settings: Settings) -> dict[str, object]:
        module, _, name = self.look.partition(".")
        package = __import__(f"saltern.facts.{module}", fromlist=[name])
        found: dict[str, object] = getattr(package, name)(settings)
        return found


GROUPS: tuple[Group, ...] = (
    Group("process.identity", ("id", "master")),
    Group(
        "core.kernel",
        ("kernel", "nodename", "localhost", "host", "kernelrelease", "kernelversion", "cpuarch", "ps"),
    ),
    Group(
        "core.system",
        (
            "os",
            "os_family",
            "osfullname",
            "oscodename",
            "osrelease",
            "osrelease_info",
            "osmajorrelease",
            "osfinger",
            "osarch",
            "lsb_distrib_id",
            "lsb_distrib_release",
            "lsb_distrib_codename",
            "lsb_distrib_description",
        ),
    ),
    Group("core.processor", ("num_cpus", "cpu_model", "cpu_flags")),
    Group("core.memory", ("mem_total", "swap_total")),
    Group("core.init", ("init",)),
    Group("core.systemd", ("systemd",)),
    Group("core.kernel_parameters", ("kernelparams",)),
    Group("hardware.virtual", ("virtual", "virtual_subtype")),
    Group(
        "hardware.firmware",
        (
            "biosversion",
            "biosvendor",
            "biosreleasedate",
            "boardname",
            "productname",
            "manufacturer",
            "serialnumber",
            "uuid",
        ),
    ),
    Group("hardware.disks", ("disks", "ssds", "SSDs")),
    Group("hardware.graphics", ("gpus", "num_gpus")),
    Group("hardware.efi", ("efi", "efi-secure-boot")),
    Group("hardware.protection", ("selinux",)),
    Group("hardware.transactional", ("transactional",)),
    Group("hardware.boot_snapshots", ("boot_snapshots",)),
    Group("boots.last", ("booted_at",)),
    Group("boots.due", ("reboot_due", "reboot_reasons")),
    Group("names.full", ("fqdn", "domain")),
    Group("names.full_addresses", ("fqdn_ip4", "fqdn_ip6")),
    Group("names.all_names", ("fqdns",)),
    Group(
        "network.addresses",
        ("ip_interfaces", "ip4_interfaces", "ip6_interfaces", "hwaddr_interfaces", "ipv4", "ipv6"),
    ),
    Group("network.gateways", ("ip4_gw", "ip6_gw", "ip_gw")),
    Group("network.dns", ("dns",)),
    Group("process.user", ("uid", "gid", "pid", "username", "groupname")),
    Group("process.paths", ("path", "systempath", "shell", "cwd")),
    Group(
        "process.python",
        (
            "pythonexecutable",
            "pythonpath",
            "pythonversion",
            "saltversion",
            "saltversioninfo",
            "saltpath",
            "salternversion",
        ),
    ),
    Group("process.server_id", ("server_id",)),
    Group("process.machine_id", ("machine_id",)),
    Group("process.language", ("locale_info",)),
)

# Groups that only read files that every user may read. Others run programs, resolve names or identify the
# machine: in an untrusted tree their grains are empty.
QUIET = frozenset(
    {"process.identity", "core.kernel", "core.system", "core.processor", "core.memory", "core.init"}
)
QUIET_FILES = (
    *("/etc/os-release", "/usr/lib/os-release", "/etc/lsb-release", "/etc/debian_version"),
    *("/proc/cpuinfo", "/proc/meminfo", "/proc/1/cmdline", "/var/lib/dpkg/arch"),
)

# The values of grains whose collection failed; all others are empty text.
_LISTS = frozenset(
    (
        *("cpu_flags", "kernelparams", "disks", "ssds", "SSDs", "gpus", "fqdns", "fqdn_ip4", "fqdn_ip6"),
        *("ipv4", "ipv6", "systempath", "pythonpath", "pythonversion", "saltversioninfo", "osrelease_info"),
        "reboot_reasons",
    )
)
_MAPPINGS = frozenset(
    ("ip_interfaces", "ip4_interfaces", "ip6_interfaces", "hwaddr_interfaces", "dns", "systemd", "selinux")
)


class Grains(LazyDict):
    """All grains. Values that were set override collected ones until ``refresh()``."""

    __slots__ = ("_groups", "_owners", "_settings", "_static")

    def __init__(
        self,
        settings: Settings,
        static: Callable[[], Mapping[str, object]] = dict,
        groups: tuple[Group, ...] = GROUPS,
    ) -> None:
        super().__init__()
        self._settings = settings
        self._static = static
        self._groups = groups
        self._owners: dict[str, Group] = {}
        self.refresh()

    def refresh(self) -> None:
        """Forget everything; read given grains again, and collect the others again when they are read."""
        dict.clear(self)
        self.update(self._static())
        self._owners = {name: group for group in self._groups for name in group.names}
        self.collect("id")  # costs nothing; json would take a dictionary without entries as empty

    def collect(self, name: object) -> None:
        """Collect the group of ``name``, unless that was done."""
        group = self._owners.get(name) if isinstance(name, str) else None
        if group is None:
            return
        for each in group.names:
            self._owners.pop(each, None)
        for key, value in _collect_group(group, self._settings).items():
            dict.setdefault(self, key, value)

    def known_names(self) -> list[str]:
        """The names of all grains, without collecting any."""
        return [*dict.keys(self), *self._owners]

    def full(self) -> Grains:
        """The same object, with all groups collected."""
        for name in list(self._owners):
            self.collect(name)
        return self

    def clear(self) -> None:
        self._owners.clear()
        super().clear()


def _collect_group(group: Group, settings: Settings) -> dict[str, object]:
    """The grains of a group; defaults if collecting fails: no grain is worth a failed run."""
    try:
        return group.collect(settings)
    except Exception as problem:
        import logging

        logging.getLogger(__name__).debug("grains of %s: %r", group.look, problem)
        return {name: _nothing(name) for name in group.names}


def _nothing(name: str) -> object:
    return [] if name in _LISTS else {} if name in _MAPPINGS else ""


def collect(settings: Settings, static: Mapping[str, object] | None = None, *, trust: bool = True) -> Grains:
    """The grains of this machine; without ``trust``, only those of ``QUIET`` groups.

    ``static`` overrides grains files, these override ``grains`` in the configuration, that overrides
    detected grains. Raises ``OperationError`` for a grains file that cannot be read.
    """
    if not trust:
        quiet = tuple(group for group in GROUPS if group.look in QUIET)
        return Grains(
            settings,
            lambda: {**_empty_grains(), **settings.grains, **_from_files(settings, ()), **(static or {})},
            quiet,
        )
    return Grains(settings, lambda: given_grains(settings, static))


def given_grains(settings: Settings, static: Mapping[str, object] | None = None) -> dict[str, object]:
    """The grains that are given, not detected: by the configuration, by files, by the caller."""
    return {**settings.grains, **_from_files(settings), **(static or {})}


def _empty_grains() -> dict[str, object]:
    """Empty grains for names that templates may read, but that are not collected."""
    return {name: _nothing(name) for group in GROUPS if group.look not in QUIET for name in group.names}


def _from_files(settings: Settings, usual: tuple[str, ...] = _PLACES) -> dict[str, object]:
    found: dict[str, object] = {}
    for path in _files(settings, usual):
        from saltern.config.files import mapping

        found |= mapping(path)
    return found


def _files(settings: Settings, usual: tuple[str, ...]) -> list[str]:
    """The named grains file, else those in the default places, the strongest last."""
    if settings.grains_file:  # a state of the first run may write it
        return [settings.grains_file] if os.path.exists(settings.grains_file) else []
    beside = [os.path.join(os.path.dirname(file), "grains") for file in settings.files[:1]]
    return [path for path in dict.fromkeys((*usual, *beside)) if os.path.isfile(path)]
