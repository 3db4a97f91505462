"""``augeas`` with the real augtool, below a root of its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.modules.bench import Bench

from saltern.language.result import Outcome
from saltern.modules.functions import augeas as augeas_functions
from saltern.modules.states import augeas

pytestmark = pytest.mark.skipif(shutil.which("augtool") is None, reason="needs augtool (augeas-tools)")
TEXT = "127.0.0.1 localhost lo me\n::1 ip6\n"


@pytest.fixture
def hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "root" / "etc" / "hosts"
    file.parent.mkdir(parents=True)
    file.write_text(TEXT)
    monkeypatch.setenv("AUGEAS_ROOT", str(tmp_path / "root"))
    return file


@pytest.fixture
def bench(tmp_path: Path, hosts: Path) -> Bench:
    del hosts
    return Bench(tmp_path, augeas, functions={"augeas": augeas_functions})


@pytest.fixture
def call(bench: Bench) -> Callable[..., object]:
    return lambda name, *args, **kwargs: bench.run.functions[f"augeas.{name}"](*args, **kwargs)


def test_values_are_read(call: Callable[..., object]) -> None:
    top = "/files/etc/hosts"
    assert call("get", f"{top}/1/canonical") == {f"{top}/1/canonical": "localhost"}
    assert call("get", f"{top}/1", "ipaddr") == {f"{top}/1/ipaddr": "127.0.0.1"}
    assert call("get", f"{top}/9/ipaddr") == {f"{top}/9/ipaddr": None}
    assert call("match", f"{top}/*/canonical", "ip6") == {f"{top}/2/canonical": "ip6"}
    assert call("match", f"{top}/1/alias") == {f"{top}/1/alias[1]": "lo", f"{top}/1/alias[2]": "me"}
    assert call("ls", top) == {"1/": "", "2/": ""}
    assert call("ls", f"{top}/2") == {"ipaddr": "::1", "canonical": "ip6"}
    assert call("tree", f"{top}/1") == {
        f"{top}/1": "",
        f"{top}/1/ipaddr": "127.0.0.1",
        f"{top}/1/canonical": "localhost",
        f"{top}/1/alias[1]": "lo",
        f"{top}/1/alias[2]": "me",
    }


def test_values_are_set_and_removed(call: Callable[..., object], hosts: Path) -> None:
    assert call("setvalue", "2/canonical", "six", "2/alias", "sechs", prefix="/files/etc/hosts") == {
        "retval": True
    }
    assert hosts.read_text() == "127.0.0.1 localhost lo me\n::1 six sechs\n"
    assert call("remove", "/files/etc/hosts/*[ipaddr='127.0.0.1']") == {"retval": 5}
    assert hosts.read_text() == "::1 six sechs\n"
    assert call("remove", "/files/etc/hosts/77") == {"retval": 0, "error": "Invalid node"}


@pytest.mark.parametrize(
    "commands",
    [
        ["set 1/canonical other", "zork 1"],
        ["set 1/canonical other", "set 2/canonical"],
        ["set 1/canonical other", "set 2/canonical 'two words'"],
        ["set 1/canonical other", "rm '1['"],
        ["set 1/canonical other", "set 'open"],
    ],
    ids=str,
)
def test_all_commands_or_none(call: Callable[..., object], hosts: Path, commands: list[str]) -> None:
    done = call("execute", "/files/etc/hosts", commands=commands)
    assert isinstance(done, dict) and done["retval"] is False and done["error"]
    assert hosts.read_text() == TEXT


CHANGES = {
    "set": (["set 1/canonical other", "setm * alias same"], "127.0.0.1 other same same\n::1 ip6 same\n"),
    "insert": (
        ["ins 01 before 1", "set 01/ipaddr 192.0.2.7", "set 01/canonical new"],
        f"192.0.2.7\tnew\n{TEXT}",
    ),
    "rm": (["rm \"*[canonical='ip6']\""], "127.0.0.1 localhost lo me\n"),
    "move": (["move 1/alias[2] 2/alias"], "127.0.0.1 localhost lo\n::1 ip6 me\n"),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_state_foretells_its_diff(bench: Bench, hosts: Path, case: str) -> None:
    commands, text = CHANGES[case]
    words: dict[str, Any] = {"context": "/files/etc/hosts", "changes": commands}
    foretold = bench.call("change", "it", test=True, **words)
    assert foretold.outcome is Outcome.WOULD_CHANGE and hosts.read_text() == TEXT
    done = bench.call("change", "it", **words)
    assert (done.outcome, done.changes) == (Outcome.OK, foretold.changes)
    assert hosts.read_text() == text


def test_what_is_so_already_changes_nothing(bench: Bench, hosts: Path) -> None:
    same = bench.call("change", "/files/etc/hosts/1", changes=["set canonical localhost"])
    assert (same.outcome, same.changes, hosts.read_text()) == (Outcome.OK, {}, TEXT)


def test_a_lens_for_a_file_elsewhere(bench: Bench, hosts: Path) -> None:
    other = hosts.parent / "mine"
    other.write_text(TEXT)
    words: dict[str, Any] = {
        "context": "/files/etc/mine",
        "lens": "Hosts.lns",
        "changes": ["rm 2", "set 1/alias[2] us"],
    }
    bench.change("change", "it", **words)
    assert other.read_text() == "127.0.0.1 localhost lo us\n" and hosts.read_text() == TEXT


words = st.text(
    st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="#"), min_size=1, max_size=12
)


@given(st.lists(words, min_size=10, max_size=30))
@settings(max_examples=3, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_word_survives(call: Callable[..., object], hosts: Path, some: list[str]) -> None:
    """Many words in one call: augtool takes a second to load its files."""
    hosts.write_text("".join(f"127.0.0.{number} name\n" for number in range(1, len(some) + 1)))
    paths = [f"/files/etc/hosts/{number}/canonical" for number in range(1, len(some) + 1)]
    pairs = [part for path, word in zip(paths, some, strict=True) for part in (path, word)]
    assert call("setvalue", *pairs) == {"retval": True}
    assert [line.split(" ", 1)[1] for line in hosts.read_text().splitlines()] == some
    assert call("match", "/files/etc/hosts/*/canonical") == dict(zip(paths, some, strict=True))


def test_an_augtool_without_preview_is_refused_before_anything_is_changed(
    bench: Bench, hosts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "bin" / "augtool"
    old.parent.mkdir()
    old.write_text(
        "#!/bin/sh\ntext=$(cat)\n"
        "case $text in *preview*)\n"
        "printf 'error: Failed to execute command\\n%s' \"Unknown command 'preview'\" >&2; exit 1;; esac\n"
        f'printf \'%s\\n\' "$text" | {shutil.which("augtool")} "$@"\n'
    )
    old.chmod(0o755)
    monkeypatch.setenv("PATH", str(old.parent), prepend=":")
    words: dict[str, Any] = {"context": "/files/etc/hosts", "changes": ["set 1/canonical other"]}
    for test in (True, False):
        refused = bench.call("change", "it", test=test, **words)
        assert refused.outcome is Outcome.FAILED and "install Augeas 1.14 or newer" in refused.comment
    assert hosts.read_text() == TEXT


def test_paths_may_be_whole_and_values_missing(bench: Bench, hosts: Path) -> None:
    top = "/files/etc/hosts"
    bench.change("change", top, changes=[f"set {top}/1/canonical whole"])
    assert "127.0.0.1 whole lo me\n" in hosts.read_text()
    bench.change("change", "x", context=top, changes=[f"mv 2 {top}/01", "set 01/canonical six"])
    assert hosts.read_text().splitlines()[-1].split() == ["::1", "six"]
    settings = hosts.with_name("settings")
    settings.write_text("A=1\n")
    own: dict[str, Any] = {"context": "/files/etc/settings", "lens": "Shellvars.lns", "load_path": ["/none"]}
    bench.change("change", "x", changes=["set A/export"], **own)
    assert settings.read_text() == "export A=1\n"
    bench.change("change", "x", changes=["setm . A 2"], **own)
    assert settings.read_text() == "export A=2\n"


OF_LENS = {"context": "/files/etc/settings", "lens": "Shellvars.lns", "changes": ["set A 1"]}
OF_PATH = {"context": "/files/etc/hosts.deny", "changes": ["set 1/process ALL", "set 1/client ALL"]}


@pytest.mark.parametrize(("args", "text"), [(OF_LENS, "A=1\n"), (OF_PATH, "ALL: ALL\n")])
def test_a_file_is_made(bench: Bench, hosts: Path, args: dict[str, Any], text: str) -> None:
    bench.change("change", "x", **args)
    assert hosts.with_name(Path(args["context"]).name).read_text() == text
    bench.same("change", "x", **args)
