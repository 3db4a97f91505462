"""The first program on a host: bundles are put there whole, and looked at again after the machine started."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from saltern.fleet.ssh.bundle.archive import pack_files
from saltern.fleet.ssh.remote import bootstrap

FILES = {"saltern/__init__.py": b"", "saltern.modules": b"x" * 5000, "deep/er/file": b"1"}
BODY = pack_files(FILES)
SUM = hashlib.sha256(BODY).hexdigest()


@pytest.fixture(autouse=True)
def umask() -> Iterator[None]:
    """That of the program."""
    before = os.umask(0o077)
    yield
    os.umask(before)


def put(base: Path, name: str = "a") -> str:
    return bootstrap.unpack(str(base), name, SUM, BODY)


def after_a_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "boot_id", lambda: "another start")


def test_it_is_there_whole_for_its_user_alone(tmp_path: Path) -> None:
    assert put(tmp_path) == ""
    assert bootstrap.usable(str(tmp_path)) == ["a"]
    place = tmp_path / "bundles" / "a"
    assert {name: (place / name).read_bytes() for name in FILES} == FILES
    assert {path.stat().st_mode & 0o777 for path in place.rglob("*")} == {0o600, 0o700}
    assert put(tmp_path) == ""  # another session was quicker
    assert os.listdir(tmp_path / "bundles") == ["a"]


def test_what_did_not_arrive_whole_is_not_put_there(tmp_path: Path) -> None:
    problem = bootstrap.unpack(str(tmp_path), "a", SUM, BODY[:-1])
    assert problem == "what arrived is not what was sent"
    assert bootstrap.usable(str(tmp_path)) == []


def test_one_that_the_power_took_is_put_there_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path)
    lost = tmp_path / "bundles" / "a" / "saltern.modules"
    lost.write_bytes(b"")
    after_a_start(monkeypatch)
    assert bootstrap.usable(str(tmp_path)) == []
    assert put(tmp_path) == ""
    assert bootstrap.usable(str(tmp_path)) == ["a"]
    assert lost.read_bytes() == FILES["saltern.modules"]


def test_one_that_is_whole_is_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path)
    after_a_start(monkeypatch)
    assert bootstrap.usable(str(tmp_path)) == ["a"]
    listing = tmp_path / "bundles" / "a" / bootstrap.LISTING
    assert json.loads(listing.read_text())["boot"] == "another start"
    monkeypatch.setattr(os.path, "getsize", None)
    assert bootstrap.usable(str(tmp_path)) == ["a"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"boot": 1, "files": [["a"]]}', '{"boot": 1, "files": 7}'])
def test_one_without_a_listing_is_not_used(tmp_path: Path, text: str) -> None:
    put(tmp_path)
    (tmp_path / "bundles" / "a" / bootstrap.LISTING).write_text(text)
    assert bootstrap.usable(str(tmp_path)) == []
    put(tmp_path)
    assert bootstrap.usable(str(tmp_path)) == ["a"]


def test_old_ones_and_what_killed_sessions_left_are_removed(tmp_path: Path) -> None:
    for name in ("used", "old", "new"):
        put(tmp_path, name)
    for name, age in (("young.1.new", 60), ("left.1.new", 7200)):
        (tmp_path / "bundles" / name).mkdir()
        os.utime(tmp_path / "bundles" / name, (time.time() - age,) * 2)
    for name in ("used", "old"):
        os.utime(tmp_path / "bundles" / name, (time.time() - 31 * 86400,) * 2)
    bootstrap.prune(str(tmp_path), "used")
    assert sorted(os.listdir(tmp_path / "bundles")) == ["new", "used", "young.1.new"]
