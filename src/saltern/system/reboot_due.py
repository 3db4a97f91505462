"""Finds out whether a reboot is due: flags of packages, kernels, libraries of process 1."""

from __future__ import annotations

import re

FLAGS = ("/run/reboot-required", "/run/reboot-needed")  # Debian and Ubuntu; SUSE
PACKAGES = "/run/reboot-required.pkgs"
KERNEL = re.compile(r"(?:vmlinuz|vmlinux|kernel|Image)-(\d.*)")
LIBRARY = re.compile(r"^(?:\S+\s+){5}(/\S+\.so\S*) \(deleted\)$", re.MULTILINE)


def flag_reasons(flags: list[str], packages: str) -> list[str]:
    """The reasons of the flags that exist, by what has set them."""
    asking = packages.split()
    names = f" (asked for by {', '.join(sorted(set(asking)))})" if asking else ""
    return [f"{flag} is there{names}" for flag in flags]


def kernel_reasons(running: str, newest: str | None) -> list[str]:
    return [f"kernel {newest} is installed, and {running} is running"] if newest else []


def newer_kernel(running: str, files: list[str]) -> str | None:
    """The newest kernel among ``files`` of the same flavour as that which is ``running``, if it is newer.

    A machine whose kernel is not among them gets it from elsewhere, and no reboot would change it.
    """
    found = [match[1] for match in map(KERNEL.fullmatch, files) if match]
    flavour = _flavour(running)
    alike = [one for one in found if _flavour(one) == flavour]
    if running not in found:
        return None
    newest = max(alike, key=_rank)
    return newest if _rank(newest) > _rank(running) else None


def _flavour(release: str) -> str:
    """What follows the numbers, such as ``generic`` or ``amd64``; a release of the system is no flavour."""
    return re.sub(r"^[\d.]+(?:-[\d.]+)?[-.]?|(?<=el|fc)\d+(?:_\d+)?", "", release)


def _rank(release: str) -> list[tuple[bool, int, str]]:
    parts = re.findall(r"\d+|[A-Za-z]+", release)
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]


def library_reasons(maps: str) -> list[str]:
    """What process 1 has mapped and is gone: it cannot be restarted without a reboot, save by itself."""
    gone = sorted({match[1] for match in LIBRARY.finditer(maps)})
    return [f"process 1 uses {', '.join(gone[:3])}, replaced since it started"] if gone else []


def snapshot_reasons(booted: object, following: object) -> list[str]:
    """A machine with transactional updates runs one snapshot, and the next boot takes another."""
    return [f"snapshot {following} waits for a boot"] if booted != following else []
