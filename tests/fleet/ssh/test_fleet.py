"""Systems of a roster on a controller: systems like any other, beside one with an agent. Real processes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from tests.fleet.harness import user_environment
from tests.fleet.ssh.server import Server, free_port

from saltern.cli.local_fleet import CONFIG, CONTROLLER, LocalFleet

PATIENCE = 240.0  # seconds for anything; machines that run tests are busy
STATES = {
    "motd.sls": "motd:\n  file.managed:\n    - name: {{ pillar['place'] }}/{{ grains['id'] }}/motd\n"
    "    - source: salt://text\n    - makedirs: true\n",
    "text": "of the controller\n",
    "wait.sls": "mark:\n  cmd.run:\n    - name: echo once >> {{ pillar['place'] }}/{{ grains['id'] }}.once\n"
    "gate:\n  cmd.run:\n    - name: until [ -e {{ pillar['place'] }}/gate ]; do sleep 0.05; done\n"
    "    - require:\n      - cmd: mark\n",
}


class Place:
    """A controller with an agent system ``a1``, and with ``s1`` and ``s2`` in its roster, both over SSH."""

    def __init__(self, directory: Path, server: Server) -> None:
        self.base = directory
        self.server = server
        self.env = user_environment(directory)
        self.fleet = LocalFleet(str(directory), self.env)
        self.roster = directory / CONTROLLER / "roster"

    def entry(self, id_: str, **more: object) -> dict[str, object]:
        server = self.server
        settings = ["IdentitiesOnly=yes", "IdentityAgent=none"]
        return {
            "host": "127.0.0.1",
            "port": server.port,
            "user": "root",
            "priv": str(server.key),
            "ssh_options": settings,
            "thin_dir": f"{server.directory}/{id_}",
            **more,
        }

    def write_roster(self, **entries: dict[str, object]) -> None:
        fresh = self.roster.with_suffix(".new")
        fresh.write_text(json.dumps(entries))
        fresh.replace(self.roster)

    @contextmanager
    def and_also(self, id_: str, **more: object) -> Iterator[None]:
        """One more system in the roster, for a while."""
        usual = json.loads(self.roster.read_text())
        self.write_roster(**usual, **{id_: self.entry(id_, **more)})
        try:
            self.until(lambda: self.system(id_)["kind"] == "ssh")
            yield
        finally:
            self.write_roster(**usual)
            self.until(lambda: not self.system(id_)["kind"])

    def start(self, agents: Sequence[str] = ("a1",), **entries: dict[str, object]) -> None:
        """Start the controller with these agents and hosts; without hosts, with those of most tests."""
        for name, text in STATES.items():
            self.fleet.write(f"controller/salt/{name}", text)
        self.fleet.write("controller/pillar/top.sls", "base:\n  '*':\n    - place\n")
        self.fleet.write("controller/pillar/place.sls", f"place: {self.base / 'systems'}\n")
        config = f"{CONFIG}ssh: {{known_hosts: {self.server.known_hosts}}}\n"
        self.fleet.write("controller/controller.yaml", config)
        usual = {"s1": self.entry("s1"), "s2": self.entry("s2", minion_opts={"grains": {"role": "web"}})}
        hosts = entries or usual
        self.write_roster(**hosts)
        self.fleet.start(list(agents))
        self.until(lambda: all(self.system(id_)["online"] for id_ in hosts))

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.run_alone(words[0], "--controller", self.fleet.socket, *words[1:])

    def run_alone(self, *words: str) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-m", "saltern", *words]
        return subprocess.run(
            argv, env=self.env, cwd=self.base, capture_output=True, text=True, timeout=PATIENCE
        )

    def system(self, id_: str) -> dict[str, Any]:
        with self.fleet.client() as client:
            found = [one for one in client.systems.list() if one["id"] == id_]
        return found[0] if found else {"online": False, "kind": ""}

    def statuses(self, jid: str) -> dict[str, Any]:
        with self.fleet.client() as client:
            return {row["system"]: row for row in client.jobs.targets(jid)}

    def kinds(self, jid: str, system: str) -> list[str]:
        """The kinds of the records that the controller has of a job's journal, in their order."""
        with self.fleet.client() as client:
            rows = list(client.jobs.records(jid, system))
        assert [row["number"] for row in rows] == list(range(len(rows)))
        return [row["data"]["kind"] for row in rows]

    def newest(self) -> str:
        """The newest job that a person has sent: schedules of agents are jobs, too."""
        with self.fleet.client() as client:
            return str(
                next(one["jid"] for one in client.jobs.list() if not one["user"].startswith("schedule:"))
            )

    def submit(self, *words: str) -> str:
        done = self.run(*words, "--detach")
        assert done.returncode == 0, done
        return done.stdout.split()[-1]

    def until(self, is_so: Callable[[], object]) -> None:
        end = time.monotonic() + PATIENCE
        while not is_so():
            assert time.monotonic() < end, Path(self.fleet.log(CONTROLLER)).read_text()[-3000:]
            time.sleep(0.1)


