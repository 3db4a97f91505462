"""The renderer ``sops``: files for age keys, files that sops itself has written, and the MAC."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pyrage
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.e2e.command import Done, Place
from tests.secrets.keyring import key_ring
from tests.secrets.sops_file import SopsFile

from saltern.language.diagnostics import CompileError
from saltern.render.document import Job, Rendered
from saltern.render.sops import sops, sops_text
from saltern.render.sops_values import Damaged, decrypt_all

RECORDED = Path(__file__).parent / "recorded"
DATA = {
    "db": {"password": "s3cr3tly", "port": 5432, "ratio": 1.5, "on": True, "none": "", "nothing": None},
    "list": ["first1", {"deep": "second2"}, 12345678901],
    "seen_unencrypted": {"name": "plain", "n": 7, "f": 2.0, "b": False},
}


def shown(place: Place, text: str, identity: object, *words: str, name: str = "data") -> Done:
    (place.base / "keys.txt").write_text(f"# created: today\n{identity}\n")
    place.write({"pillar/top.sls": f"base: {{'*': [{name}]}}\n", f"pillar/{name}.sls": text})
    place.write({"etc/saltern.yaml": json.dumps({"sops_age_key_file": str(place.base / "keys.txt")})})
    return place.run("show", "pillar", "--out", "json", *words)


@pytest.mark.parametrize("pipe", ["sops", "json|sops", "yaml|sops", "jinja|yaml|sops"])
def test_a_file_of_sops_is_pillar_and_its_values_are_masked(
    place: Place, identity: pyrage.x25519.Identity, pipe: str
) -> None:
    file = SopsFile(DATA, identity.to_public(), unencrypted_suffix="_unencrypted")
    text = f"#!{pipe}\n{file.json()}\n"
    done = shown(place, text, identity, "--show-secrets")
    assert done.code == 0, done.err
    assert json.loads(done.out)["local"] == DATA
    masked = place.run("show", "pillar", "--out", "json")
    assert "s3cr3tly" not in masked.out
    assert json.loads(masked.out)["local"]["seen_unencrypted"] == DATA["seen_unencrypted"]


def test_dotenv_is_read_too(place: Place, identity: pyrage.x25519.Identity) -> None:
    data = {"USER": "app", "PASSWORD": "s3cr3tly=", "EMPTY": ""}
    file = SopsFile(data, identity.to_public())
    done = shown(place, f"#!sops\n{file.dotenv()}", identity, "--show-secrets")
    assert done.code == 0, done.err
    assert json.loads(done.out)["local"] == data


def test_a_file_without_the_entry_passes_as_it_is(place: Place, identity: pyrage.x25519.Identity) -> None:
    done = shown(place, "#!jinja|yaml|sops\na: {b: 1}\n", identity)
    assert json.loads(done.out)["local"] == {"a": {"b": 1}}


@pytest.mark.parametrize("name", ["format.enc.yaml", "format.enc.json", "format.enc.env"])
def test_files_that_sops_has_written_are_opened_with_the_key_ring(name: str) -> None:
    text = (RECORDED / name).read_text()
    with key_ring(key=False) as ring:
        ring.run("--import", str(RECORDED / "key.asc"))
        opts = {"gpg_keydir": str(ring.path)}
        job = Job(env="base", sls="x", name=name, file=name, values={"opts": opts}, source=text)
        found = sops_text(Rendered(text), job)
    assert isinstance(found, Mapping)
    assert [str(value).strip() for value in found.values()] == ["bar"]


def changed(whole: dict[str, object], case: str) -> dict[str, object]:
    """A file that was changed without sops."""
    copy: dict[str, object] = json.loads(json.dumps(whole))
    db = copy["db"]
    assert isinstance(db, dict)
    if case == "a value is another":
        db["password"] = db["password"].replace("data:", "data:AAAA", 1)
    elif case == "two values are exchanged":
        db["password"], db["port"] = db["port"], db["password"]
    elif case == "a plain value is another":
        copy["seen_unencrypted"] = {"name": "other", "n": 7, "f": 2.0, "b": False}
    elif case == "one is missing":
        del db["port"]
    elif case == "one is not encrypted":
        db["password"] = "plainly"
    elif case == "another type":
        db["password"] = db["password"].replace("type:str", "type:int")
    elif case == "a type that there is not":
        db["password"] = db["password"].replace("type:str", "type:colour")
    about = copy["sops"]
    assert isinstance(about, dict)
    if case == "no MAC":
        del about["mac"]
    if case == "an expression that is none":
        about["encrypted_regex"] = "^(pass"
    if case == "groups that are not counted":
        about |= {"key_groups": [{"age": []}, {"age": []}], "shamir_threshold": "two"}
    return copy


@pytest.mark.parametrize(
    "case",
    [
        "a value is another",
        "two values are exchanged",
        "a plain value is another",
        "one is missing",
        "one is not encrypted",
        "another type",
        "a type that there is not",
        "no MAC",
        "an expression that is none",
        "groups that are not counted",
    ],
)
def test_a_file_that_was_changed_is_refused_with_its_line(
    place: Place, identity: pyrage.x25519.Identity, case: str
) -> None:
    file = SopsFile(DATA, identity.to_public(), unencrypted_suffix="_unencrypted")
    text = json.dumps(changed(file.whole, case), indent=1)
    done = shown(place, f"#!sops\n{text}", identity)
    assert done.code != 0
    assert "[sops-decrypt]" in done.err
    assert "data.sls:" in done.err
    assert "s3cr3tly" not in done.err + done.out


@pytest.mark.parametrize("case", ["another key", "no key", "a cloud"])
def test_without_the_key_a_sentence_says_what_is_missing(
    place: Place, identity: pyrage.x25519.Identity, case: str
) -> None:
    file = SopsFile({"a": "s3cr3tly"}, identity.to_public())
    words = {
        "another key": "this machine has no age key for age1",
        "no key": "there is no age key",
        "a cloud": "gcp_kms are not supported",
    }
    if case == "a cloud":
        file.about = {"gcp_kms": [{"resource_id": "x", "enc": "y"}], "mac": file.about["mac"]}
    other = pyrage.x25519.Identity.generate()
    done = shown(place, f"#!sops\n{file.json()}", "" if case == "no key" else other)
    if case == "no key":
        (place.base / "keys.txt").unlink()
        done = place.run("show", "pillar")
    assert done.code != 0
    assert words[case] in done.err
    assert "data.sls:" in done.err


keys = st.text(st.characters(codec="utf-8", exclude_characters=":\0"), min_size=1, max_size=8).filter(
    lambda key: key != "sops"
)
leaves = (
    st.text(max_size=20) | st.integers(-(2**40), 2**40) | st.booleans() | st.floats(-1e9, 1e9) | st.none()
)
trees = st.dictionaries(
    keys,
    st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3)
    ),
)
RULES: tuple[dict[str, object], ...] = (
    {},
    {"unencrypted_suffix": "e"},
    {"encrypted_suffix": "e"},
    {"encrypted_regex": "^[a-m]"},
    {"unencrypted_regex": "^[a-m]"},
    {"encrypted_regex": "^[a-m]", "mac_only_encrypted": True},
)


@given(trees, st.sampled_from(RULES))
def test_any_data_comes_back_by_every_rule_of_what_is_encrypted(
    data: dict[str, object], rule: dict[str, object]
) -> None:
    file = SopsFile(data, **rule)
    assert isinstance(file.values, dict)
    assert decrypt_all(file.values, file.about, file.key).data == data
    if "mac_only_encrypted" not in rule and data:
        less = {key: value for key, value in file.values.items() if key != next(iter(data))}
        counted = [value for key, value in data.items() if key not in less and _counts(value)]
        if counted:
            with pytest.raises(Damaged):
                decrypt_all(less, file.about, file.key)


def _counts(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_counts, value.values()))
    return any(map(_counts, value)) if isinstance(value, list) else value not in ("", None)


def test_without_pyrage_the_package_to_install_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    identity = pyrage.x25519.Identity.generate()
    file = SopsFile({"a": "x"}, identity.to_public())
    monkeypatch.setitem(sys.modules, "pyrage", None)
    job = Job(env="base", sls="x", name="x", file="x.sls", values={"opts": {}}, source="")
    with pytest.raises(CompileError) as refused:
        sops(file.whole, job)
    assert "saltern[secrets]" in refused.value.diagnostics[0].fix
