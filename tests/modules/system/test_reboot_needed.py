"""What says that a reboot is due."""

from __future__ import annotations

import pytest

from saltern.modules.lib.boots.reboot_needed import newer_kernel

DEBIAN = ["vmlinuz-6.1.0-9-amd64", "vmlinuz-6.1.0-40-amd64", "initrd.img-6.1.0-40-amd64", "grub"]


@pytest.mark.parametrize(
    ("running", "files", "newest"),
    [
        ("6.1.0-9-amd64", DEBIAN, "6.1.0-40-amd64"),
        ("6.1.0-40-amd64", DEBIAN, None),
        ("6.1.0-9-amd64", ["vmlinuz-6.1.0-9-amd64", "vmlinuz-6.12.0-1-cloud-amd64"], None),
        (
            "5.15.0-91-generic",
            ["vmlinuz-5.15.0-91-generic", "vmlinuz-5.15.0-105-generic", "vmlinuz"],
            "5.15.0-105-generic",
        ),
        (
            "5.14.21-150500.55.7-default",
            ["vmlinuz-5.14.21-150500.55.7-default", "vmlinuz-5.14.21-150500.55.19-default"],
            "5.14.21-150500.55.19-default",
        ),
        (
            "5.14.0-362.8.1.el9_3.x86_64",
            ["vmlinuz-5.14.0-362.8.1.el9_3.x86_64", "vmlinuz-5.14.0-427.13.1.el9_4.x86_64"],
            "5.14.0-427.13.1.el9_4.x86_64",
        ),
        ("6.18.44-fc-v490", DEBIAN, None),
        ("6.1.0-9-amd64", [], None),
    ],
)
def test_a_newer_kernel_of_the_same_flavour_is_found(
    running: str, files: list[str], newest: str | None
) -> None:
    """Names as Debian 12, Ubuntu 22.04, SLES 15 and RHEL 9 have them below /boot."""
    assert newer_kernel(running, files) == newest
