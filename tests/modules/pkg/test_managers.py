"""Managers and versions of them that cannot run here, and how the right one is chosen.

``ScriptedHost`` answers from a table. What stands in it was written after the documentation of yum 3,
dnf 5 and zypper on openSUSE, none of which Debian has; dnf 4, zypper, pacman and apk are tested with what
they really said, in ``test_recorded_managers``, and where they are installed with themselves, in
``test_real_managers``.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.modules.bench import Bench, ScriptedHost

from saltern.modules.lib.packages import choose
from saltern.modules.lib.packages.comps import group_of, groups_of
from saltern.modules.lib.packages.dnf import Dnf, Yum, table
from saltern.modules.lib.packages.model import How, Item, Manager, Offer, Order, PackageError
from saltern.modules.lib.packages.pacman_holds import ignore_packages
from saltern.modules.lib.packages.zypper import pattern
from saltern.modules.states import pkg
from saltern.system.clock import FakeClock
from saltern.system.process import Ran

RPMS = "bash\t5.1.8-9.el9\tx86_64\nglibc\t2.34-1.el9\ti686\nkernel\t5.1-1\tx86_64\nkernel\t5.2-1\tx86_64\n"
RPM = {"rpm --eval": Ran(0, "x86_64\n"), "rpm -qa --qf %{NAME}": Ran(0, RPMS + "gpg-pubkey\t1-2\t(none)\n")}

TABLE = """Last metadata expiration check: 0:00:01 ago on Mon.
Dependencies resolved.
================================================================================
 Package          Architecture   Version              Repository           Size
================================================================================
Installing:
 tree             x86_64         1.8.0-10.el9         baseos               55 k
 a-package-with-a-name-that-is-far-too-long-for-the-table
                  noarch         2:1.0-1.el9          appstream           1.2 M
     replacing  old-name.noarch 1-1
Upgrading:
 bash             x86_64         5.1.8-10.el9         baseos              1.7 M
Removing:
 kernel           x86_64         5.1-1                @baseos              10
Skipping packages with conflicts:
(add '--best --allowerasing' to command line to force their upgrade):
 systemd          x86_64         252-1                baseos              3.9 M

Transaction Summary
================================================================================
Install  2 Packages
"""
TABLE_5 = """Updating and loading repositories:
Repositories loaded.
Package                Arch   Version        Repository      Size
Upgrading:
 bash                  x86_64 5.2.26-4.fc41  updates      8.2 MiB
   replacing bash      x86_64 5.1.8-9.el9    fedora       8.1 MiB
Installing dependencies:
 tree                  x86_64 2.1.0-7.fc41   fedora     113.4 KiB

Transaction Summary:
 Installing:         1 package
 Upgrading:          1 package

