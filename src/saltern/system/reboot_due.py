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
    names = f" (requested by {', '.join(sorted(set(asking)))})" if asking else ""
    return [f"{flag} exists{names}" for flag in flags]


def kernel_reasons(running: str, newest: str | None) -> list[str]:
    return [f"kernel {newest} is installed, but {running} is running"] if newest else []


def newer_kernel(running: str, files: list[str]) -> str | None:
    """The newest kernel among ``files`` of the same flavour as the ``running`` one, if it is newer.

    A machine whose kernel is not among them gets it from elsewhere, so a reboot would not change it.
    """
    found = [match[1] for match in map(KERNEL.fullmatch, files) if match]
    flavour = _flavour(running)
    alike = [one for one in found if _flavour(one) == flavour]
    if running not in found:
        return None
    newest = max(alike, key=_rank)
    return newest if _rank(newest) > _rank(running) else None


def _flavour(release: str) -> str:
    """The part after the numbers, such as ``generic`` or ``amd64``; the release of the system is not part of
    it.
    """
    return re.sub(r"^[\d.]+(?:-[\d.]+)?[-.]?|(?<=el|fc)\d+(?:_\d+)?", "", release)


def _rank(release: str) -> list[tuple[bool, int, str]]:
    parts = re.findall(r"\d+|[A-Za-z]+", release)
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]


def library_reasons(maps: str) -> list[str]:
    """The libraries that process 1 has mapped and that were removed: others cannot restart it without a
    reboot.
    """
    gone = sorted({match[1] for match in LIBRARY.finditer(maps)})
    return [f"process 1 uses {', '.join(gone[:3])}, replaced since it started"] if gone else []


def snapshot_reasons(booted: object, following: object) -> list[str]:
    """A reason if the machine runs one snapshot and the next boot would use another, as with transactional
    updates.
    """
    return [f"snapshot {following} waits for a boot"] if booted != following else []
