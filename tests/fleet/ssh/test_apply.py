"""``saltern apply … --on … --roster …`` against real sshd's: what a person with a laptop does."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.fleet.ssh.server import Server, free_port

FAST = 240.0  # seconds; on a busy machine a first run takes a minute


class Laptop:
    """A home, a tree of states, a roster; and saltern."""

    def __init__(self, directory: Path, server: Server) -> None:
        self.home = directory / "home"
        self.tree = directory / "tree"
        self.roster = directory / "hosts.yaml"
        self.server = server
        self.directory = directory
        for path in (self.home, self.tree):
            path.mkdir(parents=True)
        self.hosts("web1", "web2")

    def hosts(self, *names: str, **more: dict[str, object]) -> None:
        rows = {name: self.host(name) for name in names} | more
        self.roster.write_text(json.dumps(rows))

    def host(self, name: str, **options: object) -> dict[str, object]:
        return {
            "host": "127.0.0.1",
            "port": self.server.port,
            "priv": str(self.server.key),
            "python": sys.executable,
            "thin_dir": str(self.base(name)),
            "ssh_options": [f"UserKnownHostsFile={self.server.known_hosts}", "IdentityAgent=none"],
            **options,
        }

    def base(self, name: str) -> Path:
        return self.directory / "bases" / name

    def sls(self, text: str, name: str = "web.sls") -> None:
        path = self.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def start(self, *words: str, on: str = "*") -> subprocess.Popen[str]:
        command = [sys.executable, "-P", "-m", "saltern", *words, "--on", on, f"--roster={self.roster}"]
        command += [] if words[0] == "ssh" else [f"--file-root={self.tree}"]
        places = {"SALTERN_STATE_DIR": f"{self.home}/state", "SALTERN_CACHEDIR": f"{self.home}/cache"}
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.home), **places}
        return subprocess.Popen(
            command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ, cwd=self.home
        )

    def run(self, *words: str, on: str = "*") -> subprocess.CompletedProcess[str]:
        process = self.start(*words, on=on)
        out, err = process.communicate(timeout=FAST)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def data(self, *words: str, on: str = "*") -> dict[str, dict[str, dict[str, object]]]:
        done = self.run(*words, "--out=json", on=on)
        found: dict[str, dict[str, dict[str, object]]] = json.loads(done.stdout)
        return found


@pytest.fixture(scope="module")
def shared(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Laptop:
    """One laptop for the module, so that hosts get their bundle once."""
    return Laptop(tmp_path_factory.mktemp("laptop"), server)


@pytest.fixture
def laptop(shared: Laptop) -> Iterator[Laptop]:
    shutil.rmtree(shared.tree)
    shared.tree.mkdir()
    shared.hosts("web1", "web2")
    yield shared


def until(condition: Callable[[], object], limit: float = FAST) -> None:
    deadline = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_states_files_and_templates_reach_every_host(laptop: Laptop, tmp_path: Path) -> None:
    laptop.sls("{{ opts['id'] }}", "greeting.jinja")
    laptop.sls(
        f"{tmp_path}/{{{{ grains['id'] }}}}:\n  file.managed:\n    - source: salt://greeting.jinja\n"
        "    - template: jinja\n"
    )
    first = laptop.data("apply", "web")
    assert {name: (tmp_path / name).read_text() for name in ("web1", "web2")} == {
        "web1": "web1",
        "web2": "web2",
    }
    assert all(one["changes"] for states in first.values() for one in states.values())
    again = laptop.data("apply", "web")
    assert not any(one["changes"] for states in again.values() for one in states.values())


def test_one_machine_under_two_names_does_both_parts(laptop: Laptop, tmp_path: Path) -> None:
    laptop.hosts(**{name: laptop.host("web1", thin_dir=str(laptop.base("web1"))) for name in ("one", "two")})
    laptop.sls(
        f"{tmp_path}/{{{{ grains['id'] }}}}:\n  file.managed:\n    - contents: {{{{ grains['id'] }}}}\n"
    )
    try:
        assert laptop.run("apply", "web").returncode == 0
    finally:
        laptop.hosts("web1", "web2")
    assert [(tmp_path / name).read_text() for name in ("one", "two")] == ["one\n", "two\n"]


def test_a_failure_names_the_line_of_the_file_on_this_machine(laptop: Laptop) -> None:
    laptop.sls("a:\n  test.nop: []\nb:\n  test.fail_without_changes: []\n")
    done = laptop.run("apply", "web")
    assert done.returncode == 2
    assert f"{laptop.tree}/web.sls:4" in done.stdout


def test_a_mistake_in_a_file_names_its_line(laptop: Laptop) -> None:
    laptop.sls("a:\n  test.nop:\n    - require:\n      - test: nosuch\n")
    done = laptop.run("apply", "web", on="web1")
    assert done.returncode == 3
    assert f"{laptop.tree}/web.sls:4" in done.stdout + done.stderr


def test_each_host_gets_its_own_pillar(laptop: Laptop, tmp_path: Path) -> None:
    roots = tmp_path / "pillar"
    roots.mkdir()
    (roots / "top.sls").write_text(
        "base:\n  'web1':\n    - one\n  'kernel:Linux':\n    - match: grain\n    - all\n"
    )
    (roots / "one.sls").write_text("secret: only-for-web1\n")
    (roots / "all.sls").write_text("machine: {{ grains['cpuarch'] }}\n")
    laptop.hosts("web1", web2=laptop.host("web2", pillar={"size": 7}, groups=["edge"]))
    found: dict[str, object] = {**laptop.data("call", "pillar.items", f"--pillar-root={roots}")}
    assert found["web1"] == {"secret": "only-for-web1", "machine": os.uname().machine}
    assert found["web2"] == {"machine": os.uname().machine, "size": 7, "roster": {"groups": ["edge"]}}
    base = laptop.base("web2")
    assert not [path for path in base.rglob("*") if path.is_file() and b"only-for" in path.read_bytes()]


def test_a_mistake_in_the_pillar_stops_every_state(laptop: Laptop, tmp_path: Path) -> None:
    roots = tmp_path / "pillar"
    roots.mkdir()
    (roots / "top.sls").write_text("base:\n  '*':\n    - nosuch\n")
    laptop.sls(f"{tmp_path}/never:\n  file.touch: []\n")
    done = laptop.run("apply", "web", f"--pillar-root={roots}", on="web1")
    assert done.returncode == 5
    assert "nosuch" in done.stdout + done.stderr
    assert not (tmp_path / "never").exists()


def test_one_host_that_is_gone_holds_no_other(laptop: Laptop) -> None:
    laptop.hosts("web1", gone=laptop.host("gone", port=free_port()))
    done = laptop.run("call", "test.echo", "hello")
    assert done.returncode == 2
    assert "hello" in done.stdout
    assert "nothing listens on its port" in done.stdout


def test_a_changed_file_is_the_only_one_that_travels(laptop: Laptop, tmp_path: Path) -> None:
    for number in range(20):
        laptop.sls(f"text {number}\n", f"files/{number}.txt")
    laptop.sls(f"{tmp_path}/out:\n  file.recurse:\n    - source: salt://files\n")
    laptop.data("apply", "web", on="web1")
    objects = laptop.base("web1") / "files" / "objects"
    before = {path.name for path in objects.rglob("*") if path.is_file()}
    laptop.sls("other\n", "files/7.txt")
    laptop.data("apply", "web", on="web1")
    after = {path.name for path in objects.rglob("*") if path.is_file()}
    assert len(after - before) == 1
    assert (tmp_path / "out" / "7.txt").read_text() == "other\n"


def test_the_caller_is_killed_and_the_run_ends_there_once(laptop: Laptop, tmp_path: Path) -> None:
    gate, mark = tmp_path / "gate", tmp_path / "mark"
    laptop.sls(
        f"wait:\n  cmd.run:\n    - name: 'echo begun >> {mark}; until test -e {gate}; do sleep 0.05; done'\n"
        f"after:\n  cmd.run:\n    - name: echo after >> {mark}\n    - require:\n      - cmd: wait\n"
    )
    process = laptop.start("apply", "web", on="web1")
    until(mark.exists)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    again = laptop.start("apply", "web", "--resume", "--out=json", on="*")  # web2 was not meant before
    gate.touch()
    out, err = again.communicate(timeout=FAST)
    assert again.returncode == 0, err
    found = json.loads(out)
    assert [state["result"] for state in found["web1"].values()] == [True, True]
    assert set(found) == {"web1", "web2"}
    assert mark.read_text() == "begun\nafter\nbegun\nafter\n"


def test_who_leaves_it_is_told_how_to_come_back(laptop: Laptop, tmp_path: Path) -> None:
    mark, gate = tmp_path / "mark", tmp_path / "gate"
    laptop.sls(f"wait:\n  cmd.run:\n    - name: 'touch {mark}; until test -e {gate}; do sleep 0.05; done'\n")
    process = laptop.start("apply", "web", on="web1")
    until(mark.exists)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=FAST)
    assert "continues; the same command with --resume" in err
    assert "saltern job" not in err  # there is no controller
    gate.touch()
    assert laptop.run("apply", "web", "--resume", on="web1").returncode == 0


def test_a_job_that_ended_while_nobody_looked_is_fetched(laptop: Laptop, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    laptop.sls(f"once:\n  cmd.run:\n    - name: echo x >> {mark}\n")
    first = laptop.data("apply", "web", on="web1")
    assert laptop.data("apply", "web", "--resume", on="web1") == first
    assert mark.read_text() == "x\n"


OVERLAP = """
alone:
  cmd.run:
    - name: >-
        mkdir {place}/busy && sleep 0.1 && rmdir {place}/busy && echo {{{{ grains['id'] }}}} >> {place}/seen
