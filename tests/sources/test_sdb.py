"""``sdb://`` addresses in the configuration, in pillar, in templates and in slots."""

from __future__ import annotations

import importlib
import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.e2e.command import Place
from tests.sources.salt_gitfs import SALT
from tests.sources.stored import check_stored_and_removed
from tests.sources.vault_server import TOKEN, vault_server
from tools.engines import ROOT

from saltern.language import secrets
from saltern.modules.lib import sdb


def configured(place: Place, **more: object) -> None:
    (place.base / "a.yaml").write_text("db: {password: fr0m-yaml}\n")
    with closing(sqlite3.connect(place.base / "s.db")) as database:
        database.execute("CREATE TABLE sdb (key TEXT PRIMARY KEY, value BLOB)")
        database.execute("INSERT INTO sdb VALUES ('packed', ?)", (msgspec.msgpack.encode("fr0m-sqlite"),))
        database.execute("INSERT INTO sdb VALUES ('plain', 'plain-sqlite')")
        database.commit()
    profiles = {
        "os": {"driver": "env"},
        "files": {"driver": "yaml", "files": [str(place.base / "a.yaml")]},
        "lite": {"driver": "sqlite3", "database": str(place.base / "s.db")},
        **more,
    }
    place.write({"etc/saltern.yaml": json.dumps(profiles)})


def test_addresses_have_their_values_everywhere_and_none_is_shown(place: Place) -> None:
    configured(place, api={"token": "sdb://os/THE_TOKEN"})
    made = place.base / "made"
    place.write(
        {
            "pillar/top.sls": "base: {'*': [data]}\n",
            "pillar/data.sls": "pw: sdb://files/db:password\n"
            "t: {{ salt['sdb.get']('sdb://lite/packed') }}\nu: sdb://none/x\n",
            "main.sls": f"{made}:\n  file.managed:\n    - contents:\n"
            "      - {{ pillar.pw }}\n      - {{ pillar.t }}\n      - {{ salt['config.get']('api:token') }}\n"
            f"{made}2:\n  file.managed:\n    - contents: __slot__:salt:sdb.get(sdb://lite/plain)\n",
        }
    )
    done = place.run("apply", "main", env={"THE_TOKEN": "fr0m-environ"})
    assert done.code == 0, done
    assert made.read_text() == "fr0m-yaml\nfr0m-sqlite\nfr0m-environ\n"
    assert Path(f"{made}2").read_text() == "plain-sqlite\n"
    for value in ("fr0m-yaml", "fr0m-sqlite", "fr0m-environ", "plain-sqlite"):
        assert value not in done.out + done.err
        for path in (place.base / "runs").rglob("*"):
            assert not path.is_file() or value.encode() not in path.read_bytes()
    shown = place.run("show", "pillar", "--out", "json", "--show-secrets")
    assert json.loads(shown.out)["local"] == {"pw": "fr0m-yaml", "t": "fr0m-sqlite", "u": "sdb://none/x"}


def test_vault_by_both_forms_of_its_addresses() -> None:
    data = {"secret/app": {"password": "fr0m-vault"}, "old/app": {"k": "older-vault"}}
    try:
        with vault_server(data) as url:
            config = {"driver": "vault", "url": url, "auth": {"method": "token", "token": TOKEN}}
            opts = {"v": config}
            assert sdb.get("sdb://v/secret/app?password", opts) == "fr0m-vault"
            assert sdb.get("sdb://v/secret/app/password", opts) == "fr0m-vault"
            assert sdb.get("sdb://v/old/app?k", opts) == "older-vault"
            assert secrets.mask(f"fr0m-vault {TOKEN}") == "*** ***"
            assert sdb.get("sdb://v/secret/none?x", opts) is None
    finally:
        secrets.forget()


