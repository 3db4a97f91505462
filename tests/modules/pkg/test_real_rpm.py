"""What only dnf and zypper do: older versions, several repositories, architectures, signatures, groups.

All with the real programs, in a copy of this machine that is thrown away.
"""

from __future__ import annotations

import re
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests import kit
from tests.modules.pkg.copies import in_a_copy
from tests.modules.pkg.recording import Recorder
from tests.modules.pkg.scenarios import turn
from tests.modules.pkg.shops import ROOT, DnfShop, RpmShop, ZypperShop, run, write

from saltern.modules.functions.pkg import groups, modify, query, repos
from saltern.modules.states import pkgrepo
from saltern.modules.states.pkg.aggregate import merge_chunks
from saltern.modules.states.pkg.downloaded import downloaded
from saltern.modules.states.pkg.groups import group_installed
from saltern.modules.states.pkg.held import held
from saltern.modules.states.pkg.installed import installed, latest
from saltern.modules.states.pkg.removed import removed
from saltern.modules.states.pkg.uptodate import uptodate

BOTH = pytest.mark.parametrize("kind", [DnfShop, ZypperShop], ids=lambda kind: kind.tool)
PROGRAMS = ("dnf", "zypper", "rpmbuild", "createrepo_c")
pytestmark = pytest.mark.timeout(300)

