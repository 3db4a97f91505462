"""Files that the program sops has encrypted are read as sops itself reads them, whatever is in them."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyrage
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.e2e.command import Place
from tests.secrets.keyring import key_ring
from tests.secrets.real_sops import Refused, Sops, needs_sops, sops_home

from saltern.language.diagnostics import CompileError
from saltern.render.document import Job, Rendered
from saltern.render.sops import sops_text

pytestmark = needs_sops

YAML = """\
# of the whole file
db:
    # of the password
    password: hunter2222
    port: 5432
    ratio: 1.5
    on: true
    nothing: null
    empty: ""
    large: 123456789012345678901234567890
    octal: 0644
    day: 2026-01-02
list:
    - first1
    - deep: [second2, 7, {more: third3}]
lines: |
    -----BEGIN KEY-----
    abcdef
seen_unencrypted: {name: plain, n: 7, f: 2.0, e: 1e10, b: false, day: 2026-01-02, word: "yes"}
"""
DOTENV = "USER=app\nPASSWORD=s3cr3tly=\n# note\nEMPTY=\nLINES=a\\nb\nSEEN_unencrypted=x\\ny z\n"
INI = 'top = over all\n; note\n[db]\nuser = app\npassword = "a b"\nempty =\n[web]\nurl_unencrypted = a;b\n'
RULES: dict[str, tuple[str, ...]] = {
    "all": (),
    "unencrypted suffix": ("--unencrypted-suffix", "_unencrypted"),
    "encrypted suffix": ("--encrypted-suffix", "_encrypted"),
    "encrypted regex": ("--encrypted-regex", "^(password|li)"),
    "unencrypted regex": ("--unencrypted-regex", "^(port|list)$"),
    "encrypted by comments": ("--encrypted-comment-regex", "of the password"),
    "unencrypted by comments": ("--unencrypted-comment-regex", "of the password"),
    "MAC of encrypted values": ("--encrypted-regex", "^password$", "--mac-only-encrypted"),
}


@pytest.fixture(scope="module")
def sops() -> Iterator[Sops]:
    with sops_home() as made:
        yield made


def ours(text: str, **opts: object) -> Any:
    """As ``#!sops`` reads it."""
    job = Job(env="base", sls="x", name="x", file="x.sls", values={"opts": opts}, source=text)
    return sops_text(Rendered(text), job)


def read(sops: Sops, text: str) -> Any:
    return ours(text, sops_age_key_file=str(sops.keys))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("form", ["yaml", "json"])
def test_every_rule_of_what_is_encrypted(sops: Sops, form: str, rule: str) -> None:
    if rule.endswith("comments") and form == "json":
        return  # sops does not read them back: there are no comments in JSON
    text = sops.encrypted(YAML, form, *RULES[rule], given="yaml")
    assert ("hunter2222" in text) == (rule in ("encrypted suffix", "unencrypted by comments"))
    theirs = sops.decrypted(text, form)
    if rule == "MAC of encrypted values" and form == "yaml":
        theirs["seen_unencrypted"]["e"] = "1e+10"  # as YAML 1.1 has it, in plain text that no MAC is over
    assert read(sops, text) == theirs


@pytest.mark.parametrize(("form", "given"), [("dotenv", DOTENV), ("ini", INI), ("binary", "a\nb\n")])
def test_other_forms(sops: Sops, form: str, given: str) -> None:
    text = sops.encrypted(given, form)
    assert "s3cr3tly" not in text
    if form == "binary":
        assert read(sops, text) == {"data": given}
        return
    assert read(sops, text) == sops.decrypted(text, form)


words = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FF), max_size=12).filter(
    lambda word: word != "<<" and "e+" not in word  # the one has a tag of its own, the other may be a float
)
leaves = (
    words
    | st.sampled_from(["yes", "0644", "1:30", "2020-01-01", "~", "a: b", "#x", "- x", "a\nb\n", "NaN"])
    | st.integers(-(2**53), 2**53)  # JSON has no larger ones in sops
    | st.booleans()
    | st.floats(-1e12, 1e12).filter(bool)  # JSON's -0 is a float in sops, and the number 0 elsewhere
    | st.none()
)
names = st.sampled_from(["a", "pass", "user_unencrypted", "x y", "grün", "yes", "12"])
trees = st.dictionaries(
    names,
    st.recursive(
        leaves,
        lambda one: st.lists(one, max_size=3) | st.dictionaries(names, one, max_size=3),
        max_leaves=8,
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=30)
@given(trees, st.sampled_from(["yaml", "json"]), st.sampled_from(sorted(RULES)))
def test_any_data_is_read_as_sops_reads_it(sops: Sops, data: Mapping[str, Any], form: str, rule: str) -> None:
    try:
        text = sops.encrypted(json.dumps(data), form, *RULES[rule], given="json")
        theirs = sops.decrypted(text, form)
    except Refused:  # it does not read some of what it has written itself
        return
    if rule == "MAC of encrypted values" and "e+" in text:
        return  # as above
    assert read(sops, text) == theirs


def test_keys_of_ssh_and_openpgp_open_it(sops: Sops, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (tmp_path / ".ssh").mkdir()
    for name, phrase in (("id_ed25519", ""), ("locked", "phrase")):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", phrase, "-f", str(tmp_path / ".ssh" / name)]
        subprocess.run(command, check=True)
    public = (tmp_path / ".ssh/id_ed25519.pub").read_text().strip()
    text = sops.encrypted("a: hunter2222\n", "yaml", for_=public)
    assert ours(text) == {"a": "hunter2222"}
    locked = sops.encrypted("a: x\n", "yaml", for_=(tmp_path / ".ssh/locked.pub").read_text().strip())
    (tmp_path / ".ssh/locked").replace(tmp_path / ".ssh/id_ed25519")
    with pytest.raises(CompileError, match="has a passphrase, or is damaged"):
        ours(locked)
    with key_ring() as ring:
        listed = ring.run("--list-keys", "--with-colons").decode()
        print_ = next(row.split(":")[9] for row in listed.splitlines() if row.startswith("fpr"))
        given = ("--encrypt", "--pgp", print_, "--input-type", "yaml", "--output-type", "yaml")
        text = sops.run(*given, data="a: hunter2222\n", env={"GNUPGHOME": str(ring.path)})
        assert ours(text, gpg_keydir=str(ring.path)) == {"a": "hunter2222"}


def test_a_key_that_is_shared_between_groups_is_put_together(sops: Sops, tmp_path: Path) -> None:
    identities = [pyrage.x25519.Identity.generate() for _ in range(4)]
    keys = [str(one.to_public()) for one in identities]
    words = sops.key_groups([keys[:2], keys[2:3], keys[3:]], 2)

    def with_keys(text: str, *numbers: int) -> Any:
        (tmp_path / "keys").write_text("".join(f"{identities[number]}\n" for number in numbers))
        return ours(text, sops_age_key_file=str(tmp_path / "keys"))

    for form in ("yaml", "json", "dotenv"):
        given = "A=hunter2222\n" if form == "dotenv" else '{"A": "hunter2222"}'
        text = sops.encrypted(given, form, *words, for_="")
        for several in ((1, 2), (0, 3), (2, 3), (0, 1, 2, 3)):
            assert with_keys(text, *several) == {"A": "hunter2222"}
        with pytest.raises(CompileError, match="3 groups; 2 of them are needed and 1 are here"):
            with_keys(text, 0, 1)
    alone = sops.encrypted('{"A": "hunter2222"}', "json", *sops.key_groups([keys[:1]], 2), for_="")
    assert with_keys(alone, 0) == {"A": "hunter2222"}


def test_what_was_changed_without_sops_is_refused_by_both(sops: Sops) -> None:
    text = sops.encrypted(YAML, "yaml")
    lines = text.split("\n")
    at = next(number for number, line in enumerate(lines) if "password:" in line)
    port = next(number for number, line in enumerate(lines) if "port:" in line)
    swapped = [*lines]
    swapped[at] = lines[at].split(":")[0] + ":" + lines[port].split(":", 1)[1]
    cases = {
        "another plain value": text.replace("name: plain", "name: other"),
        "a value less": "\n".join(lines[:port] + lines[port + 1 :]),
        "a value more": text.replace("list:\n", "more_unencrypted: x\nlist:\n"),
        "a value of another place": "\n".join(swapped),
        "another time": text.replace('lastmodified: "2', 'lastmodified: "1'),
    }
    for case, changed in cases.items():
        assert changed != text, case
        with pytest.raises(Refused):
            sops.decrypted(changed, "yaml")
        with pytest.raises(CompileError) as refused:
            read(sops, changed)
        (problem,) = refused.value.diagnostics
        assert problem.where is not None, case
        assert problem.where.line > 1, case
        assert "hunter2222" not in str(problem)


def test_a_team_edits_its_pillar_with_sops(place: Place, sops: Sops) -> None:
    """A file is encrypted in place, opened by a run, changed by ``sops set``, and opened again."""
    made = place.base / "made"
    place.write(
        {
            "pillar/top.sls": "base: {'*': [secrets]}\n",
            "pillar/secrets.sls": "db: {password: hunter2222}\nport_unencrypted: 7\n",
            "main.sls": f"{made}:\n  file.managed:\n    - contents: '{{{{ pillar.db.password }}}}'\n",
            "etc/saltern.yaml": json.dumps(
                {"renderer": "jinja|yaml|sops", "sops_age_key_file": str(sops.keys)}
            ),
        }
    )
    file = place.base / "pillar" / "secrets.sls"
    file.write_text(sops.encrypted(file.read_text(), "yaml"))
    for value in ("hunter2222", "an0ther-one"):
        done = place.run("apply", "main")
        assert done.code == 0, done.err
        assert made.read_text() == f"{value}\n"
        assert value not in done.out + done.err
        copy = sops.home / "secrets.yaml"
        shutil.copy(file, copy)
        command = ["set", str(copy), '["db"]["password"]', '"an0ther-one"']
        subprocess.run([str(program()), *command], env=sops.env, check=True, capture_output=True)
        file.write_text(copy.read_text())


def program() -> str:
    from tests.secrets.real_sops import PROGRAM

    assert PROGRAM is not None
    return PROGRAM
