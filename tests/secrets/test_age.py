"""The renderer ``age``: blocks in values and in texts, encrypted by the program age."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pyrage
import pytest
from tests.e2e.command import Done, Place
from tests.secrets.keyring import indented

needs_age = pytest.mark.skipif(shutil.which("age") is None, reason="age is not installed: make machine")


def encrypted(text: str, recipient: object) -> str:
    command = ["age", "--armor", "--recipient", str(recipient)]
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=True).stdout


def shown(place: Place, text: str, identity: object, *words: str) -> Done:
    keys = place.base / "etc" / "age" / "keys.txt"  # beside the configuration
    keys.parent.mkdir(parents=True, exist_ok=True)
    keys.write_text(f"{identity}\n")
    place.write(
        {"pillar/top.sls": "base: {'*': [data]}\n", "pillar/data.sls": text, "etc/saltern.yaml": "{}"}
    )
    return place.run("show", "pillar", "--out", "json", *words, env={"HOME": str(place.base)})


@needs_age
@pytest.mark.parametrize("name", ["age", "sops"])
def test_blocks_in_values_are_decrypted_and_masked(
    place: Place, identity: pyrage.x25519.Identity, name: str
) -> None:
    one, two = (encrypted(word, identity.to_public()) for word in ("hunter2222", "first\nsecond\n"))
    text = (
        f"#!jinja|yaml|{name}\nplain: {{{{ 1 + 1 }}}}\ndb:\n  - user: app\n    password: {indented(one, 8)}\n"
        f"lines: {indented(two)}\nwithin: |\n"
        + "".join(f"  {line}\n" for line in f"user = x\npass = {one}tail".split("\n"))
        + f'quoted: "{one.strip()}"\n'.replace("\n", "\\n")[:-2]
        + "\n"
    )
    done = shown(place, text, identity, "--show-secrets")
    assert done.code == 0, done.err
    assert json.loads(done.out)["local"] == {
        "plain": 2,
        "db": [{"user": "app", "password": "hunter2222"}],
        "lines": "first\nsecond",
        "within": "user = x\npass = hunter2222\ntail",
        "quoted": "hunter2222",
    }
    masked = shown(place, text, identity)
    assert "hunter2222" not in masked.out
    assert json.loads(masked.out)["local"]["db"] == [{"user": "app", "password": "***"}]


@needs_age
@pytest.mark.parametrize("pipe", ["age|jinja|yaml", "sops|jinja|yaml"])
def test_a_whole_file_may_be_a_block(place: Place, identity: pyrage.x25519.Identity, pipe: str) -> None:
    text = f"#!{pipe}\n" + encrypted("a: hunter2222\nn: {{ 40 + 2 }}\npin: 74120953\n", identity.to_public())
    done = shown(place, text, identity, "--show-secrets")
    assert json.loads(done.out)["local"] == {"a": "hunter2222", "n": 42, "pin": 74120953}, done.err
    masked = shown(place, text, identity)
    assert json.loads(masked.out)["local"] == {"a": "***", "n": 42, "pin": "***"}


@needs_age
def test_what_cannot_be_decrypted_is_reported_by_file_and_line(
    place: Place, identity: pyrage.x25519.Identity, tmp_path: Path
) -> None:
    good = encrypted("hunter2222", identity.to_public())
    foreign = encrypted("hunter2222", pyrage.x25519.Identity.generate().to_public())
    lines = good.split("\n")
    lines[2] = lines[2][::-1]
    text = f"#!yaml|age\na: {indented(good)}\nb: {indented(foreign)}\nc: {indented(chr(10).join(lines))}\n"
    done = shown(place, text, identity)
    begins = [number for number, row in enumerate(text.split("\n"), 1) if "BEGIN AGE" in row]
    assert done.code != 0
    assert [f"data.sls:{line}: " in done.err for line in begins] == [False, True, True]
    assert "[age-decrypt]" in done.err
    assert "hunter2222" not in done.err + done.out
    none = shown(place, text, "")
    assert "there is no age key: searched" in none.err
    broken = shown(place, text, "AGE-SECRET-KEY-1ABC")
    assert "a line of the age keys is damaged" in broken.err


def test_without_pyrage_the_package_to_install_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from saltern.language.diagnostics import CompileError
    from saltern.render.age import age
    from saltern.render.document import Job

    block = pyrage.encrypt(b"x", [pyrage.x25519.Identity.generate().to_public()], armored=True).decode()
    monkeypatch.setitem(sys.modules, "pyrage", None)
    monkeypatch.setenv("SOPS_AGE_KEY", "AGE-SECRET-KEY-1ABC")
    job = Job(env="base", sls="x", name="x", file="x.sls", values={"opts": {}}, source="")
    with pytest.raises(CompileError) as refused:
        age({"a": block}, job)
    assert "saltern[secrets]" in refused.value.diagnostics[0].fix
