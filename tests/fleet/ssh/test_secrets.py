"""Secrets of the controller's pillar are used on systems with an agent and over SSH, and are shown nowhere.

A controller, an agent and an sshd are real, and so are the key ring, the age key and the store. Each value is
random: whatever shows it is found by its text, in what is printed, answered, sent and written.
"""

from __future__ import annotations

import getpass
import json
import os
import shutil
import ssl
import tempfile
from collections.abc import Iterator
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import HTTPCookieProcessor, HTTPSHandler, Request, build_opener

import pytest
from tests.e2e.command import Place as Tree
from tests.fleet.console.kit import form_token
from tests.fleet.ssh.server import Server
from tests.fleet.ssh.test_fleet import Place
from tests.secrets.canaries import ORIGINS, Canaries, canaries, states_of, top_of
from tests.secrets.keyring import key_ring

from saltern.cli.local_fleet import CONFIG

MAIN = r"""{% set at = pillar['place'] ~ '/' ~ grains['id'] ~ '/' %}
EACH
{% endfor %}
template:
  file.managed: [{name: '{{ at }}template'}, {source: 'salt://text.j2'}, {template: jinja}, {mode: '600'}]
ONCE
listed:
  cmd.run:
    - name: cat $(grep -al saltern /proc/[0-9]*/cmdline) 2>/dev/null | tr '\0' ' ' > {{ at }}processes
    - env: [{WORD: '{{ pillar.gpg }}'}]
late:
  cmd.run: [{name: echo x}, {delayed_render: [{block: later}]}]
#!delayed_block later
later:
  cmd.run: [{name: 'echo {{ pillar.gpg }}; exit 2'}]
#!end_delayed_block
"""
STATES = states_of(MAIN)
TEXT = "{{ pillar.gpg }} and {{ pillar.lines }}\n"
SMALL = "echo {{ pillar.gpg }} {{ pillar.quoted | json }}:\n  cmd.run: []\n"
WRONG = "a:\n  file.managed: [{name: {{ pillar.gpg | json }}}]\n  test.{{ pillar.quoted | json }}: []\n"
CHAIN = """\
chain: secretly
actions:
  - {id: first, state: small}
  - {id: then, command: cat AT/s1/gpg AT/a1/gpg}
"""


class Fleet(Place):
    """The fleet of other tests, with one system of each kind, and pillar of every origin."""

    words: Canaries

    def prepare(self, words: Canaries) -> None:
        self.words = words
        tree = words.place
        given = json.loads((tree.base / "etc/saltern.yaml").read_text())
        sources = given.pop("ext_pillar")
        shutil.copytree(tree.base / "pillar", self.base / "controller" / "pillar")
        files = {
            "pillar/top.sls": top_of("place"),
            "pillar/place.sls": f"place: {self.base / 'systems'}\n",
            "salt/main.sls": STATES,
            "salt/wrong.sls": WRONG,
            "salt/small.sls": SMALL,
            "salt/text.j2": TEXT,
            "salt/_states/own.py": (tree.states / "_states/own.py").read_text(),
            "controller.yaml": f"{CONFIG}ssh: {{known_hosts: {self.server.known_hosts}}}\n"
            f"pillar_config: {json.dumps(given)}\next_pillar: {json.dumps(sources)}\n",
        }
        for name, text in files.items():
            self.fleet.write(f"controller/{name}", text)
        (self.base / "secretly.yaml").write_text(CHAIN.replace("AT", str(self.base / "systems")))
        self.write_roster(s1=self.entry("s1"))
        self.env.update(words.env)
        self.fleet = type(self.fleet)(str(self.base), self.env)
        self.fleet.start(["a1"])
        self.until(lambda: self.system("s1")["online"])

    def silent(self, text: str, what: object) -> str:
        leaks = self.words.leaks(text)
        assert not leaks, (what, leaks[:3])
        return text

    def say(self, *words: str) -> str:
        done = self.run(*words)
        return self.silent(done.stdout + done.stderr, words)

    def pages(self, jid: str, run: str) -> Iterator[tuple[str, str]]:
        """Pages of the console that show jobs, systems, chains and events."""
        link = self.run("console", "--no-browser").stdout.split()[-1]
        browser = build_opener(
            HTTPCookieProcessor(CookieJar()), HTTPSHandler(context=ssl._create_unverified_context())
        )
        with browser.open(link, timeout=60) as form:
            fields = {
                "csrf": form_token(form.read().decode()),
                "code": parse_qs(urlsplit(link).query)["code"][0],
            }
        base = link.partition("/sign-in")[0]
        sent = Request(f"{base}/sign-in/link", urlencode(fields).encode(), {"Origin": base})
        browser.open(sent, timeout=60).close()
        of_system = (f"jobs/{jid}/ID", f"jobs/{jid}/ID/states", f"runs/{run}/ID/output?step=then")
        of_all = [path.replace("ID", system) for path in of_system for system in ("a1", "s1")]
        for path in ("jobs", *of_all, f"jobs/{jid}/s1/report", "systems/s1", "events", "admin/audit"):
            with browser.open(f"{base}/{path}", timeout=60) as answer:
                yield path, answer.read().decode()

    def files(self) -> Iterator[Path]:
        """All that controller, agent, command and host keep, but for configuration and what states made."""
        for top in (self.base, self.server.directory):
            for path in top.rglob("*"):
                given = path.name == "controller.yaml" or path.is_relative_to(self.base / "systems")
                if path.is_file() and not given:
                    yield path