COMPS = """<?xml version="1.0"?>
<comps>
 <group><id>web-tools</id><name>Web Tools</name><description>For the web</description>
  <uservisible>true</uservisible><packagelist>
   <packagereq type="mandatory">aa</packagereq><packagereq type="default">bb</packagereq>
   <packagereq type="optional">cc</packagereq></packagelist></group>
 <environment><id>server</id><name>A Server</name><description/><display_order>1</display_order>
  <grouplist><groupid>web-tools</groupid></grouplist><optionlist/></environment>
</comps>
"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


def serve(place: Path) -> str:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(place)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/"


@BOTH
@in_a_copy(*PROGRAMS)
def test_an_older_version_comes_beside_a_new_package(kind: type[RpmShop]) -> None:
    shop = kind()
    for version in ("1.0", "1:2.0"):
        shop.publish("aa", version)
    shop.publish("bb")
    assert shop.change(installed, "aa").changes == {"aa": turn("", "1:2.0-1")}
    done = shop.change(installed, "x", pkgs=[{"aa": "<2"}, "bb"], ignore_epoch=True)
    assert done.changes == {"aa": turn("1:2.0-1", "1.0-1"), "bb": turn("", "1.0-1")}
    shop.same(installed, "aa", version="1.0")
    assert shop.change(installed, "aa", version="1:2.0-1").changes == {"aa": turn("1.0-1", "1:2.0-1")}


@BOTH
@in_a_copy(*PROGRAMS)
def test_what_takes_the_place_of_another_is_foretold(kind: type[RpmShop]) -> None:
    shop = kind()
    shop.publish("old-one")
    shop.publish("needs-it", requires="old-one")
    shop.change(installed, "needs-it")
    gone = {"needs-it": turn("1.0-1", ""), "old-one": turn("1.0-1", "")}
    shop.publish("zz")
    shop.change(installed, "zz")
    assert shop.change(removed, "old-one").changes == gone
    shop.change(installed, "old-one")
    shop.publish("a-new-one-with-a-name-that-is-much-too-long-for-the-table-of-dnf", obsoletes="old-one < 2")
    done = shop.change(uptodate, "all", refresh=True)
    assert done.changes["old-one"] == turn("1.0-1", "")
    assert len(done.changes) == 2


@BOTH
@in_a_copy(*PROGRAMS)
def test_a_file_is_installed(kind: type[RpmShop]) -> None:
    shop = kind()
    shop.publish("bb")
    path = shop.build("aa", "1.5", requires="bb")
    more = {"skip_verify": True} if shop.tool == "zypper" else {}
    done = shop.change(installed, "x", sources=[{"aa": path}], **more)
    assert done.changes == {"aa": turn("", "1.5-1"), "bb": turn("", "1.0-1")}
    assert "is the package aa, not cc" in shop.refusal(installed, "x", sources=[{"cc": path}])
    if more:
        unsigned = shop.build("cc")
        assert "unsigned" in shop.call(installed, "x", sources=[{"cc": unsigned}]).comment


@in_a_copy(*PROGRAMS)
def test_dnf_takes_packages_from_the_repository_it_is_reported() -> None:
    shop = DnfShop()
    shop.publish("aa", "1.0")
    shop.publish("aa", "2.0", repo="extra")
    shop.publish("bb", repo="extra")
    assert "bb was not found" in shop.refusal(installed, "bb")
    assert "Unknown repo" in shop.refusal(installed, "bb", fromrepo="nowhere")
    shop.change(installed, "bb", enablerepo=["extra-repo"])
    assert shop.change(latest, "aa", refresh=True).changes == {"aa": turn("", "1.0-1")}
    assert shop.ask(query.latest_version, "aa", fromrepo="extra-repo") == "2.0-1"
    assert shop.change(latest, "aa", fromrepo="extra-repo").changes == {"aa": turn("1.0-1", "2.0-1")}


@in_a_copy(*PROGRAMS)
def test_zypper_takes_packages_from_the_repository_it_is_reported() -> None:
    shop = ZypperShop()
    write(
        f"{shop.directory}/extra.repo", f"[extra-repo]\nname=extra\nbaseurl=file://{ROOT}/extra\nenabled=1\n"
    )
    shop.publish("aa", "2.0")
    shop.publish("aa", "1.0", repo="extra")
    told = shop.refusal(installed, "aa", fromrepo="extra-repo")
    assert "could not be updated" in told and "Signature verification failed" in told
    shop.change(pkgrepo.managed, "extra-repo", gpgcheck=False)
    assert shop.change(installed, "aa", fromrepo="extra-repo").changes == {"aa": turn("", "1.0-1")}
    assert "'nowhere' not found" in shop.refusal(installed, "bb", fromrepo="nowhere")
    shop.same(uptodate, "all", fromrepo="extra-repo")
    assert shop.change(uptodate, "all").changes == {"aa": turn("1.0-1", "2.0-1")}


@BOTH
@in_a_copy(*PROGRAMS)
def test_packages_of_another_architecture_have_it_in_their_name(kind: type[RpmShop]) -> None:
    shop = kind()
    for arch in ("i686", "x86_64"):
        shop.publish(f"lib{arch[:1]}", arch=arch)
    done = shop.change(installed, "x", pkgs=[{"libi.i686": "1.0-1"}, "libx.x86_64"])
    assert done.changes == {"libi.i686": turn("", "1.0-1"), "libx": turn("", "1.0-1")}
    assert shop.ask(query.owner, "/usr/share/libi/version") == "libi.i686"
    shop.change(removed, "libi.i686")


@in_a_copy(*PROGRAMS)
def test_of_a_package_in_several_versions_only_the_one_named_goes() -> None:
    shop = DnfShop()
    for version in ("1.0", "2.0"):
        shop.publish("kernel-t", version, provides="installonlypkg(kernel)")
    shop.change(installed, "kernel-t", version="1.0")
    assert shop.change(latest, "kernel-t").changes == {"kernel-t": turn("1.0-1", "1.0-1,2.0-1")}
    assert shop.ask(query.list_pkgs, versions_as_list=True) == {"kernel-t": ["1.0-1", "2.0-1"]}
    assert shop.change(removed, "kernel-t", version="1.0").changes == {
        "kernel-t": turn("1.0-1,2.0-1", "2.0-1")
    }
    shop.change(removed, "kernel-t")


@in_a_copy(*PROGRAMS)
def test_weak_dependencies_are_left_out_and_needless_ones_go() -> None:
    shop = DnfShop()
    shop.publish("aa", recommends="bb", requires="cc")
    shop.publish("bb")
    shop.publish("cc")
    done = shop.change(installed, "aa", install_recommends=False)
    assert done.changes == {"aa": turn("", "1.0-1"), "cc": turn("", "1.0-1")}
    run("rpm", "-e", "aa")
    assert shop.ask(modify.autoremove, list_only=True) == ["cc"]
    assert shop.ask(modify.autoremove) == {"cc": turn("1.0-1", "")}


@BOTH
@in_a_copy(*PROGRAMS)
def test_a_held_package_changes_only_when_it_may(kind: type[RpmShop]) -> None:
    shop = kind()
    shop.prepare_holds()
    shop.publish("aa")
    shop.change(installed, "aa", hold=True)
    shop.publish("aa", "2.0")
    told = shop.refusal(installed, "aa", version="2.0-1", refresh=True)
    assert "held" in told or "No version" in told  # dnf does not even show what is locked out
    assert shop.change(latest, "aa", update_holds=True, refresh=True).changes == {
        "aa": turn("1.0-1", "2.0-1")
    }
    assert shop.ask(query.list_holds) == ["aa"]
    assert "aa" in shop.change(installed, "aa", hold=False).changes


@in_a_copy(*PROGRAMS)
def test_dnf_without_its_plugin_says_so_before_it_does_anything() -> None:
    shop = DnfShop()
    shop.publish("aa")
    assert "python3-dnf-plugin-versionlock" in shop.refusal(installed, "aa", hold=True)
    shop.change(installed, "aa")
    assert "python3-dnf-plugin-versionlock" in shop.refusal(held, "aa")


@BOTH
@in_a_copy(*PROGRAMS)
def test_packages_are_downloaded_and_not_installed(kind: type[RpmShop]) -> None:
    shop = kind()
    for version in ("1.0", "2.0"):
        shop.publish("aa", version)
    shop.publish("bb")
    address = serve(ROOT / "main")
    write(f"{shop.directory}/main.repo", f"[web]\nname=web\nbaseurl={address}\nenabled=1\ngpgcheck=0\n")
    shop.change(installed, "bb")
    done = shop.change(downloaded, "x", pkgs=[{"aa": "1.0"}, "bb"])
    assert done.changes == {"aa": turn("", "1.0-1"), "bb": turn("", "1.0-1")}
    assert shop.versions() == {"bb": "1.0-1"}
    assert "No version of cc" in shop.refusal(downloaded, "cc")


@in_a_copy(*PROGRAMS)
def test_groups_and_environments_of_dnf_are_installed() -> None:
    shop = DnfShop()
    write(ROOT / "comps.xml", COMPS)
    for name in ("aa", "bb", "cc"):
        shop.publish(name)
    assert "has no group 'Nothing'" in shop.refusal(group_installed, "Nothing")
    assert "aa is mandatory" in shop.refusal(group_installed, "Web Tools", skip=["aa"])
    assert shop.ask(groups.group_list) == {
        "installed": [],
        "available": ["Web Tools"],
        "available environments": ["A Server"],
    }
    info = shop.ask(groups.group_info, "web-tools")
    assert isinstance(info, dict)
    assert (info["mandatory"], info["default"], info["optional"]) == (["aa"], ["bb"], ["cc"])
    assert (info["group"], info["type"]) == ("Web Tools", "package group")
    assert shop.change(group_installed, "web-tools", skip=["bb"]).changes == {"aa": turn("", "1.0-1")}
    assert shop.change(group_installed, "A Server", include=["cc"]).changes.keys() == {"bb", "cc"}
    diff = shop.ask(groups.group_diff, "server")
    assert isinstance(diff, dict) and diff["mandatory"] == {"installed": ["aa"], "not installed": []}


PATTERN = """=Ver: 5.0
=Pat: web 1 1 noarch
=Vis: true
=Sum: Web tools
+Prq:
aa
bb
-Prq:
+Prc:
cc
-Prc:
"""


@in_a_copy(*PROGRAMS)
def test_a_pattern_of_zypper_is_installed() -> None:
    """From a repository of the old kind: Debian's libsolv makes no patterns of packages called patterns-*."""
    shop = ZypperShop()
    for name in ("aa", "bb", "cc"):
        shop.publish(name)
    place = ROOT / "yast/suse/setup/descr"
    files = {"packages": "=Ver: 2.0\n", "web-1-1.noarch.pat": PATTERN, "patterns": "web-1-1.noarch.pat\n"}
    sums = [run("sha256sum", write(place / name, text)).split()[0] for name, text in files.items()]
    rows = [f"META SHA256 {checksum}  {name}" for checksum, name in zip(sums, files, strict=True)]
    head = "CONTENTSTYLE 11\nDATADIR suse\nDESCRDIR suse/setup/descr\nNAME x\nVERSION 1\nLABEL x\n"
    write(ROOT / "yast/content", head + "\n".join(rows) + "\n")
    write(ROOT / "yast/media.1/media", "x\n20200101\n1\n")
    shop.change(pkgrepo.managed, "yast", baseurl=f"dir:{ROOT}/yast", type="yast2", gpgcheck=False)
    assert shop.ask(groups.group_list) == {"installed": [], "available": ["web"]}
    assert "has no group 'nothing'" in shop.refusal(group_installed, "nothing")
    done = shop.change(group_installed, "web", skip=["cc"])
    assert done.changes == {"aa": turn("", "1.0-1"), "bb": turn("", "1.0-1")}
    assert shop.ask(groups.group_install, "web") == {"cc": turn("", "1.0-1")}


