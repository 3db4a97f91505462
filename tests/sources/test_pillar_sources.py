"""Pillar from elsewhere, with the real thing behind each source; through Salt as well where Salt has it."""

from __future__ import annotations

import http.server
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.e2e.command import Done, Place
from tests.sources.http_server import serving
from tests.sources.old_salt import needs_old_salt, old_salt
from tests.sources.repository import Repository
from tools.engines import ROOT as ENGINES
from tools.salt import OLD_PLACE as SALT_3006
from tools.salt import PLACE

from saltern.compat.pillars.stack import merge_stack

SALT = Path(__file__).parents[2] / "build" / "salt" / "programs" / "salt-call"
# Salt needs a library for pillar from git; `make engines` installs it
GIT_FOR_SALT = next(map(str, (ENGINES / "build" / "stores").glob("lib/python3*/site-packages/git/..")), "")


def shown(place: Place, entries: list[object], *words: str, **config: object) -> Done:
    minion = {
        "file_client": "local",
        "id": "web1",
        "grains": {"os_family": "Debian", "site": "a b"},
        "root_dir": str(place.base / "salt-root"),
        "file_roots": {"base": [str(place.states)]},
        "pillar_roots": {"base": [str(place.base / "pillar")]},
        "ext_pillar": entries,
        **config,
    }
    (place.base / "pillar").mkdir(exist_ok=True)
    place.write({"etc/saltern.yaml": json.dumps(minion), "etc/minion": json.dumps(minion)})
    return place.run("show", "pillar", "--out", "json", *words)


def pillar(place: Place, entries: list[object], *words: str, **config: object) -> dict[str, Any]:
    done = shown(place, entries, "--show-secrets", *words, **config)
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)["local"]
    return found


def by_salt(place: Place, library: str = "") -> dict[str, Any]:
    """What Salt 3008 has; ``library`` is a directory of packages that it needs for that."""
    command = [str(SALT), "--local", "-c", str(place.base / "etc"), "--out", "json", "-l", "quiet"]
    if library:
        command[:1] = [sys.executable, str(PLACE / "bin" / "salt-call")]
    done = subprocess.run(
        [*command, "pillar.items", "unmask=True"],
        env={**os.environ, **({"PYTHONPATH": f"{PLACE}{os.pathsep}{library}"} if library else {})},
        capture_output=True,
        timeout=300,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)["local"]
    return found


def test_commands_and_a_tree_of_files_give_what_they_give_salt(place: Place) -> None:
    tree = place.base / "tree"
    for name, text in {
        "hosts/web1/a": "one\n",
        "hosts/web1/deep/b": "two\n\n",
        "hosts/other/a": "no\n",
        "nodegroups/front/a": "group\n",
        "nodegroups/front/c": "three",
    }.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    entries: list[object] = [
        {"cmd_yaml": "echo 'y: [1, {z: %s}]'"},
        {"cmd_json": 'echo \'{"j": {"id": "%s"}}\''},
        {"cmd_yamlex": "echo 'x: {a: 1}'"},
        {"file_tree": {"root_dir": str(tree), "keep_newline": ["deep/*"]}},
    ]
    ours = pillar(place, entries, nodegroups={"front": "web*"})
    assert ours["deep"] == {"b": "two\n\n"}
    assert ours["a"] == "one"
    assert ours["c"] == "three"
    theirs = by_salt(place)  # its files are bytes, as Python shows them; without a master it has no groups
    text = json.dumps(theirs).replace("b'", "").replace("'\"", '"').replace("\\\\n", "\\n")
    assert json.loads(text) == {key: value for key, value in ours.items() if key not in ("c", "x")}


@needs_old_salt
def test_a_command_that_prints_yamlex_gives_what_it_gives_the_salt_that_has_it(place: Place) -> None:
    printed = {
        "a mapping": "x: {a: 1, b: [yes, ~, 1.5, text]}",
        "numbers and words": "mode: 0644\nmore: [017, 08, -3, on, off, null]",
        "anchors": "a: &one {b: 1}\nc: {<<: *one, d: 2}",
        "a list of mappings": "l: [{a: 1}, {b: {c: []}}]",
    }
    files = {name: place.base / f"{number}.yaml" for number, name in enumerate(printed)}
    for name, path in files.items():
        path.write_text(f"{name}:\n  " + printed[name].replace("\n", "\n  ") + "\n")
    entries: list[object] = [{"cmd_yamlex": f"cat {path}"} for path in files.values()]
    entries.append({"cmd_yamlex": "echo 'the id: %s'"})
    ours = pillar(place, entries)
    assert set(ours) == {*printed, "the id"}
    assert ours == old_salt(place.base / "etc", "pillar.items")


@pytest.mark.parametrize("printed", ["a: !aggregate 1", "a: 1\n!reset a: 2", "a: 1\na: 2"])
def test_what_yamlex_adds_to_yaml_is_refused(place: Place, printed: str) -> None:
    path = place.base / "printed.yaml"
    path.write_text(f"{printed}\n")
    place.write({"etc/saltern.yaml": json.dumps({"ext_pillar": [{"cmd_yamlex": f"cat {path}"}]})})
    done = place.run("show", "pillar")
    assert done.code != 0
    assert "saltern.yaml:1: ext_pillar 'cmd_yamlex' failed: its output cannot be read" in done.err


