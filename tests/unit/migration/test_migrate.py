"""``saltern migrate --from-salt``: what is written is usable, and every key of Salt's has its line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from saltern.config.files import read
from saltern.fleet.controller.paths import controller_paths
from saltern.fleet.controller.settings import load_settings
from saltern.migration.build import build_migration

MASTER = """\
interface: 192.0.2.1
file_roots: {base: [STATES], dev: [/srv/dev]}
pillar_roots: {base: [/srv/pillar]}
fileserver_backend: [roots, git]
gitfs_base: main
gitfs_remotes:
  - https://example.org/formulas.git
  - git@example.org:me/site.git: [{root: states}]
  - /srv/local.git
reactor: [{'salt/minion/*/start': [/srv/reactor/start.sls]}]
nodegroups: {web: 'web*'}
publisher_acl: {ada: [{'web*': [test.*]}]}
worker_threads: 8
own_key: 3
"""


@pytest.fixture
def salt(tmp_path: Path) -> Path:
    etc, states = tmp_path / "etc", tmp_path / "states"
    (etc / "pki" / "master" / "minions").mkdir(parents=True)
    (etc / "pki" / "master" / "minions" / "web1").touch()
    states.mkdir()
    (states / "web.sls").write_text("x:\n  file.managed: [{naem: /x}]\n")
    (etc / "master").write_text(MASTER.replace("STATES", str(states)))
    (etc / "minion").write_text(
        "master: 192.0.2.1\nid: web1\nfailhard: true\nmine_functions: {test.ping: []}\n"
    )
    return etc


def run_migrate(salt: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "saltern", "migrate", "--from-salt", "--salt-config", str(salt), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def migrated(salt: Path, *words: str) -> Any:
    done = run_migrate(salt, "--out", "json", *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_controller_starts_with_what_was_written(salt: Path, tmp_path: Path) -> None:
    migrated(salt, "--no-check", "--to", str(tmp_path / "new"))
    settings = load_settings(controller_paths(str(tmp_path / "new")))
    assert settings.file_roots == {
        "base": [
            str(tmp_path / "states"),
            "git+https://example.org/formulas.git@main",
            "git+ssh://git@example.org/me/site.git@main#subdirectory=states",
            "git+file:///srv/local.git@main",
        ],
        "dev": ["/srv/dev"],
    }
    assert settings.nodegroups == {"web": "web*"}
    assert "local:ada" in (tmp_path / "new" / "policy.yaml").read_text()
    assert "failhard: true" in (tmp_path / "new" / "agent.yaml").read_text()
    assert [getattr(rule, "pattern", rule) for rule in settings.reactor] == ["salt/minion/*/start"]
    assert (tmp_path / "new" / "report.md").stat().st_mode & 0o077 == 0


def test_every_key_has_its_line_and_says_where_it_is(salt: Path) -> None:
    found = {one["what"]: one for one in migrated(salt, "--no-check")["findings"]}
    kinds = {name: one["kind"] for name, one in found.items()}
    expected = {
        "file_roots": "same", "nodegroups": "same", "failhard": "same", "reactor": "same",
        "mine_functions": "same", "own_key": "missing", "publisher_acl": "changed",
        "interface": "needless", "worker_threads": "needless",
    }  # fmt: skip
    assert {name: kinds[name] for name in expected} == expected
    assert found["reactor"]["where"] == f"{salt}/master:10" and found["reactor"]["advice"]
    assert "1 minion with accepted keys: web1" in found
    assert found["/srv/reactor/start.sls, the reaction to salt/minion/*/start, is missing"]["where"]
    assert any("branches and tags of git remotes" in name for name in found)


REACTIONS = """\
# local.saltern.apply was here
chains:
  local.saltern.chain_continue: [{tgt: web1}]
web:
  local.saltern.apply: [{tgt: web1}, {args: {mods: web}}]
ping:
  local.test.ping: [{tgt: web1}]
