from __future__ import annotations

from saltern.config.settings import Settings
from saltern.facts import core, hardware, process

X86 = """\
processor\t: 0
vendor_id\t: AuthenticAMD
model name\t: AMD EPYC 7B12
flags\t\t: fpu vme de
processor\t: 1
vendor_id\t: AuthenticAMD
model name\t: AMD EPYC 7B12
flags\t\t: fpu vme de
"""
POWER = "processor\t: 0\ncpu\t\t: POWER9 (architected), altivec supported\n"
S390 = (
    "vendor_id       : IBM/S390\n# processors    : 2\nfeatures\t: esan3 zarch\n"
    "processor 0: version = FF\nprocessor 1: version = FF\n"
)


def test_an_ordinary_processor_is_counted_and_named() -> None:
    assert core.cpu(X86) == {"num_cpus": 2, "cpu_model": "AMD EPYC 7B12", "cpu_flags": ["fpu", "vme", "de"]}


def test_processors_of_other_makers_are_read_too() -> None:
    assert core.cpu(POWER)["cpu_model"] == "POWER9 (architected), altivec supported"
    assert core.cpu(S390) == {"num_cpus": 2, "cpu_model": "IBM/S390", "cpu_flags": ["esan3", "zarch"]}


def test_no_cpuinfo_is_no_processor() -> None:
    assert core.cpu("") == {"num_cpus": 0, "cpu_model": "Unknown", "cpu_flags": []}


def test_memory_is_reported_in_mebibytes() -> None:
    text = "MemTotal:       24684204 kB\nMemFree: 1 kB\nSwapTotal:      2097148 kB\n"
    assert core.meminfo(text) == {"mem_total": 24105, "swap_total": 2047}


def test_boot_parameters_are_pairs_and_a_bare_word_has_no_value() -> None:
    assert core.boot_parameters('root=/dev/vda quiet opts="a b" x=y=z') == [
        ["root", "/dev/vda"],
        ["quiet", None],
        ["opts", "a b"],
        ["x", None],
    ]


def test_process_one_tells_the_init_system() -> None:
    assert core.init_system(["/usr/bin/tini", "--", "/app"]) == "tini"
    assert core.init_system(["/usr/bin/python3", "/usr/bin/supervisord"]) == "supervisord"
    assert core.init_system(["runit"]) == "runit"
    assert core.init_system(["/some/program"]) == "unknown"
    assert core.init_system([""]) == "unknown"


def test_containers_are_reported_by_name_control_group_or_environment() -> None:
    assert hardware.in_container("podman", "", "") == "Podman"
    assert hardware.in_container("", "1:name=systemd:/docker/0123\n", "") == "Docker"
    assert hardware.in_container("", "0::/kubepods/pod1\n", "") == "kubernetes"
    assert hardware.in_container("", "0::/\n", "PATH=/bin\0container=lxc\0") == "LXC"
    assert hardware.in_container("", "0::/init.scope\n", "PATH=/bin\0") == ""


def test_firmware_names_tell_the_hypervisor() -> None:
    assert hardware.by_firmware("QEMU Standard PC (i440FX) SeaBIOS") == {"virtual": "kvm"}
    assert hardware.by_firmware("VMware, Inc. VMware Virtual Platform Phoenix") == {"virtual": "VMware"}
    assert hardware.by_firmware("Amazon EC2 t3.micro Amazon EC2") == {
        "virtual": "Nitro",
        "virtual_subtype": "Amazon EC2",
    }
    assert hardware.by_firmware("Dell Inc. PowerEdge R640 Dell Inc.") == {}


def test_a_locale_is_taken_apart() -> None:
    assert process.locale("de_DE.UTF-8@euro") == ("de_DE", "UTF-8")
    assert process.locale("C.UTF-8") == ("en_US", "UTF-8")
    assert process.locale("C") == ("unknown", "unknown")
    assert process.locale("") == ("unknown", "unknown")


def test_the_server_id_is_the_one_salt_computes() -> None:
    assert process.server_id(Settings(id="vm")) == {"server_id": 2067164805}