def test_a_stack_of_templates_is_merged_as_in_salt(place: Place) -> None:
    stack = place.base / "stack"
    stack.mkdir()
    files = {
        "stack.cfg": "core.yml\nos/{{ __grains__['os_family'] }}.yml\nnone*.yml\nhosts/*.yml\n",
        "more.cfg": "- last.yml\n",
        "core.yml": "a: {b: 1, l: [1, 2]}\nkeep: {x: 1, y: 2}\nname: {{ minion_id }}\n",
        "os/Debian.yml": "a: {c: 2, l: [{__: merge-first}, 0]}\nkeep: {__: overwrite, z: 3}\n",
        "hosts/a.yml": "a: {__: remove, b: 0}\nseen: {{ stack.name }}\n",
        "hosts/b.yml": "a: {l: [{__: remove}, 2]}\nfresh: [{__: overwrite}, 1]\n",
        "last.yml": "name: {other: 1}\n",
    }
    for name, text in files.items():
        (stack / name).parent.mkdir(exist_ok=True)
        (stack / name).write_text(text)
    by_grain = {"grains:os_family": {"Debian": str(stack / "more.cfg"), "RedHat": "/none"}}
    ours = pillar(place, [{"stack": [str(stack / "stack.cfg")]}, {"stack": by_grain}])
    assert ours["a"] == {"c": 2, "l": [0, 1]}
    assert ours["keep"] == {"z": 3}
    assert ours["name"] == {"other": 1}
    assert ours["seen"] == "web1"
    assert ours == by_salt(place)


values = st.recursive(
    st.integers(0, 3),
    lambda one: st.lists(one, max_size=2) | st.dictionaries(st.sampled_from("abc"), one, max_size=3),
)
layers = st.dictionaries(st.sampled_from("abc"), values, max_size=3)


@given(layers, layers)
def test_the_last_of_a_stack_wins_and_nothing_is_lost(base: dict[str, Any], more: dict[str, Any]) -> None:
    result = merge_stack(base, more)
    assert set(result) == set(base) | set(more)
    assert merge_stack(base, {"__": "overwrite", **more}) == more
    assert merge_stack(base, {"__": "remove", **more}) == {
        key: one for key, one in base.items() if key not in more
    }
    for key in set(more) - set(base):
        assert result[key] == more[key]


