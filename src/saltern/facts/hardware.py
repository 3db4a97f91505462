"""The hardware, real or virtual: firmware, disks, virtual machines, containers."""

from __future__ import annotations

import os

from saltern.config.settings import Settings
from saltern.facts import probe

_DMI = "/sys/class/dmi/id"
_FIRMWARE = {
    "biosversion": "bios_version",
    "biosvendor": "bios_vendor",
    "biosreleasedate": "bios_date",
    "boardname": "board_name",
    "productname": "product_name",
    "manufacturer": "sys_vendor",
    "serialnumber": "product_serial",
    "uuid": "product_uuid",
}

# Text in the firmware's names → `virtual`, `virtual_subtype`; the first match wins.
_FIRMWARES = (
    ("VirtualBox", "VirtualBox", ""),
    ("innotek", "VirtualBox", ""),
    ("VMware", "VMware", ""),
    ("RHEV Hypervisor", "kvm", "rhev"),
    ("oVirt", "kvm", "ovirt"),
    ("Google", "gce", ""),
    ("Amazon EC2", "Nitro", "Amazon EC2"),
    ("HVM domU", "xen", "Xen HVM DomU"),
    ("Xen", "xen", ""),
    ("Nutanix", "kvm", "Nutanix AHV"),
    ("OpenStack", "OpenStack", ""),
    ("BHYVE", "bhyve", ""),
    ("Parallels", "Parallels", ""),
    ("Microsoft Corporation Virtual", "VirtualPC", ""),
    ("QEMU", "kvm", ""),
    ("Bochs", "kvm", ""),
    ("KVM", "kvm", ""),
    ("SeaBIOS", "kvm", ""),
    ("Red Hat", "kvm", ""),
)

# What systemd calls a virtual machine, and what Salt does.
_MACHINES = {
    "kvm": "kvm",
    "qemu": "kvm",
    "bochs": "kvm",
    "amazon": "Nitro",
    "google": "gce",
    "vmware": "VMware",
    "oracle": "VirtualBox",
    "microsoft": "VirtualPC",
    "xen": "xen",
    "parallels": "Parallels",
    "bhyve": "bhyve",
}

# A word in process 1's control groups or environment → `virtual_subtype` of a container.
_CONTAINERS = {
    "lxc": "LXC",
    "docker": "Docker",
    "podman": "Podman",
    "libpod": "libpod",
    "kubepods": "kubernetes",
    "systemd-nspawn": "systemd-nspawn",
}


def firmware(_: Settings) -> dict[str, object]:
    found: dict[str, object] = {}
    for grain, file in _FIRMWARE.items():
        if value := probe.read(f"{_DMI}/{file}").strip():
            found[grain] = value.lower() if grain == "uuid" else value
    return found


def disks(_: Settings) -> dict[str, object]:
    """Block devices that are not built on others; those that do not rotate are SSDs."""
    turning: list[str] = []
    still: list[str] = []
    for name in probe.names("/sys/block"):
        if "/devices/virtual/" in os.path.realpath(f"/sys/block/{name}"):
            continue
        rotates = probe.line(f"/sys/block/{name}/queue/rotational")
        if rotates:
            (turning if rotates == "1" else still).append(name)
    return {"disks": turning, "ssds": still, "SSDs": still}


def graphics(_: Settings) -> dict[str, object]:
    return {"gpus": [], "num_gpus": 0}


def efi(_: Settings) -> dict[str, object]:
    directory = "/sys/firmware/efi/efivars"
    secure = next((name for name in probe.names(directory) if name.startswith("SecureBoot-")), "")
    on = bool(secure) and probe.read(f"{directory}/{secure}").endswith("\x01")
    return {"efi": os.path.exists(directory), "efi-secure-boot": on}


def virtual(_: Settings) -> dict[str, object]:
    if container := _container():
        return {"virtual": "container", "virtual_subtype": container}
    return _machine()


def _container() -> str:
    if os.path.exists("/.dockerenv"):
        return "Docker"
    named = probe.line("/run/systemd/container")
    if os.path.exists("/run/.containerenv"):
        named = named or "podman"
    groups = probe.read("/proc/1/cgroup")
    return in_container(named, groups, probe.read("/proc/1/environ"))


def in_container(named: str, groups: str, environment: str) -> str:
    """The kind of container, from its name, or from the control groups or environment of process 1."""
    if named:
        return _CONTAINERS.get(named, named)
    for word, kind in _CONTAINERS.items():
        if any(f"{before}{word}" in groups for before in (":/", "system.slice/")):
            return kind
    named = next((pair[10:] for pair in environment.split("\0") if pair.startswith("container=")), "")
    return _CONTAINERS.get(named, named)


def _machine() -> dict[str, object]:
    if os.path.exists("/proc/xen/xsd_kva"):
        return {"virtual": "xen", "virtual_subtype": "Xen Dom0"}
    names = (probe.line(f"{_DMI}/{file}") for file in ("sys_vendor", "product_name", "bios_vendor"))
    found = by_firmware(" ".join(names))
    if found:
        return found
    if probe.line("/sys/hypervisor/type") == "xen":
        return {"virtual": "xen", "virtual_subtype": "Xen PV DomU"}
    if " hypervisor" in probe.read("/proc/cpuinfo"):
        return {"virtual": _MACHINES.get(probe.output_of("systemd-detect-virt", "--vm").strip(), "kvm")}
    return {"virtual": "physical"}


def by_firmware(names: str) -> dict[str, object]:
    for text, kind, subtype in _FIRMWARES:
        if text in names:
            return {"virtual": kind, "virtual_subtype": subtype} if subtype else {"virtual": kind}
    return {}


def protection(_: Settings) -> dict[str, object]:
    """``selinux``, on systems that support it."""
    enforce = probe.line("/sys/fs/selinux/enforce")
    if enforce:
        return {"selinux": {"enabled": True, "enforced": "Enforcing" if enforce == "1" else "Permissive"}}
    if probe.program("selinuxenabled"):
        return {"selinux": {"enabled": False, "enforced": "Disabled"}}
    return {}


def transactional(_: Settings) -> dict[str, object]:
    return {"transactional": probe.program("transactional-update") is not None}


def boot_snapshots(_: Settings) -> dict[str, object]:
    """The tool that makes root snapshots on systems that boot into snapshots; otherwise empty."""
    from saltern.system.snapshots import current, snapshots_state

    machine = current()
    booted, _following = snapshots_state(machine)
    return {"boot_snapshots": machine.tool if booted else ""}
