"""Trees as teams have them: formulas from git with mount points, secrets from gpg; compiled by Salt and here.

The formulas are our own, reduced to what such trees use: defaults and maps that are imported, pillar that is
merged over them, includes across formulas, requisites, and templates of the formula.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.command import Place
from tests.secrets.keyring import KeyRing, indented, key_ring
from tests.sources.repository import Repository

SALT = Path(__file__).parents[2] / "build" / "salt" / "programs" / "salt-call"
USERS = {
    "users/defaults.yaml": "users:\n  shell: /bin/bash\n  home: /home\n",
    "users/map.jinja": "{% import_yaml 'users/defaults.yaml' as defaults %}\n"
    "{% set users = salt['pillar.get']('users:settings', default=defaults.users, merge=True) %}\n",
    "users/init.sls": "{% from 'users/map.jinja' import users with context %}\n"
    "{% for name, user in pillar.get('users', {}).get('accounts', {}) | dictsort %}\n"
    "{{ name }}_account:\n  user.present:\n    - name: {{ name }}\n"
    "    - shell: {{ user.get('shell', users.shell) }}\n"
    "    - home: {{ users.home }}/{{ name }}\n    - password: {{ user.password | json }}\n"
    "{{ name }}_key:\n  file.managed:\n    - name: {{ users.home }}/{{ name }}/.ssh/id\n"
    "    - contents_pillar: users:accounts:{{ name }}:key\n    - require: [{user: {{ name }}_account}]\n"
    "{% endfor %}\n",
}
DATABASE = {
    "database/libtofs.jinja": "{% macro config(name) %}salt://database/files/{{ name }}{% endmacro %}\n",
    "database/init.sls": "include:\n  - users\n  - .config\n",
    "database/config.sls": "{% from 'database/libtofs.jinja' import config %}\n"
    "database-config:\n  file.managed:\n    - name: /etc/database.conf\n"
    "    - source: {{ config('main.conf') }}\n    - template: jinja\n"
    "    - context: {{ pillar.database | json }}\n    - require_in: [{test: database-ready}]\n"
    "database-ready:\n  test.nop:\n    - onchanges: [{sls: users}]\n",
    "database/files/main.conf": "password = {{ password }}\n",
    "pillar.example": "database: {password: none}\n",
}
SITE = {"top.sls": "base:\n  '*': [database]\n", "site/motd.sls": "motd: test.nop\n"}


@pytest.fixture(scope="module")
def ring() -> Iterator[KeyRing]:
    with key_ring() as made:
        yield made


def tree(place: Place, ring: KeyRing) -> Path:
    """The directory with a configuration for both programs."""
    served = {}
    for name, files in (("users", USERS), ("database", DATABASE), ("site", SITE)):
        served[name] = Repository(place.base / "served" / f"{name}.git")
        inside = {f"states/{path}": text for path, text in files.items()} if name == "site" else files
        served[name].commit(inside, tag="v1.0")
    served["database"].commit({"database/config.sls": "newer: test.nop\n"}, branch="next")
    key, password = (indented(ring.encrypted(word), 8) for word in ("-----KEY-----\nabc\n", "hunter2222"))
    place.write(
        {
            "pillar/top.sls": "base: {'*': [accounts]}\n",
            "pillar/accounts.sls": "#!jinja|yaml|gpg\nusers:\n  settings: {home: /srv/home}\n  accounts:\n"
            f"    ann:\n      key: {key}\n      password: {password}\n"
            f"database:\n  password: {indented(ring.encrypted('s3cr3t-of-database'))}\n",
        }
    )
    remotes = [
        {served["site"].url: [{"root": "states"}, {"base": "main"}]},
        {served["users"].url: [{"base": "v1.0"}]},
        {served["database"].url: [{"saltenv": [{"base": [{"ref": "v1.0"}]}]}]},
    ]
    config = {"id": "here", "gpg_keydir": str(ring.path)}
    minion = {
        **config,
        "file_client": "local",
        "root_dir": str(place.base / "salt-root"),
        "file_roots": {"base": [f"{copy(served[name])}{'/states' * (name == 'site')}" for name in served]},
        "pillar_roots": {"base": [str(place.base / "pillar")]},
    }
    ours = {**config, "fileserver_backend": ["git"], "gitfs_remotes": remotes}
    place.write({"etc/saltern.yaml": json.dumps(ours), "etc/minion": json.dumps(minion)})
    return place.base / "etc"


def copy(repository: Repository) -> Path:
    """The files of the tag: Salt without a master lists files of gitfs, and cannot read them."""
    made = repository.path.parent / f"{repository.path.stem}-copy"
    repository.git("worktree", "add", "-q", str(made), "v1.0")
    return made


def by_salt(config: Path, function: str) -> Any:
    command = [str(SALT), "--local", "-c", str(config), "--out", "json", "-l", "quiet", function]
    done = subprocess.run(command, capture_output=True, timeout=300, check=True)
    return json.loads(done.stdout)["local"]


def chunks(low: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in one.items() if key != "order"} for one in low]


def test_formulas_from_git_with_encrypted_pillar_compile_as_in_salt(tmp_path: Path, ring: KeyRing) -> None:
    place = Place(tmp_path)
    config = tree(place, ring)
    theirs = by_salt(config, "state.show_lowstate")
    done = place.run("show", "lowstate", "--out", "json", "--show-secrets")
    assert done.code == 0, done.err
    ours = json.loads(done.out)["local"]
    assert chunks(ours) == chunks(theirs)
    assert [one["__id__"] for one in ours] == ["ann_account", "ann_key", "database-config", "database-ready"]
    masked = place.run("show", "lowstate", "--out", "json")
    assert "hunter2222" not in masked.out + masked.err
    assert "s3cr3t-of-database" not in masked.out + masked.err
