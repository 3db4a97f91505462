"""``apply --ask`` at a real terminal, ``--diff``, and pillar from a file."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

SLS = "{{ pillar['target'] }}/a.txt:\n  file.managed:\n    - contents: hello\n    - makedirs: true\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "states").mkdir()
    (tmp_path / "states/web.sls").write_text(SLS)
    (tmp_path / "pillar.yaml").write_text(f"target: {tmp_path}/out\n")
    return tmp_path


def command(tree: Path, *words: str) -> list[str]:
    own = ["--file-root", f"{tree}/states", "--pillar", f"{tree}/pillar.yaml"]
    return [sys.executable, "-m", "saltern", "apply", "web", *own, *words]


def environment(tree: Path) -> dict[str, str]:
    return {**os.environ, "SALTERN_STATE_DIR": f"{tree}/state", "HOME": str(tree)}


def at_a_terminal(tree: Path, answer: str, *words: str) -> tuple[int, str]:
    """The exit code and what was printed, with ``answer`` typed at the prompt."""
    ours, theirs = pty.openpty()
    done = subprocess.Popen(
        command(tree, "--ask", *words),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment(tree),
    )
    os.close(theirs)
    os.write(ours, answer.encode())
    output, _ = done.communicate()
    os.close(ours)
    return done.returncode, output.decode()


def test_yes_applies_what_was_shown(tree: Path) -> None:
    code, output = at_a_terminal(tree, "y\n")
    assert (code, (tree / "out/a.txt").read_text()) == (0, "hello\n"), output
    assert output.index("+hello") < output.index("Apply this? [y/N]") < output.index("Result: True")


@pytest.mark.parametrize("way", ["configuration", "option"])
def test_a_plan_that_must_be_signed_is_not_asked_for(tree: Path, way: str) -> None:
    """It would be refused after the person has agreed; so it is before anything is rendered."""
    signers = tree / "signers"
    signers.write_text("")
    (tree / "saltern.yaml").write_text(f"plan_signers: {signers}\n" if way == "configuration" else "")
    (tree / "states/web.sls").write_text("{{ salt['file.touch']('" + f"{tree}/rendered" + "') }}\n" + SLS)
    words = ["--config", f"{tree}/saltern.yaml", *(["--verify", str(signers)] if way == "option" else [])]
    code, output = at_a_terminal(tree, "y\n", *words)
    assert code == 1
    assert "[plan-signature]" in output
    assert "--ask applies a plan that is not signed" in output
    assert "Apply this?" not in output
    assert not (tree / "rendered").exists()
    assert not (tree / "out").exists()


@pytest.mark.parametrize("answer", ["n\n", "\n", "\x04"])
def test_anything_else_applies_nothing(tree: Path, answer: str) -> None:
    code, output = at_a_terminal(tree, answer)
    assert code == 1
    assert "nothing was applied" in output
    assert not (tree / "out").exists()


def test_without_a_terminal_it_is_refused(tree: Path) -> None:
    done = subprocess.run(
        command(tree, "--ask"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment(tree),
        check=False,
    )
    assert done.returncode == 1
    assert "--ask needs a terminal" in done.stderr
    assert not (tree / "out").exists()


@pytest.mark.parametrize(("words", "shown"), [((), False), (("--diff",), True)])
def test_diff_shows_the_content_of_new_files(tree: Path, words: tuple[str, ...], shown: bool) -> None:
    done = subprocess.run(
        command(tree, *words), capture_output=True, text=True, env=environment(tree), check=True
    )
    assert ("+hello" in done.stdout) is shown


def test_a_pillar_file_that_is_missing_is_reported(tree: Path) -> None:
    (tree / "pillar.yaml").unlink()
    done = subprocess.run(command(tree), capture_output=True, text=True, env=environment(tree), check=False)
    assert done.returncode == 1
    assert "no file has that name" in done.stderr


def test_a_mistake_in_a_pillar_file_has_its_line(tree: Path) -> None:
    (tree / "pillar.yaml").write_text("a: 1\nb: [\n")
    done = subprocess.run(command(tree), capture_output=True, text=True, env=environment(tree), check=False)
    assert done.returncode == 1
    assert f"{tree}/pillar.yaml:3" in done.stderr
