"""A program that prints without end: both ends are kept, all of it is in a file, memory stays flat."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.system import output_limits
from saltern.system.keeper import ProgramKeeper
from saltern.system.output import Printed
from saltern.system.output_limits import Limits
from saltern.system.process import run

HUGE = 2_300_000_000 if os.environ.get("SALTERN_FAULT_ALL") else 300_000_000  # bytes
NOTE = re.compile(r"\n\[(\d+) of (\d+) bytes left out.*?\]\n")


@pytest.fixture(autouse=True)
def limits() -> Iterator[None]:
    before = Limits.kept, Limits.file
    yield
    output_limits.limit(*before)


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=20), st.integers(2, 60))
def test_what_fits_is_whole_and_of_the_rest_both_ends_are_kept(pieces: list[bytes], limit: int) -> None:
    output_limits.limit(limit, 0)
    printed = Printed()
    for piece in pieces:
        printed.append(piece)
    whole, half = b"".join(pieces), limit // 2
    text = printed.text()
    if len(whole) <= 2 * half:
        assert text == whole.decode("utf-8", "replace")
        return
    assert text.startswith(whole[:half].decode("utf-8", "replace") + "\n[")
    assert text.endswith("]\n" + whole[-half:].decode("utf-8", "replace"))
    assert f"[{len(whole) - 2 * half} of {len(whole)} bytes left out]" in text


@pytest.mark.parametrize("room", [10**9, 5000, 0])
def test_what_is_left_out_is_in_a_file_of_its_owner(tmp_path: Path, room: int) -> None:
    output_limits.limit(1000, room)
    ran = run("seq 10000; echo err >&2", spill=str(tmp_path / "out" / "1.1"))
    whole = "".join(f"{n}\n" for n in range(1, 10001))
    found = NOTE.search(ran.out)
    assert found is not None
    assert int(found[2]) == len(whole)
    assert ran.err == "err\n"
    assert ran.out.endswith("9999\n10000\n")
    file = tmp_path / "out" / "1.1.stdout"
    assert (str(file) in ran.out) is (room > 0)
    assert file.exists() is (room > 0)
    if room:
        assert file.read_text() == whole[:room]
        assert os.stat(file).st_mode & 0o777 == 0o600
    assert not (tmp_path / "out" / "1.1.stderr").exists()


def test_a_file_that_cannot_be_written_does_not_stop_the_program(tmp_path: Path) -> None:
    output_limits.limit(1000, 10**9)
    (tmp_path / "file").write_text("")
    ran = run("seq 10000", spill=str(tmp_path / "file" / "below"))
    assert ran.code == 0
    assert "bytes left out]" in ran.out


def test_a_kept_program_has_its_file_beside_the_journal(tmp_path: Path) -> None:
    output_limits.limit(1000, 10**9)
    programs = ProgramKeeper("7", str(tmp_path / "7.kept"))
    programs.enter(3)
    try:
        ran = programs.run("seq 10000")
        programs.enter(4, hidden=True)
        assert "of them are in" not in programs.run("seq 10000").out
    finally:
        programs.end(forget=True)
    assert str(tmp_path / "7.out" / "3.1.stdout") in ran.out
    assert [one.name for one in (tmp_path / "7.out").iterdir()] == ["3.1.stdout"]


SCRIPT = """
import resource, sys
from saltern.system import output_limits
from saltern.system.keeper import ProgramKeeper
output_limits.limit(1 << 20, 4 << 20)
programs = ProgramKeeper("7", sys.argv[1] + "/7.kept")
programs.enter(1)
ran = programs.run(f"head -c {sys.argv[2]} /dev/zero | tr '\\\\0' x; exit 3")
assert ran.code == 3 and len(ran.out) < (1 << 20) + 300, (ran.code, len(ran.out))
programs.end(forget=True)
print(max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
"""


@pytest.mark.timeout(600)
def test_memory_stays_flat(tmp_path: Path) -> None:
    def needed(size: int) -> int:
        argv = [sys.executable, "-c", SCRIPT, str(tmp_path), str(size)]
        return int(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)

    assert needed(HUGE) - needed(1000) < 60_000, "KiB more for a long output"