"""


def test_one_at_a_time(laptop: Laptop, tmp_path: Path) -> None:
    laptop.hosts("web1", "web2", "web3")
    laptop.sls(OVERLAP.format(place=tmp_path))
    done = laptop.run("apply", "web", "--batch", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted((tmp_path / "seen").read_text().split()) == ["web1", "web2", "web3"]
    assert "1 at a time" in done.stderr


def test_the_rest_of_a_batch_is_left_out_after_failures(laptop: Laptop, tmp_path: Path) -> None:
    laptop.hosts("web1", "web2", "web3")
    laptop.sls(f"mark:\n  cmd.run:\n    - name: echo x >> {tmp_path}/mark; false\n")
    words = ("--batch", "1", "--batch-failures", "1", "--out=json")
    done = laptop.run("apply", "web", *words)
    assert done.returncode
    assert (tmp_path / "mark").read_text() == "x\nx\n"
    assert "2 of 3 systems failed before" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--batch", "none"), "--batch needs a number from 1 on or a percentage, not 'none'"),
        (("--batch-wait", "3"), "are for a job with --batch"),
        (("--batch=1", "--batch-failures", "x"), "--batch-failures needs a number or a percentage"),
        (("--detach",), "there is no controller that keeps the job"),
    ],
)
def test_options_that_make_no_sense_with_a_roster(laptop: Laptop, words: tuple[str, ...], what: str) -> None:
    done = laptop.run("call", "test.echo", "x", *words)
    assert done.returncode == 1
    assert what in done.stderr


def test_there_is_nothing_to_find(laptop: Laptop) -> None:
    done = laptop.run("apply", "never-begun", "--resume")
    assert done.returncode == 1
    assert "no job with this command was started over SSH" in done.stderr


def test_sshd_dies_in_the_middle_and_the_result_is_fetched_afterwards(tmp_path: Path, laptop: Laptop) -> None:
    server = Server(tmp_path / "own").start()
    gate, mark = tmp_path / "gate", tmp_path / "mark"
    laptop.hosts(
        web1=laptop.host(
            "web1",
            port=server.port,
            priv=str(server.key),
            ssh_options=[f"UserKnownHostsFile={server.known_hosts}"],
        )
    )
    laptop.sls(
        f"wait:\n  cmd.run:\n    - name: 'echo x >> {mark}; while ! test -e {gate}; do sleep 0.05; done'\n"
    )
    process = laptop.start("apply", "web", "--out=json")
    try:
        until(mark.exists)
        server.stop()
        subprocess.run(["pkill", "-9", "-f", f"^sshd: .*{server.port}"], check=False)
        server.cut()
        gate.touch()
        server.start()
        out, _ = process.communicate(timeout=FAST)
    finally:
        process.kill()
        server.stop()
    (state,) = json.loads(out)["web1"].values()
    assert state["result"] is True
    assert mark.read_text() == "x\n"


def test_the_worker_is_killed_and_another_one_continues(laptop: Laptop, tmp_path: Path) -> None:
    gate, mark = tmp_path / "gate", tmp_path / "mark"
    laptop.sls(
        f"first:\n  cmd.run:\n    - name: echo first >> {mark}\n"
        f"wait:\n  file.exists:\n    - name: {gate}\n    - retry: {{attempts: 1000, interval: 0.05}}\n"
        "    - require:\n      - cmd: first\n"
    )
    process = laptop.start("apply", "web", "--out=json", on="web1")
    until(mark.exists)
    jobs = laptop.base("web1") / "systems" / "id-web1" / "jobs"
    until(lambda: worker_of(jobs))
    os.kill(worker_of(jobs), signal.SIGKILL)
    gate.touch()
    out, err = process.communicate(timeout=FAST)
    assert process.returncode == 0, out + err
    assert mark.read_text() == "first\n"


def worker_of(jobs: Path) -> int:
    from saltern.fleet.agent.task import JobFolder

    folders = (JobFolder(str(path)) for path in jobs.iterdir() if path.is_dir())
    return next((pid for folder in folders if (pid := folder.lock.holder())), 0)


def test_pillar_data_is_in_no_command_line_and_out_of_reach_of_others(laptop: Laptop, tmp_path: Path) -> None:
    pillar = tmp_path / "pillar.yaml"
    pillar.write_text("password: hush-hush\n")
    laptop.sls(f"look:\n  cmd.run:\n    - name: cat /proc/[0-9]*/cmdline > {tmp_path}/seen || true\n")
    assert laptop.run("apply", "web", "--pillar", str(pillar), on="web1").returncode == 0
    seen = (tmp_path / "seen").read_bytes()
    assert b"saltern" in seen
    assert b"hush-hush" not in seen
    assert laptop.base("web1").stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(
    os.path.basename(pwd.getpwuid(os.getuid()).pw_shell) != "bash", reason="needs bash as login shell"
)
def test_no_secret_is_in_what_the_login_shell_runs(laptop: Laptop, tmp_path: Path) -> None:
    """The strictest history there is: bash itself reports each command."""
    history, hook, pillar = tmp_path / "history", tmp_path / "hook", tmp_path / "pillar.yaml"
    hook.write_text(f"trap 'echo \"$BASH_COMMAND\" >> {history}' DEBUG\n")
    pillar.write_text("password: hush-hush\n")
    laptop.sls("look:\n  cmd.run:\n    - name: test {{ pillar['password'] }} = hush-hush\n")
    server = Server(tmp_path / "own", [f"SetEnv BASH_ENV={hook}"]).start()
    try:
        trust = [f"UserKnownHostsFile={server.known_hosts}"]
        own = laptop.host("web1", port=server.port, priv=str(server.key), ssh_options=trust)
        laptop.hosts(web1=own)
        assert laptop.run("apply", "web", "--pillar", str(pillar), on="web1").returncode == 0
    finally:
        server.stop()
    assert "python" in history.read_text()
    assert "hush-hush" not in history.read_text()


def test_what_a_run_makes_has_the_umask_of_the_login(laptop: Laptop, tmp_path: Path) -> None:
    """Files of our own are this user's alone; those of states are as they would be without us."""
    laptop.sls(
        f"{tmp_path}/made:\n  file.touch: []\nshow:\n  cmd.run:\n    - name: umask > {tmp_path}/umask\n"
    )
    laptop.data("apply", "web", on="web1")
    usual = laptop.run("ssh", "raw", "umask", on="web1").stdout.split()[-1]
    assert (tmp_path / "umask").read_text().strip() == usual
    assert (tmp_path / "made").stat().st_mode & 0o777 == 0o666 & ~int(usual, 8)
    private = [path for path in laptop.base("web1").iterdir() if path.stat().st_mode & 0o077]
    assert laptop.base("web1").stat().st_mode & 0o777 == 0o700
    assert not [path for path in private if path.is_file()]