@contextmanager
def answers(by_path: Mapping[str, str]) -> Iterator[str]:
    """A server; one path wants a password."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            allowed = (
                "secret" not in self.path or self.headers.get("Authorization") == "Basic YW5uOnMzY3IzdGx5"
            )
            text = by_path.get(self.path) if allowed else None
            self.send_response(401 if not allowed else 404 if text is None else 200)
            self.end_headers()
            self.wfile.write((text or "").encode())

        def log_message(self, *_: object) -> None:
            pass

    with serving(Handler) as url:
        yield url


def test_servers_answer_with_json_and_yaml(place: Place) -> None:
    paths = {"/web1": '{"j": 1}', "/s/a%20b": "y: [2]\n", "/secret/web1": '{"k": 3}'}
    with answers(paths) as url:
        entries: list[object] = [
            {"http_json": {"url": f"{url}/%s"}},
            {"http_yaml": {"url": f"{url}/s/<site>", "with_grains": ["site"]}},
            {"http_json": {"url": f"{url}/secret/%s", "username": "ann", "password": "s3cr3tly"}},
        ]
        assert pillar(place, entries) == {"j": 1, "y": [2], "k": 3}
        if SALT_3006.is_dir():  # Salt 3008 has no such source any more; this one sends no password
            assert pillar(place, entries[:2]) == old_salt(place.base / "etc", "pillar.items")
        refused = shown(place, [{"http_json": {"url": f"{url}/secret/%s"}}])
        missing = shown(place, [{"http_json": {"url": f"{url}/none"}}])
    away = shown(place, [{"http_json": {"url": f"{url}/%s"}}])
    for done, why in (
        (refused, "responded with 401"),
        (missing, "responded with 404"),
        (away, "cannot be reached"),
    ):
        assert done.code != 0
        assert why in done.err
        assert f"{place.base}/etc/saltern.yaml:1: " in done.err


def test_a_source_that_fails_is_reported_by_its_line_and_its_password_may_be_in_a_store(place: Place) -> None:
    config = place.base / "etc/saltern.yaml"
    (place.base / "pillar").mkdir()
    with answers({"/secret/web1": '{"k": 3}'}) as url:
        lines = (
            "id: web1",
            "os: {driver: env}",
            "ext_pillar:",
            "  - cmd_json: echo '{}'",
            "  - http_json:",
            f"      url: {url}/secret/%s",
            "      username: ann",
            "      password: sdb://os/CMDB",
        )
        place.write({"etc/saltern.yaml": "\n".join(lines)})
        good = place.run("show", "pillar", "--out", "json", env={"CMDB": "s3cr3tly"})
        assert json.loads(good.out)["local"] == {"k": 3}, good.err
        wrong = place.run("show", "pillar", env={"CMDB": "wr0ng-word"})
    assert f"{config}:5: " in wrong.err
    assert "wr0ng-word" not in wrong.err + wrong.out


def test_pillar_files_of_git_repositories(place: Place, tmp_path: Path) -> None:
    repository = Repository(tmp_path / "served" / "pillar.git")
    repository.commit({"top.sls": "base: {'*': [one]}\n", "one.sls": "a: 1\nhost: {{ grains.id }}\n"})
    other = Repository(tmp_path / "served" / "more.git")
    other.commit({"sub/top.sls": "base: {'web*': [two]}\n", "sub/two.sls": "b: 2\n"})
    entries: list[object] = [
        {"git": [f"main {repository.url}", {f"main {other.url}": [{"root": "sub"}, {"env": "base"}]}]}
    ]
    found = pillar(place, entries, git_pillar_base="main")
    assert found == {"a": 1, "host": "web1", "b": 2}
    missing = shown(place, [{"git": [f"none {repository.url}"]}])
    assert "no branch, tag or commit" in missing.err
    assert "saltern.yaml:1: " in missing.err


def test_a_run_names_the_commits_of_its_pillar_and_keeps_them(place: Place, tmp_path: Path) -> None:
    repository = Repository(tmp_path / "served" / "pillar.git")
    first = repository.commit({"top.sls": "base: {'*': [one]}\n", "one.sls": "a: first\n"})
    shown(place, [{"git": [f"main {repository.url}"]}], git_pillar_base="main", git_update_interval=0)
    who = "-c user.name=a -c user.email=a@b.c"
    script = f"cd {repository.path}\necho 'a: second' > one.sls\ngit {who} commit -qam x\n"
    (place.base / "change.sh").write_text(script)
    place.write(
        {
            "main.sls": f"sh {place.base}/change.sh:\n  cmd.run: []\n"
            "{{ pillar.a }}:\n  module.run: [{saltutil.refresh_pillar: []}, {reload_pillar: true}]\n"
            f"{place.base}/made:\n  file.managed: [{{contents_pillar: a}}]\n",
        }
    )
    done = place.run("apply", "main")
    assert done.code == 0, done.out
    assert f"git+{repository.url}@main is at {first}" in done.out
    assert (place.base / "made").read_text() == "first\n"
    assert first in place.run("show", "run", "last").out
    later = place.run("show", "pillar", "--out", "json")
    assert json.loads(later.out)["local"] == {"a": "second"}
    repository.path.rename(tmp_path / "away")
    away = place.run("show", "pillar", "--out", "json")
    assert json.loads(away.out)["local"] == {"a": "second"}
    assert "[git-away]" in away.err


def test_settings_of_pillar_from_git(place: Place, tmp_path: Path) -> None:
    one = Repository(tmp_path / "served" / "one.git")
    one.commit({"top.sls": "base: {'*': [a, shared.x]}\n", "a.sls": "a: main\nl: [1]\n"})
    one.commit({"top.sls": "dev: {'*': [a]}\n", "a.sls": "a: dev\n"}, branch="dev")
    one.git("checkout", "-q", "main")
    shared = Repository(tmp_path / "served" / "shared.git")
    shared.commit({"x.sls": "x: shared\n", "top.sls": "base: {'*': [nothing]}\n"})
    mounted = {f"main {shared.url}": [{"mountpoint": "shared"}]}

    def found(*entries: object, **config: object) -> dict[str, Any]:
        given: list[object] = [{"git": list(entries)}]
        made = pillar(place, given, git_pillar_base="main", git_update_interval=0, **config)
        if GIT_FOR_SALT:
            assert made == by_salt(place, GIT_FOR_SALT), entries
        return made

    both = {"a": "main", "l": [1], "x": "shared"}
    assert found(f"main {one.url}", mounted) == both  # its own top file does not count
    assert found(f"__env__ {one.url}", mounted) == both
    assert found(f"__env__ {one.url}", pillarenv="dev") == {"a": "dev"}
    assert found(f"main {one.url}", f"dev {one.url}", mounted, pillarenv="dev") == {"a": "dev"}
    rescue = {f"__env__ {one.url}": [{"fallback": "dev"}, {"env": "dev"}]}
    assert found(rescue, pillarenv="dev", saltenv="none") == {"a": "dev"}
    assert found({one.url: [{"env": "dev"}]}, git_pillar_branch="dev") == {"a": "dev"}
    for entry, why in (
        ({f"main {one.url}": [{"base": "x"}]}, "only with the branch __env__"),
        ({f"main {one.url}": [{"saltenv": []}]}, "no setting of a remote is called 'saltenv'"),
        (f"a b {one.url}", "has the form"),
    ):
        assert why in shown(place, [{"git": [entry]}]).err


def test_drivers_that_are_not_installed_are_named(place: Place) -> None:
    done = shown(place, [{"mysql": ["SELECT 1 WHERE %s"]}])
    assert done.code != 0
    assert "pymysql" in done.err or "connect" in done.err.lower()
