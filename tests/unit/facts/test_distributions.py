"""The grains of distributions, from the texts of their os-release files.

What is expected was told by Salt 3008 for the same texts.
"""

from __future__ import annotations

import pytest

from saltern.facts.distributions import assignments, distribution, version

DEBIAN_12 = """\
PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"
NAME="Debian GNU/Linux"
VERSION_ID="12"
VERSION="12 (bookworm)"
VERSION_CODENAME=bookworm
ID=debian
"""

UBUNTU_2404 = """\
PRETTY_NAME="Ubuntu 24.04.1 LTS"
NAME="Ubuntu"
VERSION_ID="24.04"
VERSION="24.04.1 LTS (Noble Numbat)"
VERSION_CODENAME=noble
ID=ubuntu
ID_LIKE=debian
UBUNTU_CODENAME=noble
"""

UBUNTU_2404_LSB = """\
DISTRIB_ID=Ubuntu
DISTRIB_RELEASE=24.04
DISTRIB_CODENAME=noble
DISTRIB_DESCRIPTION="Ubuntu 24.04.1 LTS"
"""

ROCKY_9 = """\
NAME="Rocky Linux"
VERSION="9.4 (Blue Onyx)"
ID="rocky"
ID_LIKE="rhel centos fedora"
VERSION_ID="9.4"
PLATFORM_ID="platform:el9"
PRETTY_NAME="Rocky Linux 9.4 (Blue Onyx)"
CPE_NAME="cpe:/o:rocky:rocky:9::baseos"
"""

ALMA_9 = """\
NAME="AlmaLinux"
VERSION="9.4 (Seafoam Ocelot)"
ID="almalinux"
ID_LIKE="rhel centos fedora"
VERSION_ID="9.4"
PLATFORM_ID="platform:el9"
PRETTY_NAME="AlmaLinux 9.4 (Seafoam Ocelot)"
CPE_NAME="cpe:/o:almalinux:almalinux:9::baseos"
"""

CENTOS_STREAM_9 = """\
NAME="CentOS Stream"
VERSION="9"
ID="centos"
ID_LIKE="rhel fedora"
VERSION_ID="9"
PLATFORM_ID="platform:el9"
PRETTY_NAME="CentOS Stream 9"
CPE_NAME="cpe:/o:centos:centos:9"
"""

RHEL_9 = """\
NAME="Red Hat Enterprise Linux"
VERSION="9.4 (Plow)"
ID="rhel"
ID_LIKE="fedora"
VERSION_ID="9.4"
PLATFORM_ID="platform:el9"
PRETTY_NAME="Red Hat Enterprise Linux 9.4 (Plow)"
CPE_NAME="cpe:/o:redhat:enterprise_linux:9::baseos"
"""

ORACLE_9 = """\
NAME="Oracle Linux Server"
VERSION="9.4"
ID="ol"
ID_LIKE="fedora"
VARIANT="Server"
VARIANT_ID="server"
VERSION_ID="9.4"
PLATFORM_ID="platform:el9"
PRETTY_NAME="Oracle Linux Server 9.4"
CPE_NAME="cpe:/o:oracle:linux:9:4:server"
"""

AMAZON_2023 = """\
NAME="Amazon Linux"
VERSION="2023"
ID="amzn"
ID_LIKE="fedora"
VERSION_ID="2023"
PLATFORM_ID="platform:al2023"
PRETTY_NAME="Amazon Linux 2023.5.20240805"
CPE_NAME="cpe:2.3:o:amazon:amazon_linux:2023"
"""

FEDORA_40 = """\
NAME="Fedora Linux"
VERSION="40 (Container Image)"
ID=fedora
VERSION_ID=40
VERSION_CODENAME=""
PLATFORM_ID="platform:f40"
PRETTY_NAME="Fedora Linux 40 (Container Image)"
CPE_NAME="cpe:/o:fedoraproject:fedora:40"
"""

LEAP_156 = """\
NAME="openSUSE Leap"
VERSION="15.6"
ID="opensuse-leap"
ID_LIKE="suse opensuse"
VERSION_ID="15.6"
PRETTY_NAME="openSUSE Leap 15.6"
CPE_NAME="cpe:/o:opensuse:leap:15.6"
"""

