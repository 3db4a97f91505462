"""Names of systems: from a system's own name to Salt's ``os`` and ``os_family``."""

from __future__ import annotations

import re

# The ID in os-release → the grains `os` and `os_family`.
DISTRIBUTIONS: dict[str, tuple[str, str]] = {
    "debian": ("Debian", "Debian"),
    "ubuntu": ("Ubuntu", "Debian"),
    "raspbian": ("Raspbian", "Debian"),
    "linuxmint": ("Mint", "Debian"),
    "pop": ("Pop", "Debian"),
    "kali": ("Kali", "Debian"),
    "parrot": ("Parrot OS", "Debian"),
    "devuan": ("Devuan", "Debian"),
    "elementary": ("elementary OS", "Debian"),
    "neon": ("KDE neon", "Debian"),
    "deepin": ("Deepin", "Debian"),
    "trisquel": ("Trisquel", "Debian"),
    "univention": ("Univention", "Debian"),
    "cumulus-linux": ("Cumulus", "Debian"),
    "mendel": ("Mendel", "Debian"),
    "osmc": ("OSMC", "Debian"),
    "zorin": ("Zorin OS", "Debian"),
    "proxmox": ("Proxmox", "Debian"),
    "rhel": ("RedHat", "RedHat"),
    "fedora": ("Fedora", "RedHat"),
    "rocky": ("Rocky", "RedHat"),
    "almalinux": ("AlmaLinux", "RedHat"),
    "ol": ("OEL", "RedHat"),
    "amzn": ("Amazon", "RedHat"),
    "cloudlinux": ("CloudLinux", "RedHat"),
    "virtuozzo": ("Virtuozzo", "RedHat"),
    "scientific": ("ScientificLinux", "RedHat"),
    "eurolinux": ("EuroLinux", "RedHat"),
    "xenenterprise": ("XenServer", "RedHat"),
    "xcp-ng": ("XCP-ng", "RedHat"),
    "photon": ("VMware Photon OS", "RedHat"),
    "alinux": ("Alinux", "RedHat"),
    "openeuler": ("openEuler", "RedHat"),
    "altlinux": ("ALT", "RedHat"),
    "redos": ("RED OS", "RedHat"),
    "opensuse": ("SUSE", "Suse"),
    "opensuse-leap": ("SUSE", "Suse"),
    "opensuse-tumbleweed": ("SUSE", "Suse"),
    "opensuse-microos": ("SUSE", "Suse"),
    "opensuse-leap-micro": ("SUSE", "Suse"),
    "sles": ("SUSE", "Suse"),
    "sles_sap": ("SUSE", "Suse"),
    "sled": ("SUSE", "Suse"),
    "sle-micro": ("SUSE", "Suse"),
    "sl-micro": ("SUSE", "Suse"),
    "arch": ("Arch", "Arch"),
    "archarm": ("Arch ARM", "Arch"),
    "manjaro": ("Manjaro", "Arch"),
    "manjaro-arm": ("Manjaro ARM", "Arch"),
    "antergos": ("Antergos", "Arch"),
    "endeavouros": ("EndeavourOS", "Arch"),
    "gentoo": ("Gentoo", "Gentoo"),
    "funtoo": ("Funtoo", "Gentoo"),
    "alpine": ("Alpine", "Alpine"),
    "void": ("Void", "Void"),
    "slackware": ("Slackware", "Slackware"),
    "mageia": ("Mageia", "Mandriva"),
    "nixos": ("NixOS", "NixOS"),
    "clear-linux-os": ("Clear Linux OS", "Clear Linux OS"),
    "flatcar": ("Flatcar Container Linux by Kinvolk", "Flatcar Container Linux by Kinvolk"),
    "nilrt": ("NILinuxRT", "NILinuxRT"),
    "poky": ("Poky", "Poky"),
}

# ID_LIKE of derivatives.
_LIKE = {
    "debian": "Debian",
    "ubuntu": "Debian",
    "fedora": "RedHat",
    "rhel": "RedHat",
    "centos": "RedHat",
    "suse": "Suse",
    "opensuse": "Suse",
    "arch": "Arch",
    "archlinux": "Arch",
    "gentoo": "Gentoo",
    "alpine": "Alpine",
}

