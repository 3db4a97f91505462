"""Which examples do not go the usual way, and why.

The usual way of a state: test mode says ``None`` and what would change, the run changes exactly that, and a
second run changes nothing.
"""

from __future__ import annotations

# It acts each time it is reached, so its second run has changes, too; test mode cannot know what comes of it.
ACTS = "it acts each time it is reached"
ALWAYS: dict[str, str] = {
    "cmd.call": ACTS,
    "event.send": ACTS,
    "file.touch": "it sets the times anew",
    "test.configurable_test_state": ACTS,
    "test.mod_watch": ACTS,
    "test.succeed_with_changes": ACTS,
}

# What a command prints is known when it has run, so test mode cannot foretell the changes.
UNFORESEEN: dict[str, str] = dict.fromkeys(
    (
        "module.run",
        "module.wait",
        "module.mod_watch",
        "cmd.call",
        "cmd.mod_watch",
        "cmd.run",
        "cmd.script",
        "cmd.wait",
        "cmd.wait_call",
        "cmd.wait_script",
    ),
    "what it prints is known when it has run",
)

# It only looks, or only says something.
LOOKS: dict[str, str] = {
    "file.accumulated": "it only remembers; the state that writes the file has the changes",
    "file.exists": "it only looks",
    "file.missing": "it only looks",
    "grains.exists": "it only looks",
    "http.query": "it only asks",
    "http.wait_for_successful_query": "it only asks",
    "test.check_pillar": "it only looks",
    "test.nop": "it does nothing",
    "test.show_notification": "it only says something",
    "test.succeed_without_changes": "it does nothing",
    "saltern.updated": "this version is running; other builds are in tests/barriers",
    "system.reboot": "no reboot is due in the copy; reboots are in tests/barriers",
}

# Its purpose is to fail.
FAILS = frozenset({"test.fail_with_changes", "test.fail_without_changes"})

# What a command or a call left is in its changes, and the states of ``test`` are about nothing.
NO_DATA = frozenset({"cmd", "test", "module"})

POLICY = "the whole policy is built anew, for seconds; tests/modules/selinux does it"
ENGINE = "needs that engine, in an environment of its own; its own tests have one"
FLEET = "needs a fleet; tests/fleet/orchestration has one"
LOOP = "loop devices belong to the whole machine; tests/modules/lvm has some"

# What cannot be done in a sandbox is run in test mode only: the outcome it then has, a part of what it says,
# and the reason.
ELSEWHERE: dict[str, tuple[bool | None, str, str]] = {
    "ansible": (None, "no playbook is at", ENGINE),
    "chef.client": (None, "no recipe is at", ENGINE),
    "chef.solo": (None, "no configuration of Chef is at", ENGINE),
    "docker_container": (
        False,
        "no Docker engine",
        "needs an engine; tests/modules/docker starts a real one",
    ),
    "docker_image": (False, "no Docker engine", "needs an engine"),
    "docker_network": (False, "no Docker engine", "needs an engine"),
    "docker_volume": (False, "no Docker engine", "needs an engine"),
    "exec.lines": (None, "would run", "what it reports is known when it has run"),
    "idem": (False, "", ENGINE),
    "lvm.lv_absent": (True, "", LOOP),
    "lvm.lv_present": (None, "", LOOP),
    "lvm.pv_absent": (True, "", LOOP),
    "lvm.pv_present": (None, "", LOOP),
    "lvm.vg_absent": (True, "", LOOP),
    "lvm.vg_present": (None, "", LOOP),
    "kmod.absent": (True, "", "a kernel module would be gone from the whole machine"),
    "kmod.present": (None, "", "a kernel module would be loaded into the whole machine"),
    "mount.swap": (None, "would be activated", "swap belongs to the whole machine"),
    "pkg.group_installed": (False, "", "apt has no groups"),
    "puppet": (None, "no manifest is at", ENGINE),
    "pyinfra": (False, "", ENGINE),
    "saltcall": (False, "", ENGINE),
    "salt.function": (None, "would be executed", FLEET),
    "salt.parallel_runners": (None, "would be executed", FLEET),
    "salt.runner": (False, "it needs a fleet", FLEET),
    "salt.state": (False, "it needs a fleet", FLEET),
    "salt.wait_for_event": (None, "would wait", FLEET),
    "salt.wheel": (None, "would be executed", FLEET),
    "selinux.boolean": (None, "would be changed", POLICY),
    "selinux.fcontext_policy_absent": (True, "is absent", POLICY),
    "selinux.fcontext_policy_applied": (True, "is applied", "needs a kernel with SELinux"),
    "selinux.fcontext_policy_present": (None, "would be set", POLICY),
    "selinux.module": (None, "would be changed", POLICY),
    "selinux.module_install": (None, "would be changed", POLICY),
    "selinux.module_remove": (True, "is absent", POLICY),
    "selinux.port_policy_absent": (True, "without a local type", POLICY),
    "selinux.port_policy_present": (None, "would be given", POLICY),
    "service.masked": (False, "cannot be masked", "needs a machine that systemd booted"),
    "service.unmasked": (False, "cannot be masked", "needs a machine that systemd booted"),
    "system.transaction": (False, "not a bootable snapshot", "needs a disk; tests/barriers has one"),
    "terraform": (None, "no directory is at", ENGINE),
}

