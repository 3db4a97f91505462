"""All arguments that describe a container, one row each: their place in the engine's API, and their
reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct

from saltern.language.diagnostics import did_you_mean
from saltern.modules.api.refused import Refused
from saltern.modules.lib.containers import forms, ports, values

CONFIG, HOST = "Config", "HostConfig"


class Option(Struct, frozen=True):
    """``form`` is the form for comparison. An option that is not ``owned`` is compared only if it is given:
    its default depends on the engine."""

    name: str
    part: str
    key: str
    read: Callable[[object], Any]
    form: Callable[[Any], Any] = forms.bare
    owned: bool = True
    needs: str = ""  # the key of the engine's info that must not be false


OPTIONS: dict[str, Option] = {
    row.name: row
    for row in (
        Option("command", CONFIG, "Cmd", values.words),
        Option("domainname", CONFIG, "Domainname", values.text, owned=False),
        Option("entrypoint", CONFIG, "Entrypoint", values.words),
        Option("environment", CONFIG, "Env", values.environment, forms.bag),
        Option("healthcheck", CONFIG, "Healthcheck", values.healthcheck),
        Option("hostname", CONFIG, "Hostname", values.text, owned=False),
        Option("labels", CONFIG, "Labels", values.labels),
        Option("mac_address", CONFIG, "MacAddress", values.text, owned=False),
        Option("network_disabled", CONFIG, "NetworkDisabled", values.flag),
        Option("ports", CONFIG, "ExposedPorts", ports.exposed_ports, forms.names),
        Option("stdin_open", CONFIG, "OpenStdin", values.flag),
        Option("stop_signal", CONFIG, "StopSignal", values.text, forms.signal),
        Option("stop_timeout", CONFIG, "StopTimeout", values.number, owned=False),
        Option("tty", CONFIG, "Tty", values.flag),
        Option("user", CONFIG, "User", values.text),
        Option("volumes", CONFIG, "Volumes", values.volumes, forms.names),
        Option("working_dir", CONFIG, "WorkingDir", values.text),
        Option("auto_remove", HOST, "AutoRemove", values.flag),
        Option("binds", HOST, "Binds", values.binds, forms.binds),
        Option("blkio_weight", HOST, "BlkioWeight", values.number),
        Option(
            "blkio_weight_device",
            HOST,
            "BlkioWeightDevice",
            values.per_device("Weight", values.number),
            forms.records,
        ),
        Option("cap_add", HOST, "CapAdd", values.texts, forms.capabilities),
        Option("cap_drop", HOST, "CapDrop", values.texts, forms.capabilities),
        Option("cgroup_parent", HOST, "CgroupParent", values.text),
        Option("cpu_period", HOST, "CpuPeriod", values.number, needs="CpuCfsPeriod"),
        Option("cpu_quota", HOST, "CpuQuota", values.number, needs="CpuCfsQuota"),
        Option("cpu_shares", HOST, "CpuShares", values.number, needs="CPUShares"),
        Option("cpuset_cpus", HOST, "CpusetCpus", values.text, needs="CPUSet"),
        Option("cpuset_mems", HOST, "CpusetMems", values.text, needs="CPUSet"),
        Option(
            "device_read_bps",
            HOST,
            "BlkioDeviceReadBps",
            values.per_device("Rate", values.size),
            forms.records,
        ),
        Option(
            "device_read_iops",
            HOST,
            "BlkioDeviceReadIOps",
            values.per_device("Rate", values.number),
            forms.records,
        ),
        Option(
            "device_write_bps",
            HOST,
            "BlkioDeviceWriteBps",
            values.per_device("Rate", values.size),
            forms.records,
        ),
        Option(
            "device_write_iops",
            HOST,
            "BlkioDeviceWriteIOps",
            values.per_device("Rate", values.number),
            forms.records,
        ),
        Option("devices", HOST, "Devices", values.devices, forms.records),
        Option("dns", HOST, "Dns", values.addresses),
        Option("dns_opt", HOST, "DnsOptions", values.texts),
        Option("dns_search", HOST, "DnsSearch", values.texts),
        Option("extra_hosts", HOST, "ExtraHosts", values.colon_pairs, forms.bag),
        Option("group_add", HOST, "GroupAdd", values.texts, forms.bag),
        Option("init", HOST, "Init", values.flag, owned=False),
        Option("ipc_mode", HOST, "IpcMode", values.text, owned=False),
        Option("isolation", HOST, "Isolation", values.text, owned=False),
        Option("links", HOST, "Links", values.colon_pairs, forms.links),
        Option("log_config", HOST, "LogConfig", values.mapping, forms.logging, owned=False),
        Option("mem_limit", HOST, "Memory", values.size, needs="MemoryLimit"),
        Option("mem_reservation", HOST, "MemoryReservation", values.size),
        Option("mem_swappiness", HOST, "MemorySwappiness", values.number, owned=False, needs="SwapLimit"),
        Option("memswap_limit", HOST, "MemorySwap", values.size, owned=False, needs="SwapLimit"),
        Option("nano_cpus", HOST, "NanoCpus", values.number),
        Option("network_mode", HOST, "NetworkMode", values.text, forms.network),
        Option("oom_kill_disable", HOST, "OomKillDisable", values.flag, owned=False, needs="OomKillDisable"),
        Option("oom_score_adj", HOST, "OomScoreAdj", values.number),
        Option("pid_mode", HOST, "PidMode", values.text),
        Option("pids_limit", HOST, "PidsLimit", values.number, owned=False, needs="PidsLimit"),
        Option("port_bindings", HOST, "PortBindings", ports.bindings, forms.ports),
        Option("privileged", HOST, "Privileged", values.flag),
        Option("publish_all_ports", HOST, "PublishAllPorts", values.flag),
        Option("read_only", HOST, "ReadonlyRootfs", values.flag),
        Option("restart_policy", HOST, "RestartPolicy", values.restart_policy, forms.restart_policy),
        Option("runtime", HOST, "Runtime", values.text, owned=False),
        Option("security_opt", HOST, "SecurityOpt", values.texts, forms.security),
        Option("shm_size", HOST, "ShmSize", values.size, owned=False),
        Option("storage_opt", HOST, "StorageOpt", values.settings),
        Option("sysctls", HOST, "Sysctls", values.settings),
        Option("tmpfs", HOST, "Tmpfs", values.tmpfs),
        Option("ulimits", HOST, "Ulimits", values.ulimits, forms.records),
        Option("userns_mode", HOST, "UsernsMode", values.text),
        Option("uts_mode", HOST, "UTSMode", values.text),
        Option("volume_driver", HOST, "VolumeDriver", values.text),
        Option("volumes_from", HOST, "VolumesFrom", values.texts),
    )
}

# Names in the ``docker`` program and older Salt.
ALIASES: dict[str, str] = {
    "bind": "binds",
    "cmd": "command",
    "cpu_group": "cpu_quota",
    "cpuset": "cpuset_cpus",
    "dns_option": "dns_opt",
    "env": "environment",
    "expose": "ports",
    "interactive": "stdin_open",
    "ipc": "ipc_mode",
    "label": "labels",
    "memory": "mem_limit",
    "memory_swap": "memswap_limit",
    "publish": "port_bindings",
    "publish_all": "publish_all_ports",
    "restart": "restart_policy",
    "rm": "auto_remove",
    "security_opts": "security_opt",
    "sysctl": "sysctls",
    "ulimit": "ulimits",
    "user_ns_mode": "userns_mode",
    "volume": "volumes",
    "workdir": "working_dir",
}
LOGGING = ("log_driver", "log_opt")
WHOLE = "host_config"  # settings by the engine's names; they count more than other arguments
IGNORED = {  # argument: why it has no effect
    "detach": "a container always runs in the background",
    "lxc_conf": "the engine no longer has an LXC driver",
}
UNCHECKED: dict[str, Callable[[object], Any]] = {
    "dns": values.texts,
    "port_bindings": lambda value: ports.bindings(value, validate=False),
}


class Given(Struct, frozen=True):
    """The options of a container, in the form of the engine's API."""

    options: dict[str, Any]  # by the name of the argument
    warnings: tuple[str, ...] = ()


