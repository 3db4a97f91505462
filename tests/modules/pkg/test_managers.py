"""The managers that are not on this machine, against output as they print it.

``ScriptedHost`` answers from a table, written after the output of dnf 4, yum 3, zypper 1.14, apk 2.14
and pacman 6; nothing here has run on such a machine.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.modules.bench import Bench, ScriptedHost

from saltern.modules.packages import choose
from saltern.modules.packages.apk import Apk
from saltern.modules.packages.dnf import Dnf, Yum, group_parts
from saltern.modules.packages.model import How, Item, Manager, Offer, Order, PackageError
from saltern.modules.packages.pacman import Pacman
from saltern.modules.packages.zypper import Zypper
from saltern.modules.states import pkg
from saltern.system.clock import FakeClock
from saltern.system.process import Ran

RPMS = "bash\t5.1.8-9.el9\tx86_64\nglibc\t2.34-1.el9\ti686\nkernel\t5.1-1\tx86_64\nkernel\t5.2-1\tx86_64\n"
RPM = {"rpm --eval": Ran(0, "x86_64\n"), "rpm -qa --qf %{NAME}": Ran(0, RPMS + "gpg-pubkey\t1-2\t(none)\n")}

DNF_TABLE = """Last metadata expiration check: 0:00:01 ago on Mon.
Dependencies resolved.
================================================================================
 Package          Architecture   Version              Repository           Size
================================================================================
Installing:
 tree             x86_64         1.8.0-10.el9         baseos               55 k
 a-package-with-a-name-that-is-far-too-long-for-the-table
                  noarch         2:1.0-1.el9          appstream           1.2 M
Upgrading:
 bash             x86_64         5.1.8-10.el9         baseos              1.7 M
Removing unused dependencies:
 kernel           x86_64         5.1-1                @baseos              10 M

Transaction Summary
================================================================================
Install  2 Packages

