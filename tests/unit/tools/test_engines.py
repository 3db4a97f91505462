"""Programs of others are installed as a whole, each environment by itself, and tried again."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tools import engines

ROOT = Path(__file__).parent.parent.parent.parent


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place of its own, where ``venv`` and pip are played: a lock that says so cannot be installed."""
    monkeypatch.setattr(engines, "ROOT", tmp_path)
    for lock in engines.ENVIRONMENTS.values():
        (tmp_path / lock).write_text("fine==1\n")

    def play(place: Path, lock: Path) -> bool:
        (place / "bin").mkdir(parents=True)
        (place / "bin" / lock.read_text().strip()).touch()
        return "broken" not in lock.read_text()

    monkeypatch.setattr(engines, "install", play)
    return tmp_path / "build"


def files(place: Path) -> list[str]:
    return sorted(str(path.relative_to(place)) for path in place.rglob("*") if path.is_file())


def test_each_environment_is_installed_by_itself(build: Path) -> None:
    assert engines.main(["engines"]) == 0
    assert files(build) == ["engines/.installed", "engines/bin/fine==1"]
    assert engines.main() == 0
    assert "stores/.installed" in files(build)


def test_one_that_cannot_be_installed_leaves_nothing_and_keeps_back_no_other(
    build: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (build.parent / "engines.lock").write_text("broken==1\n")
    assert engines.main() == 0
    assert files(build) == ["stores/.installed", "stores/bin/fine==1"]
    assert capsys.readouterr().err == (
        "engines.lock cannot be installed here: tests that need it are skipped\n"
    )
    (build.parent / "engines.lock").write_text("fine==1\n")
    engines.main()
    assert "engines/.installed" in files(build)


def test_an_older_one_stays_where_the_newer_cannot_be_installed(build: Path) -> None:
    engines.main(["stores"])
    (build.parent / "stores.lock").write_text("broken==2\n")
    engines.main(["stores"])
    assert files(build) == ["stores/.installed", "stores/bin/fine==1"]
    (build.parent / "stores.lock").write_text("fine==2\n")
    engines.main(["stores"])
    assert files(build) == ["stores/.installed", "stores/bin/fine==2"]


def test_one_that_was_killed_half_way_is_made_anew_or_is_the_older_one_again(
    build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engines.main(["stores"])
    works = engines.install

    def killed(place: Path, lock: Path) -> bool:
        works(place, lock)
        raise KeyboardInterrupt

    (build.parent / "stores.lock").write_text("fine==2\n")
    monkeypatch.setattr(engines, "install", killed)
    with pytest.raises(KeyboardInterrupt):
        engines.main(["stores"])
    monkeypatch.setattr(engines, "install", works)
    (build.parent / "stores.lock").write_text("broken==3\n")
    engines.main(["stores"])
    assert files(build) == ["stores/.installed", "stores/bin/fine==1"]


def test_make_tries_the_one_that_is_missing_again(tmp_path: Path) -> None:
    """With the real Makefile: ``make engines`` wants every environment, not only the first."""
    for name in ("engines", "stores"):
        (tmp_path / f"build/{name}").mkdir(parents=True)
    for name in ("Makefile", "engines.lock", "stores.lock", "requirements.lock", "pyproject.toml"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    for name in ("tools/engines.py", ".venv/.saltern-installed", "build/engines/.installed"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    old = (tmp_path / "Makefile").stat().st_mtime - 60
    for path in tmp_path.rglob("*"):
        if path.is_file() and "installed" not in path.name:
            os.utime(path, (old, old))
    said = subprocess.run(
        ["make", "--dry-run", "--no-print-directory", "engines"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.splitlines() == [".venv/bin/python -m tools.engines stores"]


def test_what_a_process_that_was_killed_has_left_is_put_right(build: Path) -> None:
    engines.main(["stores"])
    (build / "stores").rename(build / ".stores-older")
    (build / "stores" / "bin").mkdir(parents=True)
    (build / "stores" / "bin" / "half").touch()
    engines.main(["stores"])
    assert files(build) == ["stores/.installed", "stores/bin/fine==1"]
