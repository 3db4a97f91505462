"""Completion: the candidates, and the scripts in real shells."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from saltern.cli.candidates import FILES, candidates
from saltern.cli.commands import COMMANDS


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("top", "web/init", "web/tls", "db"):
        file = tmp_path / "states" / f"{name}.sls"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{{ never rendered\n")
    (tmp_path / "saltern.yaml").write_text(f"file_roots: {{base: [states]}}\nstate_dir: {tmp_path}/state\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "current", "expected"),
    [
        ([], "pl", ["plan"]),
        ([], "--v", ["--version"]),
        (["apply"], "", ["db", "web", "web.tls"]),
        (["apply", "db"], "web", ["web", "web.tls"]),
        (["apply", "--test"], "d", ["db"]),
        (["apply"], "--file", ["--file-root"]),
        (["apply", "--out"], "js", ["json", "jsonl"]),
        (["apply"], "--out=js", ["--out=json", "--out=jsonl"]),
        (["apply", "--grains"], "x", [FILES]),
        (["show"], "to", ["top"]),
        (["show", "rendered"], "d", ["db"]),
        (["single"], "file.man", ["file.managed"]),
        (["call"], "test.pin", ["test.ping"]),
        (["chain", "run"], "", [FILES]),
        (["resume"], "l", ["last"]),
        (["apply", "--saltenv"], "", ["base"]),
        (["no-such-command"], "", []),
        (["apply", "--file-root", "/nonexistent"], "", []),
    ],
)
def test_what_may_come_next(tree: Path, words: list[str], current: str, expected: list[str]) -> None:
    assert candidates(words, current) == expected


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_its_options(command: str) -> None:
    assert "--help" in candidates([command], "--")


def test_a_configuration_that_is_wrong_gives_no_candidates(tree: Path) -> None:
    (tree / "saltern.yaml").write_text("file_roots: [[[\n")
    assert candidates(["apply"], "") == []


def environment(tree: Path) -> dict[str, str]:
    program = tree / "bin" / "saltern"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m saltern "$@"\n')
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(tree)}


def test_bash_completes(tree: Path) -> None:
    script = (
        "source <(saltern completion bash)\n"
        "COMP_WORDS=(saltern apply --test we) COMP_CWORD=3\n"
        "_saltern\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n"
        "COMP_WORDS=(saltern apply --config sal) COMP_CWORD=3\n"
        "_saltern\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n"
    )
    done = subprocess.run(
        ["bash", "-c", script], cwd=tree, env=environment(tree), capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["web", "web.tls", "saltern.yaml"]


@pytest.mark.skipif(not shutil.which("zsh"), reason="needs zsh")
def test_zsh_completes(tree: Path) -> None:
    script = (
        "autoload -Uz compinit; compinit -u -D\n"
        'compadd() { [[ $1 == -a ]] && print -l -- "${(@P)3}" }\n'
        'eval "$(saltern completion zsh)"\n'
        "words=(saltern apply we) CURRENT=3\n_saltern\n"
    )
    done = subprocess.run(
        ["zsh", "-f", "-c", script],
        cwd=tree,
        env=environment(tree),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["web", "web.tls"], done.stderr


@pytest.mark.skipif(not shutil.which("fish"), reason="needs fish")
def test_fish_completes(tree: Path) -> None:
    script = "saltern completion fish | source\ncomplete -C 'saltern apply we'\n"
    done = subprocess.run(
        ["fish", "--no-config", "-c", script],
        cwd=tree,
        env=environment(tree),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["web", "web.tls"]