def read_arguments(
    arguments: Mapping[str, object],
    *,
    skip_translate: object = None,
    ignore_collisions: bool = False,
    validate_ip_addrs: bool = True,
) -> Given:
    """Read the arguments. Raises ``Refused`` with a line for each problem."""
    skipped = _untranslated_names(skip_translate)
    problems: list[str] = []
    found: dict[str, Any] = {}
    known = _resolve_aliases(
        {key: one for key, one in arguments.items() if one is not None}, ignore_collisions
    )
    overlay = known.pop(WHOLE, None)
    for name, value in _with_logging(known).items():
        if name in IGNORED:
            continue
        if name not in OPTIONS:
            problems.append(_unknown(name))
            continue
        read = OPTIONS[name].read if validate_ip_addrs else UNCHECKED.get(name, OPTIONS[name].read)
        try:
            found[name] = value if skipped is None or name in skipped else read(value)
        except Refused as problem:
            problems.append(f"argument {name!r} {problem}")
    found |= _host_options(overlay, problems)
    problems += _conflicts(found)
    if problems:
        raise Refused("\n".join(problems))
    return Given(_expose_published(found), _warnings(known))


def _untranslated_names(value: object) -> set[str] | None:
    """The names of arguments to send unchanged; None means all."""
    if value is None or value is False:
        return set()
    if str(value) == "True":
        return None
    return {ALIASES.get(name, name) for name in values.texts(value)}


