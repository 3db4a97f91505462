"""Pillar and ``sdb`` from Vault: a real server of OpenBao, and what Salt 3006 makes of the same entries."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.e2e.command import Done, Place
from tests.sources.old_salt import needs_old_salt, old_salt
from tests.sources.real_vault import ROOT, RealVault, needs_vault, real_vault
from tests.sources.stored import check_stored_and_removed
from tests.unit.system.answering import answering

from saltern.modules.lib import sdb

pytestmark = needs_vault

DATA: dict[str, dict[str, Any]] = {
    "secret/common": {"shared": "shared-value", "list": ["one-value"], "deep": {"a": "deep-value"}},
    "secret/hosts/web1": {"password": "v4ult-value", "deep": {"b": "other-value"}},
    "secret/roles/db": {"db": "db-value", "list": ["two-value"]},
    "secret/roles/front": {"front": "front-value", "list": ["three-value"]},
    "old/web": {"key": "older-value", "number": 7461},
    "team/kv/app/one": {"x": "team-value"},
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealVault]:
    with real_vault(tmp_path_factory.mktemp("vault")) as made:
        for path, values in DATA.items():
            made.put(path, values)
        yield made


@pytest.fixture
def garbage() -> Iterator[str]:
    """Another server, which does not speak HTTP."""
    with answering(b"SSH-2.0-x\r\n") as port:
        yield f"http://127.0.0.1:{port}"


def shown(place: Place, entries: list[object], vault: dict[str, Any], *words: str, **more: object) -> Done:
    config = {
        "file_client": "local",
        "id": "web1",
        "root_dir": str(place.base / "salt-root"),
        "pillar_roots": {"base": [str(place.base / "pillar")]},
        "ext_pillar": entries,
        "vault": vault,
        **more,
    }
    place.write(
        {
            "pillar/top.sls": "base: {'*': [roles]}\n",
            "pillar/roles.sls": "roles: [db, front, none]\napp: {name: one}\n",
            "etc/saltern.yaml": json.dumps(config),
            "etc/minion": json.dumps(config),
        }
    )
    return place.run("show", "pillar", "--out", "json", *words)


ENTRIES: tuple[object, ...] = (
    {"vault": "path=secret/common"},
    {"vault": "path=secret/hosts/{minion}"},
    {"vault": "path=secret/roles/{pillar[roles]}"},
    {"vault": {"conf": "path=old/web", "nesting_key": "older"}},
    {"vault": {"conf": "path=team/kv/app/{pillar[app][name]}", "nesting_key": "older"}},
    {"vault": "path=secret/none/at/all"},
    {"vault": "path=secret/of/{pillar[nothing]}"},
)
WANTED = {
    "roles": ["db", "front", "none"],
    "app": {"name": "one"},
    "shared": "shared-value",
    "deep": {"a": "deep-value", "b": "other-value"},
    "password": "v4ult-value",
    "db": "db-value",
    "front": "front-value",
    "list": ["three-value"],
    "older": {"key": "older-value", "number": 7461, "x": "team-value"},
}


@needs_old_salt
@pytest.mark.parametrize("method", ["token", "approle"])
def test_the_same_entries_give_what_they_give_salt_and_values_are_masked(
    place: Place, server: RealVault, method: str
) -> None:
    auth = server.role(f"r-{method}") if method == "approle" else {"method": "token", "token": server.token()}
    vault = {"url": server.url, "auth": auth}
    done = shown(place, list(ENTRIES), vault, "--show-secrets")
    assert done.code == 0, done.err
    assert json.loads(done.out)["local"] == WANTED
    theirs = old_salt(place.base / "etc", "pillar.items")
    assert theirs == WANTED
    masked = shown(place, list(ENTRIES), vault)
    assert json.loads(masked.out)["local"]["roles"] == WANTED["roles"]
    for value in ("v4ult-value", "deep-value", "older-value", "7461"):
        assert value not in masked.out


def test_lists_are_merged_if_the_configuration_says_so(place: Place, server: RealVault) -> None:
    vault = {"server": {"url": server.url}, "auth": {"token": server.token()}}
    entries: list[object] = [{"vault": {"path": "secret/common,secret/roles/{pillar[roles]}"}}]
    done = shown(place, entries, vault, "--show-secrets", pillar_merge_lists=True)
    assert json.loads(done.out)["local"]["list"] == ["one-value", "two-value", "three-value"], done.err


def test_a_login_is_done_once_in_a_run(place: Place, server: RealVault) -> None:
    """A secret_id that is good for one login opens all of a pillar."""
    vault = {"url": server.url, "auth": server.role("once", secret_id_num_uses=1)}
    kv = {"driver": "vault"}
    entries = [{"vault": "path=secret/common"}, {"vault": "path=old/web"}]
    shown(place, list(entries), vault, kv=kv)
    place.write({"pillar/roles.sls": "a: sdb://kv/secret/hosts/web1?password\nb: sdb://kv/old/web/key\n"})
    vault = {"url": server.url, "auth": server.role("once", secret_id_num_uses=1)}
    config = json.loads((place.base / "etc/saltern.yaml").read_text())
    place.write({"etc/saltern.yaml": json.dumps({**config, "vault": vault})})
    done = place.run("show", "pillar", "--out", "json", "--show-secrets")
    assert done.code == 0, done.err
    found = json.loads(done.out)["local"]
    assert (found["a"], found["b"], found["shared"]) == ("v4ult-value", "older-value", "shared-value")


def test_a_token_that_has_ended_is_replaced_by_another_login(server: RealVault) -> None:
    vault = {"driver": "vault", "url": server.url, "auth": server.role("short")}
    opts = {"kv": vault}
    assert sdb.get("sdb://kv/old/web?key", opts) == "older-value"
    server.ask("PUT", "sys/leases/revoke-prefix/auth/approle/login")
    for accessor in server.ask("LIST", "auth/token/accessors")["data"]["keys"]:
        found = server.ask("POST", "auth/token/lookup-accessor", {"accessor": accessor})["data"]
        if found["path"] == "auth/approle/login":
            server.ask("POST", "auth/token/revoke-accessor", {"accessor": accessor})
    assert sdb.get("sdb://kv/old/web?key", opts) == "older-value"


@needs_old_salt
def test_addresses_of_sdb_have_the_values_that_they_have_in_salt(place: Place, server: RealVault) -> None:
    vault = {"url": server.url, "auth": {"method": "token", "token": server.token()}}
    shown(place, [], vault, kv={"driver": "vault"})
    for address in (
        "secret/hosts/web1?password",
        "secret/hosts/web1/password",
        "old/web/key",
        "old/web?number",
        "old/web?none",
        "secret/none?x",
        "team/kv/app/one",
    ):
        uri = f"sdb://kv/{address}"
        done = place.run("call", "sdb.get", uri, "--out", "json", "--show-secrets")
        assert json.loads(done.out)["local"] == old_salt(place.base / "etc", "sdb.get", uri), (
            address,
            done.err,
        )


def test_values_are_stored_and_removed(server: RealVault) -> None:
    server.put("secret/stored", {"other": "stays-here"})
    whole = {"driver": "vault", "url": server.url, "auth": {"token": server.token()}}
    opts = {"whole": whole, "kv": {**whole, "patch": True}}
    addresses = ("sdb://kv/secret/stored?pw", "sdb://whole/old/stored/pw", "sdb://kv/old/fresh?pw")
    check_stored_and_removed(addresses, opts)
    assert sdb.get("sdb://kv/secret/stored?other", opts) == "stays-here"
    with pytest.raises(sdb.SdbError, match=r"refuses 'team/kv/data/app/one' with this token"):
        sdb.put("sdb://kv/team/kv/app/one?x", "y", opts)


def test_a_namespace_is_a_world_of_its_own(place: Place, server: RealVault) -> None:
    server.ask("POST", "sys/namespaces/other", {})
    headers = {"X-Vault-Namespace": "other"}
    server.ask("POST", "sys/mounts/kv", {"type": "kv", "options": {"version": "2"}}, **headers)
    server.ask("POST", "kv/data/app", {"data": {"inner": "team-only"}}, **headers)
    vault = {"server": {"url": server.url, "namespace": "other"}, "auth": {"token": ROOT}}
    done = shown(place, [{"vault": "path=kv/app"}], vault, "--show-secrets")
    assert json.loads(done.out)["local"]["inner"] == "team-only", done.err


def test_every_refusal_is_a_sentence_by_its_line_without_a_secret(
    place: Place, server: RealVault, garbage: str
) -> None:
    good = {"url": server.url, "auth": {"method": "token", "token": server.token()}}
    role = server.role("wrong")
    common: list[object] = [{"vault": "path=secret/common"}]
    cases: dict[str, tuple[dict[str, Any], list[object]]] = {
        "are role_id and secret_id right": (
            {"url": server.url, "auth": {**role, "secret_id": "wr0ng-one"}},
            common,
        ),
        "Vault refuses 'secret/common' with this token": (
            {"url": server.url, "auth": {"token": "wr0ng-one"}},
            common,
        ),
        "Vault refuses 'cubbyhole2/x' with this token": (good, [{"vault": "path=cubbyhole2/x"}]),
        "the method 'ldap' is not supported": ({"url": server.url, "auth": {"method": "ldap"}}, common),
        "no address of Vault": ({"auth": {"token": "x"}}, common),
        "it needs path=": (good, [{"vault": {"nesting_key": "x"}}]),
        "would lead to another path": (good, [{"vault": "path=secret/{grains[site]}"}]),
        "cannot be reached": ({**good, "url": "http://127.0.0.1:1"}, common),
        "its response is not HTTP, or is incomplete": ({**good, "url": garbage}, common),
    }
    for why, (config, asked) in cases.items():
        done = shown(place, asked, config, grains={"site": "../common"})
        assert done.code != 0, why
        assert why in done.err, done.err
        assert f"{place.base}/etc/saltern.yaml:1: " in done.err
        assert "wr0ng-one" not in done.err + done.out