TUMBLEWEED = """\
NAME="openSUSE Tumbleweed"
# VERSION="20240901"
ID="opensuse-tumbleweed"
ID_LIKE="opensuse suse"
VERSION_ID="20240901"
PRETTY_NAME="openSUSE Tumbleweed"
CPE_NAME="cpe:2.3:o:opensuse:tumbleweed:20240901:*:*:*:*:*:*:*"
"""

SLES_156 = """\
NAME="SLES"
VERSION="15-SP6"
VERSION_ID="15.6"
PRETTY_NAME="SUSE Linux Enterprise Server 15 SP6"
ID="sles"
ID_LIKE="suse"
CPE_NAME="cpe:/o:suse:sles:15:sp6"
"""

ARCH = """\
NAME="Arch Linux"
PRETTY_NAME="Arch Linux"
ID=arch
BUILD_ID=rolling
"""

ALPINE_320 = """\
NAME="Alpine Linux"
ID=alpine
VERSION_ID=3.20.2
PRETTY_NAME="Alpine Linux v3.20"
"""

GENTOO = """\
NAME=Gentoo
ID=gentoo
PRETTY_NAME="Gentoo Linux"
VERSION_ID="2.15"
"""

MINT_22 = """\
NAME="Linux Mint"
VERSION="22 (Wilma)"
ID=linuxmint
ID_LIKE="ubuntu debian"
PRETTY_NAME="Linux Mint 22"
VERSION_ID="22"
VERSION_CODENAME=wilma
UBUNTU_CODENAME=noble
"""

RASPBIAN_12 = """\
PRETTY_NAME="Raspbian GNU/Linux 12 (bookworm)"
NAME="Raspbian GNU/Linux"
VERSION_ID="12"
VERSION="12 (bookworm)"
VERSION_CODENAME=bookworm
ID=raspbian
ID_LIKE=debian
"""

KALI = """\
PRETTY_NAME="Kali GNU/Linux Rolling"
NAME="Kali GNU/Linux"
VERSION_ID="2024.2"
VERSION="2024.2"
VERSION_CODENAME=kali-rolling
ID=kali
ID_LIKE=debian
"""

MANJARO = """\
NAME="Manjaro Linux"
PRETTY_NAME="Manjaro Linux"
ID=manjaro
ID_LIKE=arch
BUILD_ID=rolling
"""

POP_2204 = """\
NAME="Pop!_OS"
VERSION="22.04 LTS"
ID=pop
ID_LIKE="ubuntu debian"
PRETTY_NAME="Pop!_OS 22.04 LTS"
VERSION_ID="22.04"
VERSION_CODENAME=jammy
"""

VOID = """\
NAME="Void"
ID="void"
PRETTY_NAME="Void Linux"
"""