@pytest.fixture
def ring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The package keyring, with a key ring in a file."""
    found = next((ROOT / "build" / "stores").glob("lib/python3*/site-packages/keyring/.."), None)
    if found is None:
        pytest.skip("keyring is not installed: make engines")
    monkeypatch.setattr(sys, "path", [*sys.path, str(found.resolve())])
    file = importlib.import_module("keyrings.alt.file")
    ours = file.PlaintextKeyring()
    ours.file_path = str(tmp_path / "ring")
    package = importlib.import_module("keyring")
    package.set_keyring(ours)
    return package


def test_a_key_ring_of_a_user(ring: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    opts = {"desk": {"driver": "keyring", "service": "web"}}
    uri = "sdb://desk/me"
    assert sdb.get(uri, opts) is None
    assert sdb.put(uri, "st0red-value", opts) is True
    assert sdb.get(uri, opts) == ring.get_password("web", "me") == "st0red-value"
    assert secrets.mask("st0red-value") == "***"
    assert sdb.delete(uri, opts) is True
    assert sdb.delete(uri, opts) is False
    ring.set_keyring(importlib.import_module("keyring.backends.fail").Keyring())
    for work in (sdb.get, sdb.delete):
        with pytest.raises(sdb.SdbError, match="key ring of this user cannot be used: No recomm"):
            work(uri, opts)
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(sdb.SdbError, match="pip install keyring"):
        sdb.get(uri, opts)


def test_values_are_stored_found_and_removed_and_are_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("A_VARIABLE", raising=False)
    with vault_server({"secret/app": {"other": "stays-here"}, "old/app": {"other": "goes-away"}}) as url:
        vault = {"driver": "vault", "url": url, "auth": {"token": TOKEN}}
        opts = {
            "lite": {"driver": "sqlite3", "database": str(tmp_path / "s.db")},
            "kv": {**vault, "patch": True},
            "whole": vault,
        }
        check_stored_and_removed(("sdb://lite/a b", "sdb://kv/secret/app?pw", "sdb://whole/old/app/pw"), opts)
        assert sdb.get("sdb://kv/secret/app?other", opts) == "stays-here"
        assert sdb.get("sdb://whole/old/app?other", opts) is None
    assert sdb.put("sdb://none/x", "y", opts) is False
    assert sdb.delete("sdb://none/x", opts) is False
    assert sdb.put("sdb://os/A_VARIABLE", "one", {"os": {"driver": "env"}}) == "one"
    assert sdb.put("sdb://os/A_VARIABLE", "two", {"os": {"driver": "env"}}) == "one"
    monkeypatch.delenv("A_VARIABLE")
    for config, work in (("env", sdb.delete), ("yaml", sdb.delete)):
        with pytest.raises(sdb.SdbError, match="deletes nothing"):
            work("sdb://x/y", {"x": {"driver": config}})
    with pytest.raises(sdb.SdbError, match="stores nothing"):
        sdb.put("sdb://x/y", "z", {"x": {"driver": "yaml"}})


def test_a_password_is_made_once_and_kept(place: Place) -> None:
    configured(place)
    words = ("call", "sdb.get_or_set_hash", "sdb://lite/fresh", "length=20", "--out", "json")
    first, again = (place.run(*words, "--show-secrets") for _ in range(2))
    assert first.out == again.out
    assert len(json.loads(first.out)["local"]) == 20
    assert json.loads(place.run(*words).out)["local"] == "***"
    assert (
        json.loads(place.run("call", "sdb.set", "sdb://lite/k", "[1]", "--out", "json").out)["local"] is True
    )
    assert json.loads(place.run("call", "sdb.get", "sdb://none/k", "strict=True", "--out", "json").out or "1")


def test_files_are_merged_and_traversed_as_in_salt(place: Place) -> None:
    files = [place.base / "one.yaml", place.base / "two.yaml"]
    files[0].write_text("db: {user: ann, ports: [1, 2]}\nlist: [{a: x-value}, {a: y-value}]\n")
    files[1].write_text("db: {password: hidden-value, ports: [3]}\n")
    profiles: dict[str, dict[str, object]] = {
        "usual": {"driver": "yaml", "files": list(map(str, files))},
        "over": {"driver": "yaml", "files": list(map(str, files)), "merge": {"strategy": "overwrite"}},
    }
    minion = {"file_client": "local", "root_dir": str(place.base / "salt-root"), **profiles}
    place.write({"etc/minion": json.dumps(minion)})
    keys = ("db", "db:user", "db:ports", "list:1:a", "list:7", "none", "db:none:x")
    uris = [f"sdb://{profile}/{key}" for profile in profiles for key in keys]
    program = (
        "import json, sys, salt.config\nfrom salt.utils.sdb import sdb_get\n"
        "opts = salt.config.minion_config(sys.argv[1])\n"
        "print(json.dumps([sdb_get(uri, opts) for uri in json.load(sys.stdin)]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(place.base / "etc/minion")],
        input=json.dumps(uris),
        env={**os.environ, "PYTHONPATH": str(SALT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert [sdb.get(uri, profiles) for uri in uris] == json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    ("profile", "why"),
    [
        ({"driver": "none"}, "use one of env, yaml"),
        ({"driver": "yaml", "files": ["/none.yaml"]}, "cannot be read"),
        ({"driver": "sqlite3", "database": "/none.db"}, "there is no database"),
        ({"driver": "vault"}, "no address of Vault"),
    ],
)
def test_a_store_that_cannot_be_asked_is_a_sentence(
    place: Place, profile: dict[str, object], why: str
) -> None:
    configured(place, bad=profile)
    place.write({"pillar/top.sls": "base: {'*': [data]}\n", "pillar/data.sls": "a: sdb://bad/x/y\n"})
    done = place.run("show", "pillar")
    assert done.code != 0
    assert "the address sdb://bad/x/y in the pillar has no value" in done.err
    assert why in done.err
