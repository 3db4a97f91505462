"""``selinux``: the policy of Debian for real, in a copy of its store; no SELinux need run in the kernel.

What needs one (its mode, booleans until the next boot, labels) is played, and says so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests import kit
from tests.modules.bench import Bench, ScriptedHost, needs_root
from tests.modules.own_network import OtherHost, namespaces

from saltern.language.result import Outcome
from saltern.modules.api.registry import Registry
from saltern.modules.functions import selinux as selinux_functions
from saltern.modules.lib.selinux import contexts, mode
from saltern.modules.states import selinux
from saltern.system.process import Ran

STORES = ("/etc/selinux", "/var/lib/selinux")
CONFIG = "# a remark about SELINUX=\nSELINUX=permissive\nSELINUXTYPE=default\n"
# What the tests name, and what that needs: the policy is built again at each change, and 10 modules take a
# fourth of the time of Debian's 330.
FEW = frozenset(["aide", "apache", "base", "getty", "ssh", "staff", "sysadm", "unconfined", "xdg", "xserver"])
SHOP = "/srv/saltern-t(/.*)?"
POLICY = "(allow httpd_t self (process (signal)))\n"


def needs_policy(test: Callable[..., None]) -> Callable[..., None]:
    missing = not os.path.isdir("/var/lib/selinux/default/active")
    marked = pytest.mark.skipif(missing, reason="needs selinux-policy-default")(test)
    return needs_root("semanage", "semodule", "setsebool", "unshare", "nsenter", "ip")(marked)


def mounted(place: Path) -> str:
    """The commands that put copies in the place of the stores, for the processes of one namespace."""
    return " && ".join(f"mount --bind {place}{store} {store}" for store in STORES)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copies of the stores with few modules, and the policy that is built of these."""
    place = tmp_path_factory.mktemp("policy")
    for store in STORES:
        shutil.copytree(store, f"{place}{store}", symlinks=True)
    for module in (place / "var/lib/selinux/default/active/modules/100").iterdir():
        if module.name not in FEW:
            shutil.rmtree(module)
    command = ["unshare", "--mount", "sh", "-ec", f"{mounted(place)} && semodule --noreload --build"]
    subprocess.run(command, check=True, capture_output=True)
    return place


@pytest.fixture
def bench(tmp_path: Path, small: Path) -> Iterator[Bench]:
    with namespaces(f"cp -a {small}/. {tmp_path} && {mounted(tmp_path)}") as pid:
        yield Bench(tmp_path, selinux, functions={"selinux": selinux_functions}, host=OtherHost(pid))


@needs_policy
def test_booleans_are_set_for_good(bench: Bench) -> None:
    name = "httpd_can_network_connect"
    done = bench.change("boolean", name, value=True, persist=True)
    assert done.changes == {name: {"old": ["off", "off"], "new": ["on", "on"]}}
    assert done.data[name]["State"] == "on"  # type: ignore[index]
    both = ["aide_mmap_files", {name: "off"}]
    done = bench.change("boolean", "both", value="on", booleans=both, persist=True)
    assert list(done.changes) == ["aide_mmap_files", name]
    bench.same("boolean", "both", booleans={"aide_mmap_files": 1, name: False}, persist=True)


@needs_policy
def test_what_is_no_boolean_is_refused(bench: Bench) -> None:
    assert "is not available" in bench.refusal("boolean", "saltern_t", value=True)
    assert "is not a valid value" in bench.refusal("boolean", "aide_mmap_files", value="maybe")
    assert "is not a valid value" in bench.refusal("boolean", "aide_mmap_files")
    assert "booleans needs a list" in bench.refusal("boolean", "x", booleans="aide_mmap_files")


@needs_policy
def test_a_port_gets_a_type_and_loses_it(bench: Bench) -> None:
    port = {"protocol": "tcp", "port": "8899-8901"}
    done = bench.change("port_policy_present", "tcp/8899-8901", sel_type="http_port_t")
    assert done.changes == {"old": None, "new": {"sel_type": "http_port_t", **port}}
    done = bench.change("port_policy_present", "web", sel_type="ssh_port_t", **port)
    assert done.changes["old"] == {"sel_type": "http_port_t", **port}
    bench.same("port_policy_absent", "tcp/8899-8901", sel_type="http_port_t")
    done = bench.change("port_policy_absent", "tcp/8899-8901")
    assert done.changes == {"old": {"sel_type": "ssh_port_t", **port}, "new": None}