# os-release, then: os, os_family, osfullname, osrelease, osmajorrelease, oscodename, osfinger
KNOWN = [
    (DEBIAN_12, "Debian", "Debian", "Debian GNU/Linux", "12", 12, "bookworm", "Debian-12"),
    (UBUNTU_2404, "Ubuntu", "Debian", "Ubuntu", "24.04", 24, "noble", "Ubuntu-24.04"),
    (ROCKY_9, "Rocky", "RedHat", "Rocky Linux", "9.4", 9, "Blue Onyx", "Rocky Linux-9"),
    (ALMA_9, "AlmaLinux", "RedHat", "AlmaLinux", "9.4", 9, "Seafoam Ocelot", "AlmaLinux-9"),
    (
        CENTOS_STREAM_9,
        "CentOS Stream",
        "RedHat",
        "CentOS Stream",
        "9",
        9,
        "CentOS Stream 9",
        "CentOS Stream-9",
    ),
    (RHEL_9, "RedHat", "RedHat", "Red Hat Enterprise Linux", "9.4", 9, "Plow", "Red Hat Enterprise Linux-9"),
    (
        ORACLE_9,
        "OEL",
        "RedHat",
        "Oracle Linux Server",
        "9.4",
        9,
        "Oracle Linux Server 9.4",
        "Oracle Linux Server-9",
    ),
    (
        AMAZON_2023,
        "Amazon",
        "RedHat",
        "Amazon Linux",
        "2023",
        2023,
        "Amazon Linux 2023.5.20240805",
        "Amazon Linux-2023",
    ),
    (FEDORA_40, "Fedora", "RedHat", "Fedora Linux", "40", 40, "Container Image", "Fedora Linux-40"),
    (LEAP_156, "SUSE", "Suse", "Leap", "15.6", 15, "openSUSE Leap 15.6", "Leap-15"),
    (
        TUMBLEWEED,
        "SUSE",
        "Suse",
        "openSUSE Tumbleweed",
        "20240901",
        20240901,
        "openSUSE Tumbleweed",
        "openSUSE Tumbleweed-20240901",
    ),
    (SLES_156, "SUSE", "Suse", "SLES", "15.6", 15, "SUSE Linux Enterprise Server 15 SP6", "SLES-15"),
    (ARCH, "Arch", "Arch", "Arch Linux", "", None, "Arch Linux", None),
    (ALPINE_320, "Alpine", "Alpine", "Alpine Linux", "3.20.2", 3, "Alpine Linux v3.20", "Alpine Linux-3"),
    (GENTOO, "Gentoo", "Gentoo", "Gentoo", "2.15", 2, "Gentoo Linux", "Gentoo-2"),
    (MINT_22, "Mint", "Debian", "Linux Mint", "22", 22, "wilma", "Linux Mint-22"),
    (RASPBIAN_12, "Raspbian", "Debian", "Raspbian GNU/Linux", "12", 12, "bookworm", "Raspbian-12"),
    (KALI, "Kali", "Debian", "Kali GNU/Linux", "2024.2", 2024, "kali-rolling", "Kali GNU/Linux-2024"),
    (MANJARO, "Manjaro", "Arch", "Manjaro Linux", "", None, "Manjaro Linux", None),
    (POP_2204, "Pop", "Debian", "Pop!_OS", "22.04", 22, "jammy", "Pop!_OS-22.04"),
    (VOID, "Void", "Void", "Void", "", None, "Void Linux", None),
]
NAMES = ("os", "os_family", "osfullname", "osrelease", "osmajorrelease", "oscodename", "osfinger")


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: f"{known[1]}-{known[4]}")
def test_a_distribution_has_the_grains_salt_gives_it(known: tuple[object, ...]) -> None:
    grains = distribution(str(known[0]))
    assert tuple(grains.get(name) for name in NAMES) == known[1:]


def test_lsb_release_is_reported_as_it_is() -> None:
    grains = distribution(UBUNTU_2404, UBUNTU_2404_LSB)
    assert grains["lsb_distrib_id"] == "Ubuntu"
    assert grains["lsb_distrib_description"] == "Ubuntu 24.04.1 LTS"
    assert grains["osrelease_info"] == [24, 4]


def test_without_lsb_release_its_grains_follow_from_os_release() -> None:
    grains = distribution(DEBIAN_12)
    assert grains["lsb_distrib_id"] == "Debian GNU/Linux"
    assert grains["lsb_distrib_release"] == "12"
    assert grains["lsb_distrib_codename"] == "bookworm"


def test_a_rolling_release_takes_its_version_from_lsb_release() -> None:
    grains = distribution(ARCH, "DISTRIB_ID=Arch\nDISTRIB_RELEASE=rolling\n")
    assert grains["osrelease"] == "rolling"
    assert grains["osfinger"] == "Arch Linux-rolling"
    assert "osmajorrelease" not in grains


def test_an_unknown_derivative_belongs_to_the_family_it_is_like() -> None:
    grains = distribution('NAME="Frob Linux"\nID=frob\nID_LIKE="frobby rhel fedora"\nVERSION_ID=3\n')
    assert (grains["os"], grains["os_family"]) == ("Frob", "RedHat")


def test_an_unknown_system_is_its_own_family() -> None:
    grains = distribution("NAME=Frob\nID=frob\n")
    assert (grains["os"], grains["os_family"]) == ("Frob", "Frob")


def test_no_os_release_at_all_still_names_the_system() -> None:
    assert distribution("")["os"] == "Linux"


def test_quotes_comments_and_escapes_are_read() -> None:
    text = "# A=1\nB='two words'\nC=\"it\\'s\"\n\nnonsense\nD="
    assert assignments(text) == {"B": "two words", "C": "it's", "D": ""}


def test_a_version_that_is_no_number_has_no_major_release() -> None:
    assert version("Frob", "Frob OS", "next.1") == {
        "osrelease": "next.1",
        "osrelease_info": ["next", 1],
        "osfinger": "Frob OS-next",
    }
