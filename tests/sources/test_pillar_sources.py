"""Pillar from elsewhere, with the real thing behind each source; through Salt as well where Salt has it."""

from __future__ import annotations

import http.server
import json
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.e2e.command import Done, Place
from tests.sources.repository import Repository
from tests.sources.vault_server import ROLE, SECRET, TOKEN, vault_server

from saltern.compat.pillars.stack import merged

SALT = Path(__file__).parents[2] / "build" / "salt" / "programs" / "salt-call"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


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


def by_salt(place: Place) -> dict[str, Any]:
    command = [str(SALT), "--local", "-c", str(place.base / "etc"), "--out", "json", "-l", "quiet"]
    done = subprocess.run(
        [*command, "pillar.items", "unmask=True"], capture_output=True, timeout=300, check=True
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
    result = merged(base, more)
    assert set(result) == set(base) | set(more)
    assert merged(base, {"__": "overwrite", **more}) == more
    assert merged(base, {"__": "remove", **more}) == {
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

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(60)


def test_servers_answer_with_json_and_yaml(place: Place) -> None:
    paths = {"/web1": '{"j": 1}', "/s/a%20b": "y: [2]\n", "/secret/web1": '{"k": 3}'}
    with answers(paths) as url:
        entries: list[object] = [
            {"http_json": {"url": f"{url}/%s"}},
            {"http_yaml": {"url": f"{url}/s/<site>", "with_grains": ["site"]}},
            {"http_json": {"url": f"{url}/secret/%s", "username": "ann", "password": "s3cr3tly"}},
        ]
        assert pillar(place, entries) == {"j": 1, "y": [2], "k": 3}
        refused = shown(place, [{"http_json": {"url": f"{url}/secret/%s"}}])
        missing = shown(place, [{"http_json": {"url": f"{url}/none"}}])
    away = shown(place, [{"http_json": {"url": f"{url}/%s"}}])
    for done, why in (
        (refused, "answered with 401"),
        (missing, "answered with 404"),
        (away, "cannot be reached"),
    ):
        assert done.code != 0
        assert why in done.err


def test_vault_is_read_by_token_and_by_role_and_its_values_are_masked(place: Place) -> None:
    data = {
        "secret/web1": {"password": "v4ultvalue"},
        "secret/common": {"url": "shared-value"},
        "old/web": {"key": "old-value"},
        "team/kv/app": {"x": "team-value"},
    }
    entries: list[object] = [
        {"vault": "path=secret/{minion}"},
        {"vault": "path=secret/common"},
        {"vault": {"path": "old/web", "nesting_key": "older"}},
        {"vault": ["path=team/kv/app"]},
    ]
    wanted = {
        "password": "v4ultvalue",
        "url": "shared-value",
        "older": {"key": "old-value"},
        "x": "team-value",
    }
    with vault_server(data) as url:
        by_token: dict[str, Any] = {"server": {"url": url}, "auth": {"method": "token", "token": TOKEN}}
        by_role: dict[str, Any] = {
            "url": url,
            "auth": {"method": "approle", "role_id": ROLE, "secret_id": SECRET},
        }
        assert pillar(place, entries, vault=by_token) == wanted
        assert pillar(place, entries, vault=by_role) == wanted
        masked = shown(place, entries, vault=by_role)
        for value in ("v4ultvalue", "shared-value", "old-value"):
            assert value not in masked.out
        cases: dict[str, tuple[dict[str, Any], list[object]]] = {
            "are role_id and secret_id right": (
                {**by_role, "auth": {**by_role["auth"], "secret_id": "wr0ng-one"}},
                entries,
            ),
            "with this token": ({**by_token, "auth": {"token": "wr0ng-one"}}, entries),
            "there is nothing at": (by_token, [{"vault": "path=secret/none"}]),
            "the method 'ldap' is not supported": ({"url": url, "auth": {"method": "ldap"}}, entries),
            "no address of Vault": ({}, entries),
            "there is no value for {pillar[a]}": (by_token, [{"vault": "path=secret/{pillar[a]}"}]),
        }
        for why, (config, asked) in cases.items():
            done = shown(place, asked, vault=config)
            assert done.code != 0
            assert why in done.err, done.err
            assert "wr0ng-one" not in done.err
    assert "cannot be reached" in shown(place, entries, vault=by_token).err


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


def test_settings_of_pillar_from_git(place: Place, tmp_path: Path) -> None:
    one = Repository(tmp_path / "served" / "one.git")
    one.commit({"top.sls": "base: {'*': [a, shared.x]}\n", "a.sls": "a: main\nl: [1]\n"})
    one.commit({"top.sls": "dev: {'*': [a]}\n", "a.sls": "a: dev\n"}, branch="dev")
    one.git("checkout", "-q", "main")
    shared = Repository(tmp_path / "served" / "shared.git")
    shared.commit({"x.sls": "x: shared\n", "top.sls": "base: {'*': [nothing]}\n"})
    mounted = {f"main {shared.url}": [{"mountpoint": "shared"}]}

    def found(*entries: object, **config: object) -> dict[str, Any]:
        return pillar(
            place, [{"git": list(entries)}], git_pillar_base="main", git_update_interval=0, **config
        )

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