# Functions that are not called, for the same reasons.
NOT_CALLED: dict[str, str] = {
    "archive.rar": "needs a program that Debian does not have",
    "archive.unrar": "needs an archive that no free program makes",
    "kmod.load": "a kernel module would be loaded into the whole machine",
    "kmod.remove": "a kernel module would be gone from the whole machine",
    "network.dig": "needs a name server",
    "mount.swapon": "swap belongs to the whole machine",
    "disk.tune": "a block device belongs to the whole machine",
    **dict.fromkeys(
        (
            "selinux.fcontext_add_policy",
            "selinux.fcontext_delete_policy",
            "selinux.install_semod",
            "selinux.port_add_policy",
            "selinux.port_delete_policy",
            "selinux.port_modify_policy",
            "selinux.remove_semod",
            "selinux.setsebool",
            "selinux.setsebools",
            "selinux.setsemod",
        ),
        POLICY,
    ),
    **dict.fromkeys(
        ("system.halt", "system.init", "system.poweroff", "system.reboot", "system.shutdown"),
        "the whole machine would go down; tests/modules/system asks a machine that does not",
    ),
    "system.set_system_date": "the clock belongs to the whole machine",
    "system.set_system_date_time": "the clock belongs to the whole machine",
    "system.set_system_time": "the clock belongs to the whole machine",
}

# Functions that are called and refuse: a part of what they say, and the reason. Of a module, some may refuse.
REFUSED: dict[str, tuple[str, str]] = {
    "firewalld.make_permanent": ("not running", "firewalld needs a bus; tests/modules/firewalld starts one"),
    "firewalld.reload_rules": ("not running", "firewalld needs a bus"),
    "pkg.group_diff": ("apt has no groups", "needs another package manager"),
    "pkg.group_info": ("apt has no groups", "needs another package manager"),
    "pkg.group_install": ("apt has no groups", "needs another package manager"),
    "pkg.group_list": ("apt has no groups", "needs another package manager"),
    "ansible": ("", ENGINE),
    "docker": ("", "needs an engine; tests/modules/docker starts a real one"),
    "saltutil.cmd": ("it needs a fleet", FLEET),
    "saltutil.runner": ("it needs a fleet", FLEET),
    "saltutil.wheel": ("it needs a fleet", FLEET),
    "service.mask": ("init scripts cannot be masked", "needs a machine that systemd booted"),
    "service.systemctl_reload": ("not run by systemd", "needs a machine that systemd booted"),
    "service.unmask": ("init scripts cannot be masked", "needs a machine that systemd booted"),
}
