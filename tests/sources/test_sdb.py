"""``sdb://`` addresses in the configuration, in pillar, in templates and in slots."""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from types import ModuleType

import msgspec
import pytest
from tests.e2e.command import Place
from tests.sources.vault_server import TOKEN, vault_server

from saltern.language import secrets
from saltern.modules.lib import sdb


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


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
            with pytest.raises(sdb.SdbError):
                sdb.get("sdb://v/secret/none?x", opts)
    finally:
        secrets.forget()


def test_a_key_ring_of_the_desktop_is_asked_by_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("keyring")
    vars(module)["get_password"] = lambda service, key: f"{service}-{key}-value"
    monkeypatch.setitem(sys.modules, "keyring", module)
    try:
        assert sdb.get("sdb://k/me", {"k": {"driver": "keyring", "service": "web"}}) == "web-me-value"
    finally:
        secrets.forget()
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(sdb.SdbError, match="pip install keyring"):
        sdb.get("sdb://k/me", {"k": {"driver": "keyring"}})


@pytest.mark.parametrize(
    ("profile", "why"),
    [
        ({"driver": "none"}, "there are env, yaml"),
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
    assert why in done.err
