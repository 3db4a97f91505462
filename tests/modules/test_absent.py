"""Every state that takes something away is content, and changes nothing, where even what held it is gone.

A second run of a tree that removes a user, a service or a file must be quiet. Each such state has a row here;
where Salt succeeds, so must we.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests import kit
from tests.modules.bench import alone

from saltern.language.result import Outcome
from saltern.modules.api.registry import STATES, Registry

SALT = Path(__file__).parents[2] / "build" / "salt" / "programs" / "salt-call"
TAKES_AWAY = re.compile(
    r"(?:.*_)?(?:absent|removed?|purged|dead|stopped|disabled|unmounted|missing|not_cached|unmasked|unheld|unset|pruned)"
)
GONE = "saltern-t-gone"  # no user, group, package, service … has this name
KEY = "AAAAC3NzaC1lZDI1NTE5AAAAIDh2TYBQmchyyb1vNCXZGYmgwIj8XU8J92Nuuk5zp4+s"

# State, arguments, and the program that it needs. "@" is a directory with one file in it, ``file``.
CASES: dict[str, tuple[str, str, str]] = {
    "alias": ("alias.absent", f"name: {GONE}", ""),
    "alternatives": ("alternatives.remove", f"name: {GONE}\npath: /none", "update-alternatives"),
    "at, by number": ("at.absent", "jobid: 99999", "atq"),
    "at, by tag": ("at.absent", f"tag: {GONE}", "atq"),
    "cron of a user who is gone": ("cron.absent", f"user: {GONE}", "crontab"),
    "cron with an identifier": ("cron.absent", f"user: {GONE}\nidentifier: x", "crontab"),
    "cron variable of a user who is gone": ("cron.env_absent", f"user: {GONE}", "crontab"),
    "file below what is not there": ("file.absent", "name: '@/none/deep'", ""),
    "file below a file": ("file.absent", "name: '@/file/deep'", ""),
    "missing file below a file": ("file.missing", "name: '@/file/deep'", ""),
    "cache of nothing": ("file.not_cached", "name: salt://none/x", ""),
    "pruned directory": ("file.pruned", "name: '@/none'", ""),
    "grain": ("grains.absent", f"name: {GONE}", ""),
    "item of a grain": ("grains.list_absent", f"name: {GONE}\nvalue: x", ""),
    "group": ("group.absent", f"name: {GONE}", ""),
    "host": ("host.absent", f"name: {GONE}.example\nip: 192.0.2.9", ""),
    "options of no file": ("ini.options_absent", "name: '@/none.ini'\nsections: {a: [b]}", ""),
    "options below no directory": ("ini.options_absent", "name: '@/none/x.ini'\nsections: {a: [b]}", ""),
    "sections of no file": ("ini.sections_absent", "name: '@/none.ini'\nsections: [a]", ""),
    "module": ("kmod.absent", f"name: {GONE}", "lsmod"),
    "unmounted nothing": ("mount.unmounted", "name: '@/none'", ""),
    "unmounted without a table": (
        "mount.unmounted",
        "name: '@/none'\ndevice: /dev/none\npersist: true\nconfig: '@/fstab'",
        "",
    ),
    "line of no table": ("mount.fstab_absent", "name: /dev/none\nfs_file: /none\nconfig: '@/fstab'", ""),
    "package": ("pkg.removed", f"name: {GONE}", "dpkg"),
    "configuration of a package": ("pkg.purged", f"name: {GONE}", "dpkg"),
    "hold of a package": ("pkg.unheld", f"name: {GONE}", "dpkg"),
    "repository": ("pkgrepo.absent", f"name: deb http://{GONE}.example/ x main", "apt-get"),
    "pip package": ("pip.removed", f"name: {GONE}", "pip3"),
    "job of the schedule": ("schedule.absent", f"name: {GONE}", ""),
    "disabled job": ("schedule.disabled", f"name: {GONE}", ""),
    "dead service": ("service.dead", f"name: {GONE}", ""),
    "dead service that starts at boot no more": ("service.dead", f"name: {GONE}\nenable: false", ""),
    "disabled service": ("service.disabled", f"name: {GONE}", ""),
    "key of a user who is gone": ("ssh_auth.absent", f"name: {KEY}\nuser: {GONE}", ""),
    "key in no file": ("ssh_auth.absent", f"name: {KEY}\nuser: root\nconfig: '@/none/keys'", ""),
    "no key": ("ssh_auth.absent", "name: not a key\nuser: root\nconfig: '@/file'", ""),
    "part of a key": ("ssh_auth.absent", "name: AAAA\nuser: root\nconfig: '@/file'", ""),
    "kind of a key": ("ssh_auth.absent", "name: ssh-rsa\nuser: root\nconfig: '@/file'", ""),
    "no key of a user who is gone": ("ssh_auth.absent", f"name: not a key\nuser: {GONE}", ""),
    "host known to a user who is gone": ("ssh_known_hosts.absent", f"name: h.example\nuser: {GONE}", ""),
    "host in no file": ("ssh_known_hosts.absent", "name: h.example\nconfig: '@/none/known'", "ssh-keygen"),
    "user": ("user.absent", f"name: {GONE}", ""),
    "user with all files": ("user.absent", f"name: {GONE}\npurge: true\nforce: true", ""),
}
ELSEWHERE = {  # they need a server, an engine or a kernel: their own tests have this case
    "docker_container",
    "docker_image",
    "docker_network",
    "docker_volume",
    "firewalld",
    "gem",
    "iptables",
    "lvm",
    "mysql_database",
    "mysql_grants",
    "mysql_user",
    "nftables",
    "npm",
    "pdbedit",
    "postgres_cluster",
    "postgres_database",
    "postgres_extension",
    "postgres_group",
    "postgres_language",
    "postgres_privileges",
    "postgres_schema",
    "postgres_tablespace",
    "postgres_user",
    "selinux",
}
FAILS = {  # in Salt, too: a slip in the path would go unnoticed
    "git.config_unset": "a repository that is not there",
    "service.unmasked": "only systemd has masks",
    "gem.sources_remove": "needs gem",
}


def test_every_state_that_takes_away_has_a_row() -> None:
    registry = Registry()
    found = {
        f"{module}.{name}"
        for module in STATES
        for name in registry.members("states", module)
        if TAKES_AWAY.fullmatch(name) and module not in ELSEWHERE
    }
    assert found == {state for state, _, _ in CASES.values()} | (FAILS.keys() & found)


def written(case: str, place: Path) -> dict[str, object]:
    import yaml

    state, args, _ = CASES[case]
    given = yaml.safe_load(args.replace("@", str(place)))
    return {case: {state: [{key: value} for key, value in given.items()]}}


def prepared(tmp_path: Path) -> Path:
    place = tmp_path / "place"
    place.mkdir()
    (place / "file").write_text("# nothing\n")
    return place


@pytest.mark.machine
@pytest.mark.parametrize("case", CASES)
def test_it_is_content_and_changes_nothing(case: str, tmp_path: Path) -> None:
    program = CASES[case][2]
    if os.geteuid() or (program and shutil.which(program) is None):
        pytest.skip(f"needs root and {program or 'nothing else'}")
    place = prepared(tmp_path)
    before = sorted(place.rglob("*"))
    with alone(), kit.tree({"main.sls": json.dumps(written(case, place))}) as made:
        for test in (True, False):
            (answer,) = kit.attempt(made, kit.request_for({"main.sls": ""}), test=test).answers
            assert (answer.result.outcome, answer.result.changes) == (Outcome.OK, {}), answer.result.comment
    assert sorted(place.rglob("*")) == before


@pytest.mark.machine
@pytest.mark.skipif(not SALT.is_file() or os.geteuid() != 0, reason="needs root and Salt: see 'make salt'")
def test_wherever_salt_is_content_there_is_a_row_that_says_so(tmp_path: Path) -> None:
    """One run of the real Salt over all rows: what it cannot do at all is no case of ours to follow."""
    place, roots, etc = prepared(tmp_path), tmp_path / "roots", tmp_path / "etc"
    roots.mkdir()
    etc.mkdir()
    every: dict[str, object] = {}
    for case in CASES:
        every |= written(case, place)
    (roots / "main.sls").write_text(json.dumps(every))
    (etc / "minion").write_text(
        f"root_dir: {tmp_path}/root\nid: m\nfile_client: local\nfile_roots: {{base: [{roots}]}}\n"
    )
    argv = [
        str(SALT),
        "--local",
        "--config-dir",
        str(etc),
        "--out=json",
        "-l",
        "quiet",
        "state.apply",
        "main",
    ]
    with alone():
        ran = subprocess.run(argv, capture_output=True, text=True, check=False)
    answers = json.loads(ran.stdout)["local"].values()
    content = {one["__id__"] for one in answers if one["result"] is True and not one["changes"]}
    assert len(content) >= len(CASES) * 0.8, sorted(CASES.keys() - content)


def test_a_key_that_is_no_good_one_is_removed_all_the_same(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text(f"ssh-rsa AAAAbroken ada@x\nssh-ed25519 {KEY} bob\n")
    user = __import__("pwd").getpwuid(os.getuid()).pw_name
    for name in ("AAAAbroken", "ssh-rsa AAAAbroken someone"):
        sls = {"x": {"ssh_auth.absent": [{"name": name}, {"user": user}, {"config": str(keys)}]}}
        with kit.tree({"main.sls": json.dumps(sls)}) as made:
            assert kit.attempt(made, kit.request_for({"main.sls": ""})).code == 0
        assert keys.read_text() == f"ssh-ed25519 {KEY} bob\n"
