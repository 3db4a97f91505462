"""Private temporary files: who may read them, and which of those that are left are removed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from saltern.system import leftovers, maker, temporary

ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
NOBODY = 65534
DEAD = replace(maker.this_process(), pid=4194304)  # greater than any number of a process


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def left(kind: str = "git", who: maker.Maker = DEAD, suffix: str = "") -> str:
    return f"saltern-{kind}-{who.word}-{os.urandom(6).hex()}{suffix}"


def test_a_file_is_private_and_removed(place: Path) -> None:
    with temporary.private_file("mysql", b"secret", suffix=".cnf") as path:
        assert Path(path).read_bytes() == b"secret"
        assert (os.stat(path).st_mode & 0o777, Path(path).parent, path[-4:]) == (0o600, place, ".cnf")
        temporary.sweep()
        assert os.path.exists(path)
    assert not os.listdir(place)


def test_a_directory_is_private_and_removed_with_what_is_in_it(place: Path) -> None:
    with temporary.private_directory("git") as path:
        assert os.stat(path).st_mode & 0o777 == 0o700
        os.makedirs(f"{path}/a/b")
        temporary.sweep()
        assert os.path.exists(f"{path}/a/b")
    assert not os.listdir(place)


def test_all_is_removed_if_the_caller_fails(place: Path) -> None:
    for made in (temporary.private_file("one"), temporary.private_directory("two")):
        with pytest.raises(ZeroDivisionError), made:
            raise ZeroDivisionError
    assert not os.listdir(place)


@ROOT
def test_what_is_for_another_user_lies_in_a_directory_of_ours(place: Path) -> None:
    owner = (NOBODY, NOBODY)
    with (
        temporary.private_file("script", b"x", mode=0o500, owner=owner) as file,
        temporary.private_directory("git", owner=owner) as directory,
    ):
        for path, mode in ((file, 0o500), (directory, 0o700)):
            found, above = os.stat(path), os.stat(os.path.dirname(path))
            assert (found.st_uid, found.st_mode & 0o777) == (NOBODY, mode)
            assert (above.st_uid, above.st_mode & 0o777) == (0, 0o711)
            assert os.path.dirname(os.path.dirname(path)) == str(place)
    assert not os.listdir(place)


def test_what_the_dead_have_left_is_removed(place: Path) -> None:
    (place / left(suffix=".sh")).touch(0o600)
    (place / left()).mkdir(0o700)
    deep = place / left()
    deep.mkdir(0o711)
    (deep / "a/b").mkdir(parents=True)
    (deep / "a/link").symlink_to("/etc")
    (deep / "file").touch(0o666)
    temporary.sweep()
    assert not os.listdir(place)
    assert os.path.exists("/etc/passwd")


def test_what_is_not_certainly_ours_and_dead_stays(place: Path) -> None:
    me = maker.this_process()
    target = place / "target"
    (target / "inner").mkdir(parents=True)
    (place / left()).symlink_to(target)
    (place / left()).symlink_to(target / "inner")
    for who in (me, replace(DEAD, namespace="1"), replace(DEAD, boot="1", machine="1")):
        (place / left(who=who)).mkdir(0o700)
        (place / left(who=who)).touch(0o600)
    (place / left()).mkdir(0o700)
    shared = place / left()
    shared.mkdir(0o700)
    shared.chmod(0o777)
    readable = place / left()
    readable.touch()
    readable.chmod(0o644)
    os.mkfifo(place / left(), 0o600)
    for name in ("saltern-1-abc", "saltern-crash-abc.txt", f"x{left()}", "saltern-git-abcdefgh"):
        (place / name).mkdir(0o700)
    names = set(os.listdir(place))
    temporary.sweep()
    gone = names - set(os.listdir(place))
    assert len(gone) == 1
    assert (target / "inner").is_dir()


@ROOT
def test_what_another_user_has_put_there_stays(place: Path) -> None:
    for name, make in ((left(), os.mkdir), (left(), os.mknod)):
        make(place / name, 0o600)
        os.chown(place / name, NOBODY, NOBODY)
    names = set(os.listdir(place))
    temporary.sweep()
    assert set(os.listdir(place)) == names


@pytest.mark.parametrize("how", ["word", "environment", "directory", "file"])
def test_what_a_living_program_uses_stays(how: str, place: Path) -> None:
    path = place / left()
    path.mkdir(0o700)
    (path / "file").touch()
    words, env, cwd = ["-c", "input()"], dict(os.environ), "/"
    if how == "word":
        words.append(f"--defaults-file={path}/file")
    env |= {"CONFIG": f"{path}/file"} if how == "environment" else {}
    cwd = str(path) if how == "directory" else cwd
    out = open(path / "file", "w") if how == "file" else subprocess.DEVNULL  # noqa: SIM115
    with subprocess.Popen([sys.executable, *words], env=env, cwd=cwd, stdin=-1, stdout=out) as program:
        if how == "file":
            out.close()  # type: ignore[union-attr]
        temporary.sweep()
        assert path.exists()
        program.communicate(b"\n")
    temporary.sweep()
    assert not path.exists()


def test_the_first_private_file_of_a_process_looks_as_well(place: Path) -> None:
    other = place / "other"
    other.mkdir()
    (other / left()).touch(0o600)
    leftovers._swept.clear()
    with temporary.private_file("check", where=str(other)):
        assert len(os.listdir(other)) == 1