@needs_policy
def test_a_port_of_the_policy_is_changed_but_never_deleted(bench: Bench) -> None:
    bench.same("port_policy_present", "tcp/80", sel_type="http_port_t")
    bench.change("port_policy_present", "tcp/80", sel_type="ssh_port_t")
    bench.change("port_policy_absent", "tcp/80")
    assert bench.same("port_policy_absent", "tcp/80").warnings == (
        "the policy itself gives tcp/80 the type http_port_t, which stays",
    )
    assert "must be a port type" in bench.refusal("port_policy_present", "tcp/9999", sel_type="saltern_t")
    assert "is not a port such as" in bench.refusal("port_policy_present", "ssh", sel_type="ssh_port_t")


@needs_policy
def test_labels_are_settled_and_forgotten(bench: Bench) -> None:
    done = bench.change("fcontext_policy_present", SHOP, sel_type="httpd_sys_content_t", filetype="f")
    new = {"filetype": "regular file", "sel_type": "httpd_sys_content_t"}
    assert done.changes == {"old": {}, "new": {SHOP: new}}
    args = {"sel_type": "tmp_t", "sel_user": "staff_u", "filetype": "f"}
    done = bench.change("fcontext_policy_present", SHOP, **args)
    assert done.changes == {
        "old": {SHOP: {"sel_type": "httpd_sys_content_t", "sel_user": "system_u"}},
        "new": {SHOP: {"sel_type": "tmp_t", "sel_user": "staff_u"}},
    }
    bench.same("fcontext_policy_absent", SHOP, filetype="d")
    bench.same("fcontext_policy_absent", SHOP, filetype="f", sel_type="httpd_sys_content_t")
    done = bench.change("fcontext_policy_absent", SHOP, filetype="f")
    assert done.changes["old"][SHOP]["sel_type"] == "tmp_t"  # type: ignore[index]


@needs_policy
def test_labels_of_the_policy_are_changed_but_never_deleted(bench: Bench) -> None:
    web = "/var/www(/.*)?"
    bench.change("fcontext_policy_present", web, sel_type="tmp_t")
    bench.change("fcontext_policy_absent", web)
    assert "which stays" in bench.same("fcontext_policy_absent", web).warnings[0]
    assert "must be a file" in bench.refusal("fcontext_policy_present", SHOP, sel_type="saltern_t")
    assert "filetype cannot be" in bench.refusal(
        "fcontext_policy_present", SHOP, sel_type="tmp_t", filetype="x"
    )
    assert "not an absolute path" in bench.refusal("fcontext_policy_present", "srv", sel_type="tmp_t")


@needs_policy
@pytest.mark.timeout(300)  # every change of a module builds the whole policy again
def test_a_module_is_installed_disabled_and_removed(bench: Bench, tmp_path: Path) -> None:
    file = tmp_path / "salternt.cil"
    file.write_text(POLICY)
    done = bench.change("module_install", str(file))
    assert done.changes == {"salternt": {"old": None, "new": "installed"}}
    file.write_text(POLICY.replace("signal", "sigchld"))
    done = bench.change("module", "salternt", install=True, source=str(file), module_state="disabled")
    assert done.changes == {
        "salternt": {"old": "installed otherwise", "new": "installed"},
        "state": {"old": "enabled", "new": "disabled"},
    }
    assert done.data == {"module": "salternt", "installed": True, "enabled": False}
    done = bench.change("module_remove", "salternt")
    assert done.changes == {"salternt": {"old": "installed", "new": None}}


@needs_policy
def test_what_is_no_module_is_refused(bench: Bench, tmp_path: Path) -> None:
    file = tmp_path / "salternt.cil"
    file.write_text("bogus(")
    assert "parenthesis" in bench.refusal("module_install", str(file))
    assert "no file /saltern-t" in bench.refusal("module_install", "/saltern-t.pp")
    assert bench.call("module_install", "/saltern-t.pp", test=True).outcome is Outcome.WOULD_CHANGE
    assert "is not available" in bench.refusal("module", "salternt")
    assert "not a valid state" in bench.refusal("module", "apache", module_state="maybe")
    assert "at the same time" in bench.refusal("module", "apache", install=True, remove=True)
    assert "can no longer be determined" in bench.refusal("module", "apache", version="1.0")
    assert "must be the same" in bench.refusal("module", "other", install=True, source=str(file))
    bench.same("module", "apache")
    bench.same("module", "salternt", remove=True)


