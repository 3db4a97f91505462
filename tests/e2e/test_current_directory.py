"""Nothing in the current directory is imported: by no command, and by no process that is us once more."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.command import _environment

from saltern.cli.commands import COMMANDS
from saltern.system import own_program

PLANTED = [
    "saltern",
    "json",
    "sqlite3",
    "sitecustomize",
    "usercustomize",
    "msgspec",
    "yaml",
    "jinja2",
    "typing_extensions",
    "subprocess",
    "select",
    "tempfile",
    "traceback",
    "argparse",
    "fcntl",
    "pickle",
    "shutil",
    "pip",
    "venv",
    "zlib",
    "marshal",
    "signal",
    "pwd",
    "grp",
]
CONSOLE = os.path.join(os.path.dirname(sys.executable), "saltern")
WORDS: dict[str, list[str]] = {
    "apply": ["main"],
    "call": ["test.ping"],
    "chain": ["status"],
    "check": ["states"],
    "explain": ["journal-damaged"],
    "graph": ["main"],
    "install-service": ["--help"],
    "lsp": ["--help"],
    "plan": ["main"],
    "render": ["states/main.sls"],
    "report": [],
    "resume": [],
    "runs": [],
    "show": ["grains", "id"],
    "single": ["test.nop", "name=a"],
}


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    here = tmp_path / "here"
    (here / "states").mkdir(parents=True)
    (here / "states" / "main.sls").write_text("a:\n  cmd.run: [{name: 'true'}]\n")
    for name in PLANTED:
        (here / f"{name}.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'a').write({name!r} + ' ')\n")
    return here


def ran(argv: list[str], here: Path, **env: str) -> subprocess.CompletedProcess[str]:
    whole = {**_environment(here.parent, None), **env}
    done = subprocess.run(argv, cwd=here, env=whole, capture_output=True, text=True, timeout=100, check=False)
    imported = here.parent / "imported"
    assert not imported.exists(), f"{argv}: imported {imported.read_text()}: {done.stderr}"
    return done


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_no_command_imports_from_the_current_directory(planted: Path, command: str) -> None:
    done = ran([CONSOLE, command, *WORDS.get(command, ["--help"])], planted)
    assert done.returncode in (0, 1, 2), done.stderr


def test_python_m_saltern_takes_only_itself_from_where_it_was_started(planted: Path) -> None:
    """What Python has found by then cannot be undone; whatever is imported later can."""
    for name in ("saltern", "sitecustomize", "usercustomize"):
        (planted / f"{name}.py").unlink()
    assert (
        ran([sys.executable, "-m", "saltern", "apply", "main", "--file-root=states"], planted).returncode == 0
    )


AGAIN = {
    "begin_anew": "from saltern.chains.owner import begin_anew; begin_anew('1', [])",
    "become": (
        "import sys; from saltern.durable.barriers import takeover;"
        " takeover._exec_build(sys.executable, '1', [])"
    ),
    "watchdog": (
        "import subprocess; from saltern.system import own_program as own; "
        "subprocess.run(own.command('saltern.durable.barriers.watchdog', ['--help', 'x']), "
        "env=own.environment())"
    ),
}


@pytest.mark.parametrize("how", sorted(AGAIN))
@pytest.mark.parametrize("python_path", ["", ":", ".", "here:/nowhere"])
def test_whoever_becomes_this_program_again_does_not_either(
    planted: Path, tmp_path: Path, how: str, python_path: str
) -> None:
    """The first process is safe by itself; what it starts has to be safe by what it says."""
    code = f"import os; os.environ['PYTHONPATH'] = {python_path!r}; {AGAIN[how]}"
    done = ran([sys.executable, "-P", "-c", code], planted)
    assert done.returncode in (0, 1), done.stderr


def test_all_that_we_start_by_ourselves_is_started_in_one_place() -> None:
    root = Path(own_program.__file__).parents[1]
    wrong = [
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        if path.name != "own_program.py" and '"-m", "saltern' in path.read_text().replace('"-P", "-m"', "")
    ]
    assert not wrong


def test_a_path_keeps_only_what_is_absolute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", ":/a:b:./c:/d")
    assert own_program.environment()["PYTHONPATH"] == "/a:/d"
    monkeypatch.setenv("PYTHONPATH", ":.")
    assert "PYTHONPATH" not in own_program.environment()