@pytest.fixture(scope="module")
def fleet(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    if os.geteuid():
        pytest.skip("the sshd of the tests lets its own user in, which the roster calls root")
    directory = Path(tempfile.mkdtemp(prefix="sm-", dir="/tmp")).resolve()  # short: it holds sockets
    made = Fleet(directory, server)
    try:
        with key_ring() as ring, canaries(Tree(tmp_path_factory.mktemp("words")), ring) as words:
            made.prepare(words)
            yield made
    finally:
        made.fleet.stop()
        shutil.rmtree(directory, ignore_errors=True)


def test_it_is_used_on_every_system_and_shown_nowhere(fleet: Fleet) -> None:
    said = fleet.say("apply", "main", "--on", "*", "-l", "debug", "--expand")
    assert said.count("***") > 20
    for system in ("a1", "s1"):
        at = fleet.base / "systems" / system
        for origin in ORIGINS:
            assert fleet.words.words[origin].rstrip("\n") in (at / origin).read_text(), (system, origin)
        assert fleet.words.words["gpg"] in (at / "template").read_text()
        assert fleet.words.words["gpg"] not in (at / "processes").read_text()
    jid = fleet.newest()
    fleet.say("apply", "main", "--on", "*", "--test", "--out", "json")
    fleet.say("apply", "wrong", "--on", "*")
    fleet.say("call", "pillar.items", "--on", "*")
    chain = fleet.say("chain", "run", "secretly.yaml", "--on", "*").partition("saltern: run ")[2].split()[0]
    fleet.say("jobs")
    fleet.say("jobs", jid, "--out", "json")
    with fleet.fleet.client() as client:
        for name, rows in {
            "returns": client.jobs.returns(jid),
            "answers": [client.jobs.answers(jid)],
            "records of a1": client.jobs.records(jid, "a1"),
            "records of s1": client.jobs.records(jid, "s1"),
            "output on a1": client.chain_runs.texts(chain, "a1"),
            "output on s1": client.chain_runs.texts(chain, "s1"),
            "events": client.events(),
            "audit": client.audit.list(),
        }.items():
            found = list(rows)
            assert found, name
            fleet.silent(json.dumps(found, ensure_ascii=False, default=str), name)
        sent = {one["data"]["id"]: one["data"]["data"]["x"] for one in client.events(tag="shop/gpg")}
        assert sent == {"a1": "***", "s1": "***"}
    for path, text in fleet.pages(jid, chain):
        assert "***" in text or not path.startswith(("jobs/", "runs/")), path
        fleet.silent(text, path)
    for file in fleet.files():
        fleet.silent(file.read_bytes().decode("utf-8", "replace"), file)


def test_without_a_controller_it_is_shown_nowhere_either(server: Server, tmp_path: Path) -> None:
    """A laptop with the keys, and a roster of two hosts."""
    (tmp_path / "laptop").mkdir()
    tree, made = Tree(tmp_path / "laptop"), tmp_path / "systems"
    with key_ring() as ring, canaries(tree, ring) as words:
        roster = {name: _entry(server, tmp_path / name) for name in ("h1", "h2")}
        tree.write(
            {
                "main.sls": STATES,
                "text.j2": TEXT,
                "pillar/top.sls": top_of("place"),
                "pillar/place.sls": f"place: {made}\n",
                "hosts.yaml": json.dumps(roster),
            }
        )
        reach = ("--roster", str(tree.states / "hosts.yaml"), "--known-hosts", str(server.known_hosts))
        for words_of_run in (("--expand", "-l", "debug"), ("--out", "json")):
            done = tree.run("apply", "main", "--on", "h*", *reach, *words_of_run, env=words.env)
            assert done.code in (0, 2), done
            assert "***" in done.out
            assert not words.leaks(done.out + done.err), words_of_run
        for name in roster:
            assert words.words["gpg"] in (made / name / "gpg").read_text()
        kept = (tree.base / "keep", tree.base / "etc", tree.base / "made", made)
        assert words.leaks_below(tmp_path, kept) == []


def _entry(server: Server, directory: Path) -> dict[str, object]:
    options = ["IdentitiesOnly=yes", "IdentityAgent=none"]
    return {
        "host": "127.0.0.1",
        "port": server.port,
        "user": getpass.getuser(),
        "priv": str(server.key),
        "ssh_options": options,
        "thin_dir": str(directory),
    }