@needs_policy
@pytest.mark.timeout(300)
def test_functions_look_and_change(bench: Bench, tmp_path: Path) -> None:
    def call(name: str, *args: object, **keywords: object) -> object:
        return bench.salt[f"selinux.{name}"](*args, **keywords)

    name = "httpd_can_network_connect"
    assert call("setsebool", name, "on", persist=True) is True
    assert call("getsebool", name)["Default"] == "on"  # type: ignore[index]
    assert call("setsebools", {"saltern_t": "on"}, persist=True) is False
    assert name in call("list_sebool")  # type: ignore[operator]
    assert call("getsemod", "apache") == {"Enabled": True, "Version": None}
    assert call("getsemod", "saltern") == {} and "apache" in call("list_semod")  # type: ignore[operator]
    assert call("remove_semod", "saltern") is False and call("install_semod", "/saltern-t.pp") is False
    assert call("filetype_id_to_string", "d") == "directory"
    assert call("fcontext_get_policy", SHOP) is None
    assert call("fcontext_add_policy", SHOP, sel_type="tmp_t")["retcode"] == 0  # type: ignore[index]
    assert call("fcontext_get_policy", SHOP) == {
        "filespec": SHOP,
        "filetype": "all files",
        "sel_user": "system_u",
        "sel_role": "object_r",
        "sel_type": "tmp_t",
        "sel_level": "s0",
    }
    assert call("fcontext_get_policy", SHOP, sel_type="other_t") is None
    assert call("fcontext_delete_policy", SHOP)["retcode"] == 0  # type: ignore[index]
    assert call("port_get_policy", "tcp/80") == {"sel_type": "http_port_t", "protocol": "tcp", "port": "80"}
    assert call("port_add_policy", "tcp/9917", "http_port_t")["retcode"] == 0  # type: ignore[index]
    assert call("port_modify_policy", "tcp/9917", "ssh_port_t")["retcode"] == 0  # type: ignore[index]
    assert call("port_get_policy", "x", "ssh_port_t", "tcp", 9917) is not None
    assert call("port_delete_policy", "tcp/9917")["retcode"] == 0  # type: ignore[index]


def test_states_for_booleans_go_together() -> None:
    def chunk(name: str, **args: object) -> object:
        return kit.chunk(name, state="selinux", fun="boolean", name=name, more=args)

    one, two = chunk("one", value=True, persist=True), chunk("x", booleans=["two"], value="off", persist=True)
    enlarge = Registry().companion("selinux", "mod_aggregate")
    assert callable(enlarge)
    made = enlarge(None, one, [two, chunk("until the next boot", value=True)], {})
    assert made.args["booleans"] == {"one": True, "two": "off"}


# -- what needs SELinux in the kernel -----------------------------------------------------------------


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The kernel's files and the configuration in a scratch directory."""
    (tmp_path / "fs").mkdir()
    (tmp_path / "config").write_text(CONFIG)
    monkeypatch.setattr(mode, "FILE_SYSTEMS", (str(tmp_path / "fs"),))
    monkeypatch.setattr(mode, "CONFIG", str(tmp_path / "config"))
    return tmp_path


def switching(place: Path) -> ScriptedHost:
    """``setenforce`` as of libselinux 3.4, which writes its argument into the kernel's file."""

    def switch(argv: list[str]) -> Ran:
        (place / "fs" / "enforce").write_text(argv[1])
        return Ran(0)

    return ScriptedHost({"setenforce": switch})