@pytest.fixture(scope="module")
def place(server: Server) -> Iterator[Place]:
    if os.geteuid():
        pytest.skip("the sshd of the tests lets its own user in, which the roster calls root")
    directory = Path(tempfile.mkdtemp(prefix="sf-")).resolve()  # short: it holds sockets
    here = Place(directory, server)
    try:
        here.start()
        yield here
    finally:
        here.fleet.stop()
        shutil.rmtree(directory, ignore_errors=True)


def test_they_are_listed_with_their_kind_and_facts(place: Place) -> None:
    shown = place.run("fleet", "systems")
    lines = {line.split()[0]: line.split() for line in shown.stdout.splitlines()}
    assert {id_: lines[id_][1] for id_ in ("a1", "s1", "s2")} == {"a1": "agent", "s1": "ssh", "s2": "ssh"}
    with place.fleet.client() as client:
        assert client.systems.facts("s1")["grains"]["kernel"] == "Linux"
        assert client.systems.facts("s1")["grains"]["id"] == "s1"


def test_states_are_applied_to_both_kinds_with_files_and_pillar_of_the_controller(place: Place) -> None:
    done = place.run("apply", "motd", "--on", "*")
    assert done.returncode == 0, done
    made = {id_: (place.base / "systems" / id_ / "motd").read_text() for id_ in ("a1", "s1", "s2")}
    assert set(made.values()) == {"of the controller\n"}
    jid = place.newest()
    place.until(lambda: place.kinds(jid, "a1")[-1:] == ["end"])
    assert place.kinds(jid, "s1") == place.kinds(jid, "s2") == place.kinds(jid, "a1")
    again = place.run("apply", "motd", "--on", "*", "--detailed-exitcode")
    assert again.returncode == 0, again


@pytest.mark.parametrize(("target", "ids"), [("G@role:web", ["s2"]), ("s*", ["s1", "s2"]), ("a1", ["a1"])])
def test_targets_mean_them(place: Place, target: str, ids: list[str]) -> None:
    done = place.run("call", "test.ping", "--on", target, "--out", "json")
    assert sorted(json.loads(done.stdout)) == ids


def test_a_controller_that_ends_in_the_middle_finds_the_job_again(place: Place) -> None:
    (place.base / "systems").mkdir(exist_ok=True)
    jid = place.submit("apply", "wait", "--on", "s1")
    mark = place.base / "systems" / "s1.once"
    place.until(mark.exists)
    place.until(lambda: place.statuses(jid)["s1"]["status"] == "running")
    place.until(lambda: "start" in place.kinds(jid, "s1"))  # while it runs
    place.fleet.end(CONTROLLER, how=9)
    place.fleet.start_controller()
    (place.base / "systems" / "gate").touch()
    place.until(lambda: place.statuses(jid)["s1"]["status"] == "returned")
    assert mark.read_text() == "once\n"
    kinds = place.kinds(jid, "s1")
    assert (kinds.count("done"), kinds[-1]) == (2, "end")
    (place.base / "systems" / "gate").unlink()


