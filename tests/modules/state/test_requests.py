"""``state.request`` and its kin: a run that is asked for, looked at, and applied or forgotten."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.config.settings import Settings
from saltern.engine.nested_engine import make_session
from saltern.engine.session import Session
from saltern.modules.api.params import BadArgument

FILES = {
    "top.sls": "base:\n  '*': [web]\n",
    "web.sls": "{{ pillar['file'] }}:\n  file.managed:\n    - contents: {{ pillar.get('word', 'usual') }}\n",
    "lib.sls": "base:\n  test.nop: []\n",
}
SALT = Path(__file__).parents[3] / "build" / "salt" / "programs" / "salt-call"


def made(folder: Path) -> Session:
    tree = folder / "tree"
    tree.mkdir(exist_ok=True)
    for name, text in FILES.items():
        (tree / name).write_text(text)
    session = make_session(
        Settings(
            id="here",
            file_roots={"base": [str(tree)]},
            pillar_roots={},
            cachedir=str(folder / "cache"),
            state_dir=str(folder / "state"),
            grains_file=str(folder / "grains"),
        )
    )
    session.load_pillar()
    return session


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return made(tmp_path)


def test_a_request_only_looks_and_is_applied_by_name(session: Session, tmp_path: Path) -> None:
    call, file = session.salt, tmp_path / "motd"
    pillar = {"file": str(file), "word": "secret"}
    (tried,) = call["state.request"]("web", name="evening", pillar=pillar).values()  # type: ignore[attr-defined]
    assert tried["result"] is None and not file.exists()
    kept = call["state.check_request"]("evening")
    assert kept["mods"] == "web" and kept["kwargs"]["pillar"] == pillar  # type: ignore[index]
    assert [one["result"] for one in kept["test_run"].values()] == [None]  # type: ignore[index]
    assert (tmp_path / "cache" / "req_state.p").stat().st_mode & 0o777 == 0o600
    (done,) = call["state.run_request"]("evening").values()  # type: ignore[attr-defined]
    assert done["result"] is True and file.read_text() == "secret\n"
    assert call["state.check_request"]() == {}
    assert call["state.run_request"]("evening") == {}


def test_without_names_it_is_the_whole_machine_under_the_usual_name(session: Session, tmp_path: Path) -> None:
    file = tmp_path / "motd"
    session.salt["state.request"](pillar={"file": str(file)})
    assert list(session.salt["state.check_request"]()) == ["default"]  # type: ignore[call-overload]
    session.salt["state.run_request"](pillar={"file": str(file), "word": "late"})
    assert file.read_text() == "late\n"


def test_a_run_of_one_request_leaves_the_others(session: Session) -> None:
    for name in ("a", "b"):
        session.salt["state.request"]("lib", name=name)
    session.salt["state.run_request"]("a")
    assert list(session.salt["state.check_request"]()) == ["b"]  # type: ignore[call-overload]


def test_requests_are_forgotten_one_by_one_or_all(session: Session) -> None:
    call = session.salt
    assert call["state.clear_request"]("none") is True
    for name in ("a", "b", "c"):
        call["state.request"]("lib", name=name)
    assert call["state.clear_request"]("zork") is False
    assert call["state.clear_request"]("a") is True
    assert list(call["state.check_request"]()) == ["b", "c"]  # type: ignore[call-overload]
    with pytest.raises(BadArgument, match="no request is called 'a'"):
        call["state.check_request"]("a")
    assert call["state.clear_request"]() is True
    assert call["state.check_request"]() == {}


@given(st.binary(max_size=40))
def test_a_damaged_file_is_reported(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    session = made(folder)
    (folder / "cache").mkdir()
    (folder / "cache" / "req_state.p").write_bytes(data)
    try:
        assert isinstance(session.salt["state.check_request"](), dict)
    except BadArgument as problem:
        assert "req_state.p" in str(problem)


@pytest.mark.skipif(not SALT.exists(), reason="Salt is not installed: make salt")
def test_salt_reads_the_same_file(session: Session, tmp_path: Path) -> None:
    session.salt["state.request"]("lib", name="evening")
    config = tmp_path / "config"
    config.mkdir()
    cache = tmp_path / "salt" / "cache"
    cache.mkdir(parents=True)
    shutil.copy(tmp_path / "cache" / "req_state.p", cache)
    (config / "minion").write_text(
        f"root_dir: {tmp_path}/salt\ncachedir: {cache}\nfile_client: local\nid: here\n"
    )
    argv = [
        str(SALT),
        "--local",
        "-c",
        str(config),
        "state.check_request",
        "evening",
        "--out=json",
        "-lquiet",
    ]
    ran = subprocess.run(argv, capture_output=True, text=True, env={**os.environ}, check=True)
    assert json.loads(ran.stdout)["local"]["mods"] == "lib"