Total download size: 3 M
Operation aborted.
"""


def test_rpm_lists_what_is_installed_as_salt_does() -> None:
    manager = Dnf(ScriptedHost(RPM), FakeClock())
    assert manager.listing() == {"bash": "5.1.8-9.el9", "glibc.i686": "2.34-1.el9", "kernel": "5.1-1,5.2-1"}
    assert manager.plain_name("bash.x86_64") == "bash"
    assert manager.plain_name("python3.11") == "python3.11"


def test_dnf_foresees_a_transaction_from_its_table() -> None:
    host = ScriptedHost({**RPM, "dnf --assumeno": Ran(1, DNF_TABLE, "Operation aborted.")})
    changes = Dnf(host, FakeClock()).foresee(Order("install", (Item("tree"),), How(fromrepo="baseos")))
    assert changes == {
        "a-package-with-a-name-that-is-far-too-long-for-the-table": {"old": "", "new": "2:1.0-1.el9"},
        "bash": {"old": "5.1.8-9.el9", "new": "5.1.8-10.el9"},
        "kernel": {"old": "5.1-1,5.2-1", "new": ""},
        "tree": {"old": "", "new": "1.8.0-10.el9"},
    }
    assert host.asked[0] == "dnf --assumeno --disablerepo=* --enablerepo=baseos install -- tree"


def test_dnf_that_refuses_is_told() -> None:
    host = ScriptedHost({"dnf": Ran(1, "", "Error: Unable to find a match: nowhere")})
    with pytest.raises(PackageError, match="Unable to find a match"):
        Dnf(host, FakeClock()).foresee(Order("install", (Item("nowhere"),)))


def test_dnf_and_yum_know_what_can_be_had() -> None:
    rows = "tree\t0:1.8.0-9.el9\tx86_64\ntree\t0:1.8.0-10.el9\tx86_64\n"
    offer = {"tree": Offer("1.8.0-10.el9", ("1.8.0-10.el9", "1.8.0-9.el9"))}
    assert Dnf(ScriptedHost({**RPM, "dnf": Ran(0, rows)}), FakeClock()).offers(["tree"]) == offer
    text = "Available Packages\ntree.x86_64    1.8.0-9.el9   base\ntree.x86_64\n    1.8.0-10.el9   updates\n"
    assert Yum(ScriptedHost({**RPM, "yum": Ran(0, text)}), FakeClock()).offers(["tree"]) == offer


def test_dnf_brings_a_package_down() -> None:
    host = ScriptedHost({**RPM, "dnf": Ran(0)})
    Dnf(host, FakeClock()).carry_out(Order("install", (Item("bash", "5.0-1"),)))
    assert host.asked[-1] == "dnf -y downgrade -- bash-5.0-1"


def test_dnf_reads_locks_and_groups() -> None:
    locks = "Last metadata expiration check: 1\nbash-0:5.1.8-9.el9.*\nkernel-5.1-1.*\n"
    host = ScriptedHost({"dnf -q versionlock list": Ran(0, locks)})
    assert Dnf(host, FakeClock()).held() == {"bash", "kernel"}
    text = "Group: Web\n Mandatory Packages:\n   httpd\n Default Packages:\n   mod_ssl\n   x\n"
    group = group_parts(text + " Optional Packages:\n   nginx\n")
    assert (group.mandatory, group.default, group.optional) == (("httpd",), ("mod_ssl", "x"), ("nginx",))


ZYPPER = """<?xml version='1.0'?><stream>
<install-summary download-size="1"><to-upgrade>
<solvable type="package" name="bash" edition="5.2-1" arch="x86_64" edition-old="5.1.8-9.el9"/>
</to-upgrade><to-install>
<solvable type="package" name="tree" edition="1.8-2" arch="x86_64" summary="a &gt; b"/>
<solvable type="pattern" name="base" edition="1" arch="x86_64"/>
</to-install><to-remove>
<solvable type="package" name="kernel" edition="5.1-1" arch="x86_64"/>
</to-remove></install-summary></stream>
"""


def test_zypper_foresees_a_transaction_from_its_xml() -> None:
    host = ScriptedHost({**RPM, "zypper": Ran(0, ZYPPER)})
    assert Zypper(host, FakeClock()).foresee(Order("install", (Item("tree", "1.8-2"),))) == {
        "bash": {"old": "5.1.8-9.el9", "new": "5.2-1"},
        "kernel": {"old": "5.1-1,5.2-1", "new": ""},
        "tree": {"old": "", "new": "1.8-2"},
    }
    assert host.asked[0].endswith("--dry-run --oldpackage -- tree=1.8-2")


def test_zypper_that_refuses_is_told() -> None:
    text = "<stream><message type=\"error\">No provider of 'x' found.</message></stream>"
    with pytest.raises(PackageError, match="No provider of 'x' found"):
        Zypper(ScriptedHost({"zypper": Ran(104, text)}), FakeClock()).foresee(Order("install", (Item("x"),)))


def test_zypper_knows_versions_and_locks() -> None:
    rows = '<solvable kind="package" name="tree" edition="1.8-2" arch="x86_64"/>'
    host = ScriptedHost({**RPM, "zypper --non-interactive --xmlout search": Ran(0, rows)})
    assert Zypper(host, FakeClock()).offers(["tree"]) == {"tree": Offer("1.8-2", ("1.8-2",))}
    table = "# | Name | Type    | Repository\n--+------+---------+------\n1 | bash | package | (any)\n"
    assert Zypper(ScriptedHost({"zypper": Ran(0, table)}), FakeClock()).held() == {"bash"}


def test_apk_foresees_and_lists() -> None:
    steps = (
        "(1/4) Installing tree (2.1.1-r0)\n(2/4) Upgrading musl (1.2.4-r1 -> 1.2.4-r2)\n"
        "(3/4) Purging old-one (1-r0)\n(4/4) Reinstalling zlib (1.3-r0)\nOK: 8 MiB in 15 packages\n"
    )
    listed = "musl-1.2.4-r1 x86_64 {musl} (MIT) [installed]\npy3-a-b-1.0-r3 noarch {py3} (MIT) [installed]\n"
    policy = "tree policy:\n  2.1.0-r0:\n    https://old\n  2.1.1-r0:\n    https://new\n"
    host = ScriptedHost({"apk add": Ran(0, steps), "apk list": Ran(0, listed), "apk policy": Ran(0, policy)})
    manager = Apk(host, FakeClock())
    assert manager.foresee(Order("install", (Item("tree"),))) == {
        "musl": {"old": "1.2.4-r1", "new": "1.2.4-r2"},
        "old-one": {"old": "1-r0", "new": ""},
        "tree": {"old": "", "new": "2.1.1-r0"},
        "zlib": {"old": "1.3-r0", "new": "1.3-r0"},
    }
    assert host.asked == ["apk add --simulate tree"]
    assert manager.listing() == {"musl": "1.2.4-r1", "py3-a-b": "1.0-r3"}
    assert manager.offers(["tree"]) == {"tree": Offer("2.1.1-r0", ("2.1.1-r0", "2.1.0-r0"))}
    with pytest.raises(PackageError, match="cannot hold"):
        manager.set_hold(["tree"], on=True)


def test_pacman_foresees_and_lists() -> None:
    shown = "Repository      : extra\nName            : tree\nVersion         : 2.1.1-1\n"
    host = ScriptedHost(
        {
            "pacman -Q": Ran(0, "bash 5.1-1\nzlib 1-1\n"),
            "pacman -S": Ran(0, "tree 2.1.1-1\nbash 5.2-1\n"),
            "pacman -Si": Ran(0, shown),
            "vercmp": Ran(0, "-1\n"),
        }
    )
    manager = Pacman(host, FakeClock())
    assert manager.foresee(Order("install", (Item("tree"),))) == {
        "bash": {"old": "5.1-1", "new": "5.2-1"},
        "tree": {"old": "", "new": "2.1.1-1"},
    }
    assert manager.offers(["tree"]) == {"tree": Offer("2.1.1-1", ("2.1.1-1",))}
    assert manager.compare("1-1", "2-1") == -1


# -- the state over a manager that is not apt ------------------------------------------------------


class Shop(ScriptedHost):
    """A dnf that remembers what it installed."""

    def __init__(self) -> None:
        self.there = {"bash": "5.1.8-9.el9"}
        table = DNF_TABLE.partition("Installing:")[0] + (
            "Installing:\n tree   x86_64   1.8.0-10.el9   baseos   55 k\n\nTransaction Summary\n"
        )
        super().__init__(
            {
                "rpm --eval": Ran(0, "x86_64"),
                "rpm -qa": lambda _: Ran(0, "".join(f"{n}\t{v}\tx86_64\n" for n, v in self.there.items())),
                "rpm -qa --qf [%": Ran(0, ""),
                "dnf -q repoquery": Ran(0, "tree\t1.8.0-10.el9\tx86_64\n"),
                "dnf --assumeno": Ran(1, table),
                "dnf -q": Ran(0),
                "dnf -y install": self.install,
            }
        )

    def install(self, argv: list[str]) -> Ran:
        self.there[argv[-1]] = "1.8.0-10.el9"
        return Ran(0)


def test_a_state_works_over_dnf_as_over_apt(tmp_path: Path) -> None:
    host = Shop()
    bench = Bench(tmp_path, pkg, host=host, grains={"os_family": "RedHat"})
    bench.run.context[choose.CHOSEN] = Dnf(host, FakeClock())
    done = bench.change("installed", "tree")
    assert done.changes == {"tree": {"old": "", "new": "1.8.0-10.el9"}}
    assert done.data == {"manager": "dnf", "packages": {"tree": "1.8.0-10.el9"}}


@pytest.mark.parametrize(
    ("family", "present", "chosen"),
    [
        ("Debian", {"apt-get", "dnf"}, "apt"),
        ("RedHat", {"apt-get", "dnf", "yum"}, "dnf"),
        ("RedHat", {"yum"}, "yum"),
        ("Suse", {"zypper"}, "zypper"),
        ("Alpine", {"apk"}, "apk"),
        ("Arch", {"pacman"}, "pacman"),
        ("Unheard Of", {"apk"}, "apk"),
    ],
)
def test_the_manager_of_the_family_is_chosen(family: str, present: set[str], chosen: str) -> None:
    row = choose.choose({"os_family": family}, present.__contains__)
    made: Manager = choose.make(row, ScriptedHost({}), FakeClock())
    assert row.name == made.name == chosen


def test_a_machine_without_a_manager_is_told() -> None:
    with pytest.raises(PackageError, match="no package manager was found"):
        choose.choose({}, lambda _: False)


def test_a_busy_manager_is_waited_for() -> None:
    answers = [Ran(100, "", "E: Could not get lock /var/lib/dpkg/lock"), Ran(0)]
    host, clock = ScriptedHost({"apt-get": lambda _: answers.pop(0)}), FakeClock()
    choose.make(choose.MANAGERS[0], host, clock).refresh()
    assert len(clock.slept) == 1 and not answers


def test_a_group_is_installed_without_what_is_skipped(tmp_path: Path) -> None:
    host = Shop()
    info = "Group: Web\n Mandatory Packages:\n   tree\n Default Packages:\n   bash\n   mod_ssl\n"
    host.answers["dnf -q group info"] = Ran(0, info)
    bench = Bench(tmp_path, pkg, host=host, grains={"os_family": "RedHat"})
    bench.run.context[choose.CHOSEN] = Dnf(host, FakeClock())
    assert "cannot be without tree" in bench.refusal("group_installed", "Web", skip=["tree"])
    bench.change("group_installed", "Web", skip=["mod_ssl"])
    host.answers["dnf -q group info"] = Ran(1)
    assert "knows no group" in bench.refusal("group_installed", "Nothing")