def test_cancelling_reaches_the_host(place: Place) -> None:
    jid = place.submit("apply", "wait", "--on", "s2")
    place.until(lambda: place.statuses(jid)["s2"]["status"] == "running")
    with place.fleet.client() as client:
        client.jobs.cancel(jid, hard=True)
    place.until(lambda: place.statuses(jid)["s2"]["status"] == "cancelled")


def test_a_host_that_is_away_is_named_and_its_job_ends_when_its_time_is_over(place: Place) -> None:
    with place.and_also("s3", port=free_port()):
        done = place.run("call", "test.ping", "--on", "s3", "--expires", "4")
        jid = place.newest()
        assert "away: s3" in done.stderr or "s3: nothing listens" in done.stderr  # by who was there first
        place.until(lambda: place.statuses(jid)["s3"]["status"] == "expired")
        assert "refused" in place.statuses(jid)["s3"]["why"]
        assert not place.system("s3")["online"]


def test_a_wrong_key_fails_at_once_and_only_there(place: Place) -> None:
    other = place.base / "other"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(other)], check=True)
    with place.and_also("s4", priv=str(other)):
        done = place.run("call", "test.ping", "--on", "s*", "--wait", "60")
    assert done.returncode == 2
    assert "ssh-auth" in done.stdout + done.stderr
    assert "s1, s2" in done.stdout


def test_a_roster_that_is_wrong_does_not_replace_a_good_one(place: Place) -> None:
    good = place.roster.read_text()
    place.roster.write_text("s1: {host: [}")
    log = Path(place.fleet.log(CONTROLLER))
    place.until(lambda: "the roster is not taken" in log.read_text())
    assert place.system("s1")["kind"] == "ssh"
    place.roster.write_text(good)


def test_a_system_that_leaves_the_roster_ends_its_jobs(place: Place) -> None:
    with place.and_also("s5", port=free_port()):
        jid = place.submit("call", "test.ping", "--on", "s5")
        assert place.statuses(jid)["s5"]["status"] == "queued"
    ended = place.statuses(jid)["s5"]
    assert (ended["status"], ended["why"]) == ("cancelled", "it is no longer in the roster")


def test_a_system_of_the_roster_has_no_key_to_decide_on(place: Place) -> None:
    done = place.run("fleet", "keys", "revoke", "s1")
    assert done.returncode
    assert "has no key" in done.stderr


def test_a_host_gets_an_agent_with_one_command_and_loses_it_with_another(place: Place) -> None:
    where = place.base / "deployed"
    pid = place.base / "agent.pid"
    start = f"setsid $AGENT >/dev/null 2>&1 & echo $! > {pid}"
    options = ("--directory", str(where), "--start", start)
    with place.and_also("s6"):
        done = place.run("agent", "deploy", "--on", "s6", *options)
        try:
            assert done.returncode == 0, done
            place.until(lambda: place.system("s6")["kind"] == "agent" and place.system("s6")["online"])
            done = place.run("call", "test.ping", "--on", "s6", "--out", "json")
            assert json.loads(done.stdout) == {"s6": True}
            roster = ("--roster", str(place.roster), "--known-hosts", str(place.server.known_hosts))
            done = place.run("agent", "deploy", "--on", "s6", *options, *roster)
            assert "already have an agent: s6" in done.stderr
            done = place.run("agent", "deploy", "--remove", "--on", "s6", *options, *roster)
            assert done.returncode == 0, done
        finally:
            end_agent(pid)
        place.until(lambda: place.system("s6")["kind"] == "ssh")
        place.until(lambda: place.system("s6")["online"])
        assert not (place.server.directory / "s6" / "agent").exists()


def end_agent(pid: Path) -> None:
    with suppress(ProcessLookupError, FileNotFoundError, ValueError):
        os.kill(int(pid.read_text()), signal.SIGTERM)


def test_a_token_takes_over_only_what_it_was_made_for(place: Place) -> None:
    with place.fleet.client() as client:
        token = client.tokens.make()
    directory = str(place.base / "thief")
    done = place.run_alone("agent", "join", token, "--directory", directory, "--id", "s1")
    assert done.returncode
    assert "belongs to another key" in done.stderr
    assert place.system("s1")["kind"] == "ssh"