@BOTH
@in_a_copy(*PROGRAMS)
def test_aggregated_states_are_one_transaction(kind: type[RpmShop]) -> None:
    host = Recorder()
    shop = kind(host)
    for name in ("aa", "bb", "cc"):
        shop.publish(name)
    chunks = [
        kit.chunk(name, state="pkg", fun="installed", name=name, more={}) for name in ("aa", "bb", "cc")
    ]
    one = merge_chunks(chunks[0], chunks, {})
    pkgs = one.args["pkgs"]
    assert shop.call(installed, "aa", pkgs=pkgs).changes.keys() == {"aa", "bb", "cc"}
    told = [
        block for block in host.blocks if re.match(r"\$ (dnf -y|zypper --non-interactive) install", block)
    ]
    assert len(told) == 1
    for name in ("bb", "cc"):
        shop.same(installed, name)


# -- repositories --------------------------------------------------------------------------------


@BOTH
@in_a_copy(*PROGRAMS)
def test_a_repository_is_added_used_and_removed(kind: type[RpmShop]) -> None:
    shop = kind()
    shop.publish("bb", repo="other")
    place = f"file://{ROOT}/other"
    assert "bb was not found" in shop.refusal(installed, "bb")
    done = shop.change(pkgrepo.managed, "other-repo", humanname="The other", baseurl=place, gpgcheck=False)
    assert (done.changes, done.warnings) == ({"repo": "other-repo"}, ())
    assert shop.ask(repos.get_repo, "other-repo") == {
        "name": "The other",
        "enabled": "1",
        "baseurl": f"file://{ROOT}/other",
        "gpgcheck": "0",
        "file": f"{shop.directory}/other-repo.repo",
    }
    shop.change(installed, "bb")
    shop.publish("cc", repo="other")
    turned = shop.change(pkgrepo.managed, "other-repo", enabled=False)
    assert turned.changes == {"enabled": turn("1", "0")}
    assert "cc was not found" in shop.refusal(installed, "cc", refresh=True)
    shop.change(pkgrepo.absent, "other-repo")
    assert "other-repo" not in str(shop.ask(repos.list_repos))


