"""The system itself: kernel, distribution, processor, memory, init."""

from __future__ import annotations

import os

from saltern.config.settings import Settings
from saltern.facts import probe
from saltern.facts.distributions import distribution, version

# Debian's names of processors.
_DPKG = {
    "x86_64": "amd64",
    "aarch64": "arm64",
    "armv7l": "armhf",
    "armv6l": "armhf",
    "i386": "i386",
    "i486": "i386",
    "i586": "i386",
    "i686": "i386",
    "ppc64le": "ppc64el",
    "loongarch64": "loong64",
}


def kernel(_: Settings) -> dict[str, object]:
    system = os.uname()
    return {
        "kernel": system.sysname,
        "nodename": system.nodename,
        "localhost": system.nodename,
        "host": system.nodename.partition(".")[0],
        "kernelrelease": system.release,
        "kernelversion": system.version,
        "cpuarch": system.machine,
        "ps": "ps -efHww" if system.sysname == "Linux" else "ps auxwww",
    }


def kernel_parameters(_: Settings) -> dict[str, object]:
    return {"kernelparams": boot_parameters(probe.read("/proc/cmdline"))}


def boot_parameters(text: str) -> list[list[str | None]]:
    import shlex

    found: list[list[str | None]] = []
    for word in shlex.split(text):
        parts = word.split("=")
        found.append([parts[0], parts[1].strip('"') if len(parts) == 2 else None])
    return found


def system(_: Settings) -> dict[str, object]:
    """The operating system."""
    uname = os.uname()
    if uname.sysname == "Linux":
        text = probe.read("/etc/os-release") or probe.read("/usr/lib/os-release")
        found = distribution(text, probe.read("/etc/lsb-release"))
    elif uname.sysname == "Darwin":
        release = probe.output_of("sw_vers", "-productVersion").strip()
        full = f"macOS {release}"
        found = {"os": "MacOS", "os_family": "MacOS", "osfullname": full, **version("MacOS", full, release)}
    else:
        release = (probe.output_of("freebsd-version", "-u").strip() or uname.release).split("-")[0]
        full = f"{uname.sysname} {release}"
        found = {"os": uname.sysname, "os_family": uname.sysname, "osfullname": full}
        found |= version(uname.sysname, full, release)
    return {**found, "osarch": _package_architecture(str(found["os_family"]), uname.machine)}


def _package_architecture(family: str, machine: str) -> str:
    if family != "Debian":
        return machine
    native = probe.line("/var/lib/dpkg/arch")  # exists only if foreign architectures were added
    return native or _DPKG.get(machine, machine)


def processor(_: Settings) -> dict[str, object]:
    found = cpu(probe.read("/proc/cpuinfo"))
    return found if found["num_cpus"] else {**found, "num_cpus": os.cpu_count() or 0}


def cpu(cpuinfo: str) -> dict[str, object]:
    """The grains from /proc/cpuinfo, in the formats of different processors."""
    models: dict[str, str] = {}
    flags: list[str] = []
    count = 0
    for line in cpuinfo.splitlines():
        key, colon, value = (part.strip() for part in line.partition(":"))
        if not colon:
            continue
        if key == "processor" or key.startswith("processor "):  # s390 writes `processor 0:`
            count += 1
        elif key in ("vendor_id", "model name", "cpu", "Processor", "Hardware", "Model"):
            models.setdefault(key, value)
        elif key in ("flags", "Features", "features") and not flags:
            flags = value.split()
    known = ("model name", "cpu", "Processor", "vendor_id")
    model = next((models[key] for key in known if key in models), "Unknown")
    return {"num_cpus": count, "cpu_model": model, "cpu_flags": flags}


def memory(_: Settings) -> dict[str, object]:
    text = probe.read("/proc/meminfo")
    if text:
        return meminfo(text)
    return {"mem_total": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20, "swap_total": 0}


def meminfo(text: str) -> dict[str, object]:
    """Memory in MiB, rounded down."""
    values = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    return {
        grain: int(values.get(key, "0").split()[0]) // 1024
        for grain, key in (("mem_total", "MemTotal"), ("swap_total", "SwapTotal"))
    }


def init(_: Settings) -> dict[str, object]:
    if os.uname().sysname == "Darwin":
        return {"init": "launchd"}
    if os.path.isdir("/run/systemd/system"):
        return {"init": "systemd"}
    return {"init": init_system(probe.read("/proc/1/cmdline").split("\0"))}


def init_system(command: list[str]) -> str:
    """The init system, by the command line of process 1."""
    words = [os.path.basename(word) for word in command if word]
    first = words[0] if words else ""
    if "my_init" in words or first in ("runit", "runit-init"):
        return "runit"
    for name in ("supervisord", "dumb-init", "tini"):
        if name in words:
            return name
    return _init_program(command[0]) if first == "init" else "unknown"


def _init_program(path: str) -> str:
    """The init system behind the common name ``init``: BusyBox by its link, OpenRC and others by their
    files.
    """
    real = os.path.basename(os.path.realpath(probe.program(path) or path))
    if real == "systemd":
        return "systemd"
    if real in ("openrc-init", "busybox") or os.path.exists("/run/openrc"):
        return "openrc" if os.path.exists("/run/openrc") else "sysvinit"
    return "upstart" if os.path.exists("/etc/init") and probe.program("initctl") else "sysvinit"


def systemd(_: Settings) -> dict[str, object]:
    first, _line, rest = probe.output_of("systemctl", "--version").partition("\n")
    words = first.split()
    if not first.startswith("systemd ") or len(words) < 2:
        return {}
    return {"systemd": {"version": words[1], "features": rest.partition("\n")[0]}}