def test_a_chain_runs_step_by_step_on_both_kinds(place: Place) -> None:
    log = place.base / "steps"
    actions = "".join(f"  - {{id: A{number}, command: 'echo A{number} >> {log}'}}\n" for number in (1, 2))
    actions += f"  - {{id: A3, command: 'echo ${{input:pin}} >> {log}'}}\n"
    text = f"chain: both\ninputs: {{pin: {{secret: true}}}}\nactions:\n{actions}"
    (place.base / "chain.yaml").write_text(text)
    done = place.run("chain", "run", "chain.yaml", "--on", "L@a1,s1", "--out", "json", "--input", "pin=Erato")
    assert done.returncode == 0, done
    found = json.loads(done.stdout)
    steps = {id_: {row["action"]: row["status"] for row in leg["steps"]} for id_, leg in found.items()}
    assert steps == {id_: dict.fromkeys(("A1", "A2", "A3"), "succeeded") for id_ in ("a1", "s1")}
    assert sorted(log.read_text().split()) == ["A1", "A1", "A2", "A2", "Erato", "Erato"]
    kept = [path for path in (place.base / CONTROLLER).rglob("*") if path.is_file()]
    assert [path for path in kept if b"Erato" in path.read_bytes()] == [], "database, broker, logs"


def test_a_chain_on_a_host_is_cancelled_while_it_runs(place: Place) -> None:
    begun = place.base / "chain-begun"
    actions = "".join(f"  - {{id: s{number}, command: 'touch {begun}; sleep 0.2'}}\n" for number in range(99))
    (place.base / "slow.yaml").write_text(f"chain: slow\nactions:\n{actions}")
    run = place.run("chain", "run", "slow.yaml", "--on", "s1", "--detach").stdout.strip()
    place.until(begun.exists)
    said = place.run("chain", "cancel", run, "--reason=late")
    assert "cancelling" in said.stdout, said
    place.until(lambda: "cancelled" in place.run("chain", "show", run).stdout.splitlines()[0])


def test_files_that_the_controller_renders_reach_no_system(place: Place) -> None:
    place.fleet.write(
        "controller/salt/hidden.sls",
        "#!controller|jinja|yaml\n# Sibylla-file\nfirst:\n  test.nop:\n"
        "    - delayed_render: [{block: later}]\n#!delayed_block later\n# Sibylla-block\nsecond:\n"
        "  test.show_notification:\n    - text: {{ prev_ret.__id__ }} {{ grains.id }} {{ pillar.place }}\n"
        "#!end_delayed_block\n",
    )
    found = json.loads(place.run("apply", "hidden", "--on", "*", "--out", "json").stdout)
    for name in ("a1", "s1", "s2"):
        said = {one["__id__"]: one["comment"] for one in found[name].values()}
        assert said["second"] == f"first {name} {place.base / 'systems'}", said
    for directory in (place.base / "a1", Path(place.server.directory)):
        kept = [path for path in directory.rglob("*") if path.is_file()]
        assert kept and not [path for path in kept if b"Sibylla" in path.read_bytes()]


def test_the_mine_and_events_are_those_of_the_fleet(place: Place) -> None:
    done = place.run("call", "mine.send", "test.echo", "text=quince", "--on", "s1", "--out", "json")
    assert json.loads(done.stdout) == {"s1": True}, done
    for reader in ("a1", "s2"):
        words = ("call", "mine.get", "s1", "test.echo", "--on", reader, "--out", "json")
        done = place.run(*words)
        assert json.loads(done.stdout) == {reader: {"s1": "quince"}}, done
    done = place.run("call", "event.send", "shop/open", "{at: 7}", "--on", "s1", "--out", "json")
    assert json.loads(done.stdout) == {"s1": True}, done
    with place.fleet.client() as client:
        (event,) = client.events(tag="shop/open")
    assert (event["data"]["id"], event["data"]["data"]["at"]) == ("s1", 7)
    done = place.run("call", "event.send", "salt/key", "--on", "s1")
    assert "the controller's own" in done.stdout + done.stderr
