"""The functions of ``actionchains``: one file says where a chain stands, written before the work."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from saltern.modules.lib import chain_chunks


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "kept" / chain_chunks.FILE)


def test_the_place_is_kept_before_a_chunk_is_begun(path: str) -> None:
    seen: list[object] = []
    chain_chunks.begin(path, "one", lambda _chunk: seen.append(chain_chunks.load(path)))
    (found,) = seen
    assert isinstance(found, dict)
    assert (found["chunk"], found["state"]) == ("one", "runs")
    assert chain_chunks.load(path) is None


def test_a_chunk_that_names_the_next_one_leaves_it_there(path: str) -> None:
    chain_chunks.begin(path, "one", lambda _chunk: chain_chunks.remember(path, "two", ""))
    kept = chain_chunks.load(path)
    assert kept is not None
    assert (kept["chunk"], kept["state"]) == ("two", "waits")
    done: list[str] = []
    chain_chunks.resume_chunk(path, done.append)
    assert done == ["two"]
    assert chain_chunks.resume_chunk(path, done.append) is None


def test_a_chunk_that_waits_for_a_reboot_does_not_begin_before_it(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain_chunks.remember(path, "two", "reboot")
    done: list[str] = []
    assert chain_chunks.resume_chunk(path, done.append) is None  # only the service was restarted
    with pytest.raises(chain_chunks.Refused, match="has not been rebooted"):
        chain_chunks.resume_chunk(path, done.append, force=True)
    monkeypatch.setattr(chain_chunks, "boot", lambda: "")
    assert chain_chunks.resume_chunk(path, done.append) is None  # unknown is never changed
    assert done == []
    monkeypatch.setattr(chain_chunks, "boot", lambda: "another")
    chain_chunks.resume_chunk(path, done.append)
    assert done == ["two"]


def test_a_chunk_that_was_cut_off_is_not_begun_again_by_itself(path: str) -> None:
    def cut_off(_chunk: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        chain_chunks.begin(path, "one", cut_off)
    with pytest.raises(chain_chunks.Refused, match="how far it got is unknown"):
        chain_chunks.resume_chunk(path, print)
    with pytest.raises(chain_chunks.Refused, match="is not over"):
        chain_chunks.begin(path, "other", print)
    done: list[str] = []
    chain_chunks.resume_chunk(path, done.append, force=True)
    assert done == ["one"]


def test_a_chunk_that_another_process_runs_is_left_to_it(path: str) -> None:
    child = subprocess.Popen(["sleep", "600"])
    try:
        pid = str(child.pid)
        birth = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
        chain_chunks.store(path, {"chunk": "one", "state": "runs", "pid": pid, "birth": birth})
        done: list[str] = []
        assert chain_chunks.resume_chunk(path, done.append) is None
    finally:
        child.kill()
        child.wait()
    with pytest.raises(chain_chunks.Refused, match="how far it got is unknown"):
        chain_chunks.resume_chunk(path, done.append)
    assert done == []


def test_a_file_that_makes_no_sense_is_told(path: str) -> None:
    Path(path).parent.mkdir()
    Path(path).write_text("{")
    with pytest.raises(chain_chunks.Refused, match="cannot be read"):
        chain_chunks.load(path)