def test_the_mode_is_switched_and_kept(played: Path) -> None:
    """``setenforce`` is played."""
    (played / "fs" / "enforce").write_text("0")
    bench = Bench(played, selinux, functions={"selinux": selinux_functions}, host=switching(played))
    done = bench.change("mode", "enforcing")
    assert (done.changes, done.warnings) == ({"old": "Permissive", "new": "Enforcing"}, ())
    assert done.data == {"running": "Enforcing", "at boot": "Enforcing"}
    assert (played / "config").read_text() == CONFIG.replace("SELINUX=permissive", "SELINUX=enforcing")
    (played / "config").write_text(CONFIG)
    assert bench.change("mode", "Enforcing").changes == {"old": "Permissive", "new": "Enforcing"}
    done = bench.change("mode", "disabled")
    assert done.data == {"running": "Permissive", "at boot": "Disabled"}
    assert done.warnings == ("SELinux is enforcing; it is disabled after a reboot",)
    assert "not an accepted mode" in bench.refusal("mode", "maybe")
    assert bench.salt["selinux.setenforce"]("Permissive") == "Permissive"
    assert bench.salt["selinux.getconfig"]() == "Permissive"
    assert bench.salt["selinux.selinux_fs_path"]() == str(played / "fs")


def test_a_machine_without_selinux_is_made_ready_for_it(played: Path) -> None:
    bench = Bench(played, selinux, functions={"selinux": selinux_functions}, host=ScriptedHost({}))
    done = bench.change("mode", "enforcing")
    assert done.changes == {"old": "Permissive", "new": "Enforcing"}
    assert done.warnings == ("SELinux is disabled; it is enforcing after a reboot",)
    assert bench.salt["selinux.getenforce"]() == "Disabled"
    (played / "config").unlink()
    assert "install a policy" in bench.refusal("mode", "enforcing")


def test_a_boolean_until_the_next_boot(tmp_path: Path) -> None:
    """``semanage`` and ``setsebool`` are played, with the output of policycoreutils 3.4."""
    now = {"virt_use_usb": "off"}

    def listing(_: list[str]) -> Ran:
        return Ran(
            0, "".join(f"{one:<30} ({value:<5},  off)  Allow virt to use usb\n" for one, value in now.items())
        )

    def switch(argv: list[str]) -> Ran:
        name, _, value = argv[1].partition("=")
        now[name] = value
        return Ran(0)

    host = ScriptedHost({"semanage boolean": listing, "setsebool": switch})
    done = Bench(tmp_path, selinux, host=host).change("boolean", "virt_use_usb", value="yes")
    assert done.changes == {"virt_use_usb": {"old": "off", "new": "on"}}
    assert "setsebool virt_use_usb=on" in host.asked


@pytest.mark.parametrize(
    "line",
    [
        "Would relabel {0} from unconfined_u:object_r:user_tmp_t:s0 to unconfined_u:object_r:var_t:s0\n",
        "restorecon reset {0} context unconfined_u:object_r:user_tmp_t:s0->unconfined_u:object_r:var_t:s0\n",
    ],
)
def test_labels_are_applied(tmp_path: Path, played: Path, line: str) -> None:
    """``restorecon`` is played, with the output of policycoreutils 3.4 and of 2.5."""
    (played / "fs" / "enforce").write_text("1")
    shop = tmp_path / "shop.d"
    shop.mkdir()
    wrong = [line.format(shop)]

    def restore(argv: list[str]) -> Ran:
        told = "".join(wrong)
        if "-F" in argv:
            wrong.clear()
        return Ran(0, told)

    host = ScriptedHost({"restorecon": restore})
    bench = Bench(tmp_path, selinux, host=host)
    pattern = str(shop).replace(".", "\\.") + "(/.*)?"
    done = bench.change("fcontext_policy_applied", pattern, recursive=True)
    assert done.changes == {str(shop): {"old": {"sel_type": "user_tmp_t"}, "new": {"sel_type": "var_t"}}}
    assert f"restorecon -v -R -F {shop}" in host.asked
    gone = bench.same("fcontext_policy_applied", "/saltern-t")
    assert gone.warnings == ("there is no /saltern-t to be labelled",)


def test_a_label_that_is_none_has_only_a_type() -> None:
    assert contexts.parts("<<None>>") == {"sel_type": "<<none>>"}


def test_without_the_tools_it_says_so(tmp_path: Path) -> None:
    bench = Bench(tmp_path, selinux, host=ScriptedHost({}))
    assert "'semanage' is not on this machine" in bench.refusal("boolean", "x", value=True)
    assert bench.call("module", "x", test=True).outcome is Outcome.FAILED
