"""The renderer ``gpg`` with a real key ring, and the same pillar through Salt."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.e2e.command import Done, Place
from tests.secrets.keyring import KeyRing, indented, key_ring
from tests.secrets.salt_pillar import salt_pillar


def pillar_of(place: Place, ring: KeyRing, text: str, *words: str, **options: object) -> Done:
    given = {"gpg_keydir": str(ring.path), **options}
    place.write({"pillar/top.sls": "base: {'*': [data]}\n", "pillar/data.sls": text})
    place.write({"etc/saltern.yaml": json.dumps(given)})
    return place.run("show", "pillar", "--out", "json", *words)


def decrypted(place: Place, ring: KeyRing, text: str) -> Mapping[str, object]:
    done = pillar_of(place, ring, text, "--show-secrets")
    assert done.code == 0, done.err
    found: Mapping[str, object] = json.loads(done.out)["local"]
    return found


def by_salt(place: Place, ring: KeyRing, base: Path) -> Mapping[str, object]:
    config = base / "salt"
    config.mkdir()
    minion = {
        "file_client": "local",
        "id": "here",
        "gpg_keydir": str(ring.path),
        "root_dir": str(base / "salt-root"),
        "file_roots": {"base": [str(place.states)]},
        "pillar_roots": {"base": [str(place.base / "pillar")]},
    }
    (config / "minion").write_text(json.dumps(minion))
    return salt_pillar(config)


def shapes(ring: KeyRing) -> str:
    """A pillar with blocks in all the places where trees have them."""
    one_line = ring.encrypted("in one line").rstrip("\n").replace("\n", "\\n")
    return "\n".join(
        (
            "#!jinja|yaml|gpg",
            f"plain: {indented(ring.encrypted('hunter2'))}",
            f"ends: {indented(ring.encrypted('with an end of line' + chr(10)))}",
            f"lines: {indented(ring.encrypted('first' + chr(10) + 'second'))}",
            "deep:",
            "  - a: {b: [1, no, text]}",
            f"  - {indented(ring.encrypted('in a list'))}",
            f"  - c: {indented(ring.encrypted('grün'), 8)}",
            f"quoted: '{one_line}'",
            "within: |",
            *("  " + line for line in f"user = x\npass = {ring.encrypted('inside')}tail".split("\n")),
            f"empty: {indented(ring.encrypted(' '))}",
            "number: {{ 40 + 2 }}",
            "",
        )
    )


def test_values_are_decrypted_wherever_they_stand_and_as_salt_does(
    place: Place, ring: KeyRing, tmp_path: Path
) -> None:
    text = shapes(ring)
    ours = decrypted(place, ring, text)
    assert ours["plain"] == "hunter2"
    assert ours["deep"] == [{"a": {"b": [1, False, "text"]}}, "in a list", {"c": "grün"}]
    assert ours["within"] == "user = x\npass = inside\ntail"
    assert by_salt(place, ring, tmp_path) == ours


def test_a_whole_text_may_be_encrypted_and_is_read_afterwards(place: Place, ring: KeyRing) -> None:
    inner = ring.encrypted("db:\n  user: app\n  password: s3cr3tly\n")
    text = f"#!gpg|jinja|yaml\n{inner}more: {{{{ 1 + 1 }}}}\n"
    assert decrypted(place, ring, text) == {"db": {"user": "app", "password": "s3cr3tly"}, "more": 2}
    masked = pillar_of(place, ring, text)
    assert "s3cr3tly" not in masked.out


def test_binary_values_are_bytes(ring: KeyRing, tmp_path: Path) -> None:
    from saltern.config.settings import Settings
    from saltern.engine.session import Session

    data = bytes(range(256)) + b"\n"
    (tmp_path / "top.sls").write_text("base: {'*': [data]}\n")
    (tmp_path / "data.sls").write_text(f"#!yaml|gpg\nkey: {indented(ring.encrypted(data))}\n")
    settings = Settings(pillar_roots={"base": [str(tmp_path)]}, gpg_keydir=str(ring.path), file_roots={})
    session = Session(settings)
    session.load_pillar()
    assert session.pillar["key"] == data.rstrip(b"\n")


def test_state_files_and_templates_have_the_renderer_too(place: Place, ring: KeyRing) -> None:
    block = indented(ring.encrypted("from a state"), 10)
    place.write({"etc/saltern.yaml": json.dumps({"gpg_keydir": str(ring.path)})})
    place.write({"main.sls": f"#!yaml|gpg\n{place.base}/made:\n  file.managed:\n    - contents: {block}\n"})
    done = place.run("apply", "main")
    assert done.code == 0, done.out
    assert (place.base / "made").read_text() == "from a state\n"
    assert "from a state" not in done.out + done.err


def damaged(block: str) -> str:
    lines = block.split("\n")
    middle = len(lines) // 2
    lines[middle] = lines[middle][::-1]
    return "\n".join(lines)


def test_what_cannot_be_decrypted_is_reported_by_file_and_line(place: Place, ring: KeyRing) -> None:
    good = ring.encrypted("s3cr3tly")
    with key_ring() as other:
        foreign = other.encrypted("s3cr3tly")
    blocks = {"a": good, "b": damaged(good), "c": foreign, "d": "\n".join(good.split("\n")[:3]) + good[-28:]}
    text = "#!yaml|gpg\n" + "".join(f"{key}: {indented(block)}\n" for key, block in blocks.items())
    done = pillar_of(place, ring, text)
    assert done.code != 0
    lines = [number for number, row in enumerate(text.split("\n"), 1) if "BEGIN PGP" in row]
    for line in lines[1:]:
        assert f"data.sls:{line}: " in done.err
    assert f"data.sls:{lines[0]}: " not in done.err
    assert "damaged" in done.err
    assert f"the key ring {ring.path} lacks the secret key" in done.err
    assert "s3cr3tly" not in done.err + done.out


@pytest.mark.parametrize("case", ["no directory", "empty", "passphrase", "no gpg"])
def test_a_key_ring_that_cannot_be_used_is_reported_and_nothing_hangs(
    place: Place, ring: KeyRing, case: str
) -> None:
    text = f"#!yaml|gpg\n\na: {indented(ring.encrypted('s3cr3tly'))}\n"
    words = {
        "no directory": "there is no key ring",
        "empty": "lacks the secret key",
        "passphrase": "without its passphrase",
        "no gpg": "install gnupg",
    }
    with key_ring(key=case == "passphrase", passphrase="abc") as other:
        if case == "no directory":
            other.path = other.path / "none"
        if case == "passphrase":
            text = f"#!yaml|gpg\n\na: {indented(other.encrypted('s3cr3tly'))}\n"
            subprocess.run(["gpgconf", "--homedir", str(other.path), "--kill", "all"], check=False)
        used = ring if case == "no gpg" else other
        env = {"PATH": "/nowhere"} if case == "no gpg" else None
        pillar_of(place, used, text)
        done = place.run("show", "pillar", env=env)
    assert done.code != 0
    assert words[case] in done.err
    assert "data.sls:4" in done.err


def test_with_must_succeed_off_a_block_stays_and_is_reported(place: Place, ring: KeyRing) -> None:
    text = f"#!yaml|gpg\na: {indented(damaged(ring.encrypted('x')))}\nb: {indented(ring.encrypted('yes!'))}\n"
    done = pillar_of(place, ring, text, "--show-secrets", gpg_decrypt_must_succeed=False)
    assert done.code == 0
    found = json.loads(done.out)["local"]
    assert found["a"].startswith("-----BEGIN PGP MESSAGE-----")
    assert found["b"] == "yes!"
    place.write({"main.sls": "a: test.nop\n"})
    applied = place.run("apply", "main")
    assert applied.code == 0
    assert "data.sls:3" in applied.err


def test_many_values_of_a_file_are_one_process_of_gpg(place: Place, ring: KeyRing, tmp_path: Path) -> None:
    """And what is decrypted once is not decrypted again, in a run."""
    real = subprocess.run(["sh", "-c", "command -v gpg"], capture_output=True, text=True, check=True)
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "gpg").write_text(f'#!/bin/sh\necho x >> {tmp_path}/calls\nexec {real.stdout.strip()} "$@"\n')
    (programs / "gpg").chmod(0o755)
    blocks = [ring.encrypted(f"value {number}") for number in range(5)]
    rows = [f"k{number}: {indented(blocks[number % 5])}" for number in range(300)]
    place.write({"pillar/more.sls": f"#!yaml|gpg\nagain: {indented(blocks[0])}\n"})
    text = "include: [more]\n" + "\n".join(rows) + "\n"
    pillar_of(place, ring, f"#!yaml|gpg\n{text}")
    env = {"PATH": f"{programs}:{os.environ['PATH']}"}
    (tmp_path / "calls").unlink(missing_ok=True)
    done = place.run("show", "pillar", "--out", "json", "--show-secrets", env=env)
    assert done.code == 0, done.err
    found = json.loads(done.out)["local"]
    assert [found[f"k{number}"] for number in range(300)] == [f"value {number % 5}" for number in range(300)]
    assert len((tmp_path / "calls").read_text().split()) == 1


def test_an_untrusted_tree_uses_no_keys(place: Place, ring: KeyRing) -> None:
    block = indented(ring.encrypted("s3cr3tly"))
    place.write({"main.sls": f"#!yaml|gpg\na: {block}\n"})
    place.write({"etc/saltern.yaml": json.dumps({"gpg_keydir": str(ring.path)})})
    done = place.run("check", "--untrusted", "main")
    assert "uses the keys of this machine" in done.out + done.err
    assert "s3cr3tly" not in done.out + done.err