Operation aborted by the user.
"""


def test_rpm_lists_what_is_installed_as_salt_does() -> None:
    manager = Dnf(ScriptedHost(RPM), FakeClock())
    assert manager.listing() == {"bash": "5.1.8-9.el9", "glibc.i686": "2.34-1.el9", "kernel": "5.1-1,5.2-1"}
    assert manager.plain_name("bash.x86_64") == "bash"
    assert manager.plain_name("python3.11") == "python3.11"


def test_a_table_is_read_with_rows_that_are_broken_replaced_and_skipped() -> None:
    host = ScriptedHost({**RPM, "dnf --assumeno": Ran(1, TABLE, "Operation aborted.")})
    changes = Dnf(host, FakeClock()).foresee(Order("install", (Item("tree"),), How(fromrepo="baseos")))
    assert changes == {
        "a-package-with-a-name-that-is-far-too-long-for-the-table": {"old": "", "new": "2:1.0-1.el9"},
        "bash": {"old": "5.1.8-9.el9", "new": "5.1.8-10.el9"},
        "kernel": {"old": "5.1-1,5.2-1", "new": "5.2-1"},
        "tree": {"old": "", "new": "1.8.0-10.el9"},
    }
    assert host.asked[0] == "dnf --assumeno --disablerepo=* --enablerepo=baseos install -- tree"
    assert ("remove", "old-name", "noarch", "1-1") in table(TABLE)


def test_the_table_of_dnf_5_is_read() -> None:
    host = ScriptedHost({**RPM, "dnf --assumeno": Ran(1, TABLE_5)})
    assert Dnf(host, FakeClock()).foresee(Order("upgrade")) == {
        "bash": {"old": "5.1.8-9.el9", "new": "5.2.26-4.fc41"},
        "tree": {"old": "", "new": "2.1.0-7.fc41"},
    }


def test_dnf_5_tells_locks_and_groups_in_its_own_way() -> None:
    locks = "# Added by 'versionlock add' command on 2024-01-01\nPackage name: bash\nevr = 5.2.26-3.fc40\n"
    host = ScriptedHost({"dnf -q versionlock list": Ran(0, locks)})
    assert Dnf(host, FakeClock()).holds.held_names() == {"bash"}
    text = (
        "Id                   : web\nName                 : Web Tools\nDescription          : For the web\n"
        "Mandatory packages   : httpd\n                     : mod_ssl\nDefault packages     : nginx\n"
    )
    group = group_of(text)
    assert group is not None
    assert (group.id, group.title, group.description) == ("web", "Web Tools", "For the web")
    assert (group.mandatory, group.default) == (("httpd", "mod_ssl"), ("nginx",))
    listed = "ID          Name            Installed\nweb         Web Tools              no\ncore  Core  yes\n"
    assert groups_of(listed) == {"installed": ["Core"], "available": ["Web Tools"]}


def test_the_table_of_a_pattern_of_zypper_is_read() -> None:
    text = (
        "\nInformation for pattern web:\n----\nName            : web\nRequires        : patterns-web = 1-1\n"
        "Contents        :\n\nS  | Name  | Type    | Dependency\n---+-------+---------+-----------\n"
        "i+ | httpd | package | Required\n   | nginx | package | Recommended\n   | x | pattern | Required\n"
    )
    found = pattern("web", text)
    assert found is not None and (found.mandatory, found.default) == (("httpd",), ("nginx",))
    assert pattern("nope", "pattern 'nope' not found.\n") is None


def test_yum_knows_what_can_be_had_and_groups() -> None:
    offer = {"tree": Offer("1.8.0-10.el9", ("1.8.0-10.el9", "1.8.0-9.el9"))}
    text = "Available Packages\ntree.x86_64    1.8.0-9.el9   base\ntree.x86_64\n    1.8.0-10.el9   updates\n"
    assert Yum(ScriptedHost({**RPM, "yum": Ran(0, text)}), FakeClock()).offers(["tree"]) == offer
    group = group_of("Group: Web\n Group-Id: web\n Mandatory Packages:\n   =httpd\n   +mod_ssl\n")
    assert group is not None and (group.id, group.mandatory) == ("web", ("httpd", "mod_ssl"))


def test_yum_has_a_verb_of_its_own_for_older_versions() -> None:
    host = ScriptedHost({**RPM, "yum": Ran(0)})
    Yum(host, FakeClock()).carry_out(Order("install", (Item("bash", "5.0-1"), Item("tree"))))
    assert [line for line in host.asked if "yum" in line] == [
        "yum -y downgrade -- bash-5.0-1",
        "yum -y install -- tree",
    ]


def test_yum_deletes_locks_by_their_entries() -> None:
    host = ScriptedHost({"yum -q versionlock list": Ran(0, "0:bash-5.1-1.*\n0:vim-8-1.*\n"), "yum": Ran(0)})
    manager = Yum(host, FakeClock())
    assert manager.holds.held_names() == {"bash", "vim"}
    manager.holds.hold(["bash"], on=False)
    assert host.asked[-1] == "yum -q versionlock delete 0:bash-5.1-1.*"


def test_an_architecture_stands_behind_the_version() -> None:
    host = ScriptedHost({**RPM, "dnf": Ran(0)})
    Dnf(host, FakeClock()).carry_out(Order("install", (Item("glibc.i686", "2.35-1"), Item("python3.11"))))
    assert host.asked[-1] == "dnf -y install -- glibc-2.35-1.i686 python3.11"


@pytest.mark.parametrize(
    ("before", "on", "after"),
    [
        ("[options]\nX = 1\n", True, "[options]\nIgnorePkg = aa bb\nX = 1\n"),
        (
            "[options]\n#IgnorePkg =\nIgnorePkg = aa cc\n",
            True,
            "[options]\n#IgnorePkg =\nIgnorePkg = aa cc bb\n",
        ),
        ("[options]\nIgnorePkg = aa cc\nIgnorePkg=bb\n", False, "[options]\nIgnorePkg = cc\n"),
    ],
)
def test_packages_pacman_must_not_touch_are_in_its_configuration(before: str, on: bool, after: str) -> None:
    assert ignore_packages(before, ["aa", "bb"], on=on) == after


# -- the state over a manager that is not apt ------------------------------------------------------


class Shop(ScriptedHost):
    """A dnf that remembers what it installed."""

    def __init__(self) -> None:
        self.there = {"bash": "5.1.8-9.el9"}
        shown = "Installing:\n tree   x86_64   1.8.0-10.el9   baseos   55 k\n\nTransaction Summary\n"
        super().__init__(
            {
                "rpm --eval": Ran(0, "x86_64"),
                "rpm -qa": lambda _: Ran(0, "".join(f"{n}\t{v}\tx86_64\n" for n, v in self.there.items())),
                "rpm -qa --qf [%": Ran(0, ""),
                "dnf -q repoquery": Ran(0, "tree\t1.8.0-10.el9\tx86_64\n"),
                "dnf --assumeno": Ran(1, shown),
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


def test_a_machine_without_a_manager_is_reported() -> None:
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
    assert "tree is mandatory" in bench.refusal("group_installed", "Web", skip=["tree"])
    bench.change("group_installed", "Web", skip=["mod_ssl"])
    host.answers["dnf -q group info"] = Ran(1)
    assert "has no group" in bench.refusal("group_installed", "Nothing")