@BOTH
@in_a_copy(*PROGRAMS, "gpg")
def test_a_signed_repository_is_trusted_when_that_is_said(kind: type[RpmShop]) -> None:
    shop = kind()
    shop.publish("bb", repo="other")
    gpg = ["gpg", "--homedir", str(ROOT / "gnupg"), "--batch", "--passphrase", ""]
    (ROOT / "gnupg").mkdir(mode=0o700)
    run(*gpg, "--quick-generate-key", "nobody <n@example.org>", "rsa2048", "sign", "0")
    listed = ROOT / "other/repodata/repomd.xml"
    run(*gpg, "--armor", "--detach-sign", listed)
    key = write(f"{listed}.key", run(*gpg, "--armor", "--export"))
    run("gpgconf", "--homedir", ROOT / "gnupg", "--kill", "all")
    args = {"baseurl": f"file://{ROOT}/other", "gpgkey": f"file://{key}", "repo_gpgcheck": True}
    if shop.tool == "zypper":
        refused = shop.call(pkgrepo.managed, "other-repo", gpgcheck=True, **args)
        assert "could not be updated" in refused.warnings[0]
        shop.call(pkgrepo.absent, "other-repo")
    done = shop.call(pkgrepo.managed, "other-repo", gpgcheck=False, gpgautoimport=True, **args)
    assert (done.changes, done.warnings) == ({"repo": "other-repo"}, ())
    assert shop.ask(query.latest_version, "bb", refresh=False) == "1.0-1"
    assert shop.ask(query.list_pkgs) == {}


@BOTH
@in_a_copy(*PROGRAMS)
def test_a_repository_that_does_not_answer_is_a_warning_without_its_password(kind: type[RpmShop]) -> None:
    shop = kind()
    done = shop.call(pkgrepo.managed, "broken", baseurl="http://me:geheim@127.0.0.1:9/", gpgcheck=False)
    assert done.changes == {"repo": "broken"}
    assert done.data["baseurl"] == "http://me:***@127.0.0.1:9/"
    assert "could not be updated" in done.warnings[0]
    assert "geheim" not in repr(done)
    assert "geheim" not in repr(shop.ask(repos.list_repos))


@in_a_copy(*PROGRAMS)
def test_a_project_of_copr_needs_dnf_its_plugin_and_a_network() -> None:
    args = {"copr": "me/things"}
    assert "is for dnf" in ZypperShop().refusal(pkgrepo.managed, "x", **args)
    run("rm", "-rf", ROOT)
    shop = DnfShop()
    assert "install dnf-plugins-core first" in shop.call(pkgrepo.managed, "x", **args).comment
    assert "owner/project" in shop.refusal(pkgrepo.managed, "x", copr="things")