def test_a_target_with_grains_asks_each_host_once(laptop: Laptop, tmp_path: Path) -> None:
    kept = laptop.home / "state" / "ssh" / "grains.json"
    kept.unlink(missing_ok=True)
    rack = laptop.host("web2", grains={"rack": "b"})
    laptop.hosts("web1", web2=rack, gone=laptop.host("gone", port=free_port()))
    words = ("call", "test.echo", "hello")
    first = laptop.run(*words, on="G@kernel:Linux and not G@rack:b")
    assert "the grains of gone are unknown, so it is left out" in first.stderr
    assert first.returncode == 0, first.stderr
    assert "web1" in first.stdout
    assert "web2" not in first.stdout
    known = json.loads(kept.read_text())
    assert set(known) == {"web1", "web2"}
    assert kept.parent.stat().st_mode & 0o077 == 0
    laptop.hosts("web1")
    for age, kernel in ((0, "Other"), (7200, "Other")):  # what is kept counts, whatever the system is
        known["web1"]["grains"]["kernel"] = kernel
        known["web1"]["at"] -= age
        kept.write_text(json.dumps(known))
        again = laptop.run(*words, on="G@kernel:Other")
        assert again.returncode == 0, again.stderr
        assert ("--refresh-grains asks again" in again.stderr) == bool(age)
    assert laptop.run(*words, "--refresh-grains", on="G@kernel:Linux").returncode == 0