"""


def test_reactions_that_call_the_salt_extension_are_to_be_changed(salt: Path, tmp_path: Path) -> None:
    file = tmp_path / "states" / "start.sls"
    file.write_text(REACTIONS)
    (tmp_path / "states" / "plain.sls").write_text("ping:\n  local.test.ping: [{tgt: web1}]\n")
    master = (salt / "master").read_text()
    there = master.replace(
        "/srv/reactor/start.sls", "'salt://start.sls', 'salt://plain.sls', 'salt://no.sls'"
    )
    (salt / "master").write_text(there)
    found = [one for one in migrated(salt, "--no-check")["findings"] if "the reaction to" in one["what"]]
    changed = [one for one in found if one["kind"] == "changed"]
    assert [one["where"] for one in changed] == [f"{file}:3", f"{file}:5"]
    assert "calls saltern.chain_continue, which agents do not have" in changed[0]["what"]
    assert "by itself" in changed[0]["advice"] and "state.apply" in changed[1]["advice"]
    assert [one["what"][:15] for one in found if one["kind"] == "same"] == [
        "salt://plain.sl",
        "salt://no.sls, ",
    ]
    command = [sys.executable, "-m", "saltern", "call", "saltern.apply", "web"]  # as an agent would
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "no function is called 'saltern.apply'" in done.stderr


def test_the_state_files_are_checked(salt: Path) -> None:
    (problem,) = (one for one in migrated(salt)["findings"] if "naem" in one["what"])
    assert problem["where"].endswith("states/web.sls:2")


def test_nothing_is_overwritten_and_nothing_is_made_up(salt: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "controller.yaml").write_text("mine\n")
    done = run_migrate(salt, "--no-check", "--to", str(tmp_path / "there"))
    assert done.returncode == 1 and "is not empty" in done.stderr
    missing = run_migrate(tmp_path / "nowhere")
    assert missing.returncode == 1 and "neither a master's nor a minion's" in missing.stderr


def test_a_minion_alone(tmp_path: Path) -> None:
    (tmp_path / "minion").write_text("master: salt\nrenderer: py\n")
    made = build_migration(None, read(str(tmp_path / "minion")), {})
    assert (made.controller, made.agent) == ({}, {"renderer": "py"})


GIT = """\
fileserver_backend: [git]
gitfs_root: states
gitfs_remotes:
  - https://example.org/one.git:
    - base: trunk
    - saltenv:
      - qa: [{ref: next}, {root: qa}]
    - privkey: /k
ext_pillar:
  - git: ['main https://example.org/pillar.git']
git_pillar_base: main
vault: {server: {url: 'https://vault.example.org'}}
"""


def test_git_and_the_pillar_from_elsewhere_are_kept(tmp_path: Path) -> None:
    (tmp_path / "master").write_text(GIT)
    made = build_migration(read(str(tmp_path / "master")), None, {})
    assert made.controller["file_roots"] == {
        "base": ["/srv/salt", "git+https://example.org/one.git@trunk#subdirectory=states"],
        "qa": ["git+https://example.org/one.git@next#subdirectory=qa"],
    }
    assert made.controller["ext_pillar"] == [{"git": ["main https://example.org/pillar.git"]}]
    assert made.controller["pillar_config"] == {
        "git_pillar_base": "main",
        "vault": {"server": {"url": "https://vault.example.org"}},
    }
    assert any(one.what == "privkey of the git remote https://example.org/one.git" for one in made.findings)


def test_what_a_minion_does_by_itself_goes_to_the_agent(tmp_path: Path) -> None:
    text = "beacons: {memusage: [{percent: 80%}]}\nschedule: {a: {function: test.ping, hours: 1}}\n"
    (tmp_path / "minion").write_text(text + "mine_functions: {test.ping: []}\nmine_interval: 5\n")
    made = build_migration(None, read(str(tmp_path / "minion")), {})
    assert sorted(made.agent) == ["beacons", "mine_functions", "mine_interval", "schedule"]
    assert {one.kind for one in made.findings} == {"same"}


def test_snippets_of_the_configuration_count(salt: Path) -> None:
    (salt / "master.d").mkdir()
    (salt / "master.d" / "more.conf").write_text("keep_jobs: 24\n")
    found = {one["what"]: one for one in migrated(salt, "--no-check")["findings"]}
    assert found["keep_jobs"]["where"] == f"{salt}/master.d/more.conf:1"


def test_the_jobs_that_a_minion_schedules_for_itself_stay_behind(salt: Path) -> None:
    """It keeps them in a file of its own, beside those of the user."""
    own = "__mine_interval: {function: mine.update, minutes: 60}"
    (salt / "minion.d").mkdir()
    (salt / "minion.d" / "_schedule.conf").write_text(f"schedule:\n  {own}\n")
    found = migrated(salt, "--no-check", "--to", str(salt / "first"))
    assert "schedule" not in [one["what"] for one in found["findings"]]
    assert "__mine_interval" not in (salt / "first" / "agent.yaml").read_text()
    users = "nightly: {function: state.apply, days: 1}"
    (salt / "minion.d" / "_schedule.conf").write_text(f"schedule:\n  {own}\n  {users}\n")
    migrated(salt, "--no-check", "--to", str(salt / "second"))
    agent = (salt / "second" / "agent.yaml").read_text()
    assert "nightly" in agent and "__mine_interval" not in agent