def _resolve_aliases(arguments: Mapping[str, object], ignore_collisions: bool) -> dict[str, object]:
    twice = [alias for alias, name in ALIASES.items() if alias in arguments and name in arguments]
    if twice and not ignore_collisions:
        raise Refused(
            "; ".join(
                f"{alias!r} and {ALIASES[alias]!r} are the same argument; give one of them" for alias in twice
            )
        )
    return {ALIASES.get(key, key): value for key, value in arguments.items() if key not in twice}


def _with_logging(arguments: dict[str, object]) -> dict[str, object]:
    """The arguments with ``log_driver`` and ``log_opt`` merged into ``log_config``."""
    rest = {name: value for name, value in arguments.items() if name not in LOGGING}
    if "log_config" in rest or len(rest) == len(arguments):
        return rest
    options = values.settings(arguments.get("log_opt") or {})
    return rest | {"log_config": {"Type": str(arguments.get("log_driver") or ""), "Config": options}}


def _host_options(overlay: object, problems: list[str]) -> dict[str, Any]:
    """The options that ``host_config`` sets, by the engine's names, as the engine takes them."""
    if overlay is None:
        return {}
    try:
        settings = values.mapping(overlay)
    except Refused as problem:
        problems.append(f"argument {WHOLE!r} {problem}")
        return {}
    known = {row.key: row.name for row in OPTIONS.values() if row.part == HOST}
    for key in settings.keys() - known.keys():
        hint = did_you_mean(key, list(known))
        problems.append(f"argument {WHOLE!r} has no setting {key!r}" + (f"; {hint}" if hint else ""))
    return {known[key]: value for key, value in settings.items() if key in known}


def _conflicts(found: Mapping[str, Any]) -> Iterable[str]:
    if found.get("port_bindings") and found.get("publish_all_ports"):
        yield "publish_all_ports publishes every port; leave out port_bindings"
    if found.get("hostname") and found.get("network_mode") == "host":
        yield "network_mode host has the name of the machine; leave out hostname"


def _expose_published(found: dict[str, Any]) -> dict[str, Any]:
    """The options with published ports exposed, too."""
    bound = found.get("port_bindings")
    if not isinstance(bound, dict) or not bound:
        return found
    return found | {"ports": {**(found.get("ports") or {}), **{port: {} for port in bound}}}


def _warnings(known: Mapping[str, object]) -> tuple[str, ...]:
    reported = [
        f"argument {name!r} has no effect: {why}"
        for name, why in IGNORED.items()
        if name in known and not (name == "detach" and known[name])
    ]
    paths = values.texts(known.get("volumes") or [])
    reported += [
        f"volumes names paths in the container; put {path!r} under binds" for path in paths if ":" in path
    ]
    return tuple(reported)


def _unknown(name: str) -> str:
    hint = did_you_mean(name, [*OPTIONS, *ALIASES, WHOLE])
    return f"no argument is called {name!r}" + (f"; {hint}" if hint else "")