def test_which_targets_need_grains() -> None:
    from saltern.fleet.ssh.known_grains import needs_grains

    assert [
        needs_grains(one) for one in ("*", "web* and N@x", "not ( a or G@os:x )", "P@os:.*", "S@10.0.0.0/8")
    ] == [
        False,
        False,
        True,
        True,
        True,
    ]


def test_a_file_that_the_caller_renders_does_not_reach_the_host(laptop: Laptop) -> None:
    laptop.sls("{#!controller#}{% set word = 'Sibylla-map' %}\n", "map.jinja")
    laptop.sls(
        "#!controller|jinja|yaml\n{% from 'map.jinja' import word %}\n# Sibylla-file\nfirst:\n  test.nop:\n"
        "    - delayed_render: [{block: later}]\n#!delayed_block later scoped\n# Sibylla-block\nsecond:\n"
        "  test.show_notification:\n"
        "    - text: {{ prev_ret.__id__ }} {{ word | length }} {{ grains.id }} {{ pillar.given }}\n"
        "#!end_delayed_block\n"
    )
    found = laptop.data("apply", "web", "--pillar", "{given: pear}")
    for name in ("web1", "web2"):
        said = {one["__id__"]: one["comment"] for one in found[name].values()}
        assert said["second"] == f"first 11 {name} pear"
        kept = [path for path in laptop.base(name).rglob("*") if path.is_file()]
        assert kept and not [path for path in kept if b"Sibylla" in path.read_bytes()]