_LINUX = re.compile(r"\W(?:gnu/)?linux", re.IGNORECASE)
_BRACKETS = re.compile(r"\(([^)]+)\)")

# These have their code name only in VERSION, in brackets.
_IN_BRACKETS = frozenset(("rocky", "almalinux", "rhel"))

# `osfinger` begins with `os` for these and with `osfullname` for the others.
_SHORT_FINGER = frozenset(("Debian", "FreeBSD", "OpenBSD", "NetBSD", "Raspbian", "AlmaLinux"))
# For these, 22.04 and 22.10 differ as much as 8 and 9 do for others.
_WHOLE_FINGER = frozenset(("Ubuntu", "Pop", "NixOS"))


def assignments(text: str) -> dict[str, str]:
    """The ``KEY=value`` lines of os-release or lsb-release."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        key, equals, value = line.strip().partition("=")
        if equals and not key.startswith("#"):
            value = value.strip()
            if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
                value = value[1:-1]
            found[key.strip()] = value.replace("\\", "") if "\\" in value else value
    return found


def distribution(os_release: str, lsb_release: str = "") -> dict[str, object]:
    """The grains of a Linux distribution, from the texts of /etc/os-release and /etc/lsb-release."""
    release = assignments(os_release)
    os, family, fullname = _names(release)
    lsb = _lsb(release, assignments(lsb_release))
    codename = lsb.get("lsb_distrib_codename", "")
    if not codename or release.get("ID") in _IN_BRACKETS:
        codename = _codename_in_brackets(release) or codename
    return {
        "os": os,
        "os_family": family,
        "osfullname": fullname,
        "oscodename": codename,
        **version(os, fullname, lsb.get("lsb_distrib_release", "")),
        **lsb,
    }


def _names(release: dict[str, str]) -> tuple[str, str, str]:
    identity, name = release.get("ID", ""), release.get("NAME", "Linux").strip()
    short = _LINUX.sub("", name).strip() or name
    if identity == "centos":  # Stream is another system with the same ID
        os, family = short, "RedHat"
    elif identity in DISTRIBUTIONS:
        os, family = DISTRIBUTIONS[identity]
    else:
        os = short
        family = next((_LIKE[like] for like in release.get("ID_LIKE", "").split() if like in _LIKE), short)
    return os, family, "Leap" if name == "openSUSE Leap" else name


def _lsb(release: dict[str, str], lsb: dict[str, str]) -> dict[str, str]:
    """``lsb_distrib_*``: from lsb-release, or what it would contain."""
    if lsb.get("DISTRIB_ID"):
        return {f"lsb_{key.lower()}": value for key, value in lsb.items() if key.startswith("DISTRIB_")}
    pretty = release.get("PRETTY_NAME", "")
    in_brackets = release.get("ID") in _IN_BRACKETS - {"rhel"}
    found = {
        "lsb_distrib_id": release.get("NAME", "").strip(),
        "lsb_distrib_codename": release.get(
            "VERSION_CODENAME", _codename_in_brackets(release) if in_brackets else pretty
        ),
    }
    if version := release.get("VERSION_ID") or _mendel(release):
        found["lsb_distrib_release"] = version
    return found


def _mendel(release: dict[str, str]) -> str:
    """The version of Mendel, which is only in its pretty name."""
    words = release.get("PRETTY_NAME", "").split()
    return words[2] if release.get("ID") == "mendel" and len(words) > 2 else ""


def _codename_in_brackets(release: dict[str, str]) -> str:
    found = _BRACKETS.search(release.get("VERSION", ""))
    return found[1] if found else ""


def version(os: str, fullname: str, release: str) -> dict[str, object]:
    """``osrelease`` and the grains derived from it; without a release only ``osrelease`` itself."""
    if not release:
        return {"osrelease": ""}
    info: list[object] = [int(part) if part.isdigit() else part for part in release.split(".")]
    named = os if os in _SHORT_FINGER else fullname
    found: dict[str, object] = {
        "osrelease": release,
        "osrelease_info": info,
        "osfinger": f"{named}-{release if os in _WHOLE_FINGER else info[0]}",
    }
    if isinstance(info[0], int):
        found["osmajorrelease"] = info[0]
    return found
