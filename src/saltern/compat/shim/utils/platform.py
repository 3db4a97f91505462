"""``salt.utils.platform``."""

from __future__ import annotations

import os
import sys


def _never() -> bool:
    return False


def is_linux() -> bool:
    return sys.platform.startswith("linux")


def is_windows() -> bool:
    return sys.platform.startswith("win")


def is_darwin() -> bool:
    return sys.platform.startswith("darwin")


def is_freebsd() -> bool:
    return sys.platform.startswith("freebsd")


def is_openbsd() -> bool:
    return sys.platform.startswith("openbsd")


def is_netbsd() -> bool:
    return sys.platform.startswith("netbsd")


def is_sunos() -> bool:
    return sys.platform.startswith("sunos")


def is_aix() -> bool:
    return sys.platform.startswith("aix")


def is_aarch64() -> bool:
    return os.uname().machine.startswith("aarch64")


def is_fedora() -> bool:
    return os.path.exists("/etc/fedora-release")


def is_photonos() -> bool:
    return os.path.exists("/etc/photon-release")


def spawning_platform() -> bool:
    return is_windows() or is_darwin()


is_proxy = is_smartos = is_smartos_globalzone = is_smartos_zone = is_junos = _never