@pytest.mark.parametrize("is_alone", [False, True], ids=["who resumes is asked", "while no caller is there"])
def test_blocks_that_the_caller_has_rendered_outlive_it(
    laptop: Laptop, tmp_path: Path, is_alone: bool
) -> None:
    gate, mark, passed = tmp_path / "gate", tmp_path / "mark", tmp_path / "passed"
    laptop.sls(
        f"#!controller|jinja|yaml\n{{% set word = 'quince' %}}\nfirst:\n  cmd.run:\n"
        f"    - name: 'echo x >> {mark}; until test -e {gate}; do sleep 0.05; done; touch {passed}'\n"
        "    - delayed_render: [{block: later}]\n#!delayed_block later scoped\nsecond:\n"
        "  test.show_notification:\n    - text: {{ prev_ret.__id__ }} {{ word }}\n#!end_delayed_block\n"
    )
    process = laptop.start("apply", "web", on="web1")
    until(mark.exists)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    blocks = list(laptop.home.rglob("*.blocks/*"))
    assert blocks and not [path for path in blocks if path.stat().st_mode & 0o077]
    if is_alone:
        gate.touch()
        until(passed.exists)
    again = laptop.start("apply", "web", "--resume", "--out=json", on="web1")
    gate.touch()
    out, err = again.communicate(timeout=FAST)
    said = {one["__id__"]: one["comment"] for one in json.loads(out)["web1"].values()}
    assert said.get("second") == "first quince", (said, err)
    assert mark.read_text() == "x\n"
    assert not list(laptop.home.rglob("*.blocks"))


def test_without_a_controller_the_mine_is_empty_and_no_one_hears_events(laptop: Laptop) -> None:
    laptop.sls(
        "show:\n  test.show_notification:\n    - text: mine {{ salt['mine.get']('*', 'x.y') | length }}\n"
    )
    (state,) = laptop.data("apply", "web", on="web1")["web1"].values()
    assert state["comment"] == "mine 0"
    done = laptop.run("call", "event.send", "shop/open", "--out=json", on="web1")
    assert json.loads(done.stdout) == {"web1": False}
