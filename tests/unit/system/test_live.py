"""What programs print while they run, in files that stay small."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from saltern.system import live, process

PIECES = st.lists(
    st.tuples(st.sampled_from([b"a", b"line\n", b"\xff\x00"]), st.integers(0, 20_000)), max_size=20
)


@given(PIECES)
def test_39_whatever_a_program_prints_the_file_is_small_and_has_the_end_of_it(
    pieces: list[tuple[bytes, int]],
) -> None:
    with TemporaryDirectory() as folder:
        path = f"{folder}/live.stdout"
        file = live.LiveFile(path)
        whole = b""
        for piece in (text * number for text, number in pieces):
            file.append(piece)
            whole += piece
            left_out, kept = live.read(path)
            assert whole.endswith(kept) and left_out + len(kept) == len(whole)
            assert os.path.getsize(path) <= 2 * live.MOST + live.HEAD or len(piece) > live.MOST
            assert len(kept) >= min(len(whole), live.MOST)
        file.close()


def test_39_a_program_is_not_held_up_by_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    ran = process.run([sys.executable, "-c", "print('x' * 300_000)"], live=str(tmp_path / "absent" / "live"))
    assert (ran.code, len(ran.out)) == (0, 300_001)


def test_files_are_gone_when_nothing_is_watched_any_more(tmp_path: Path) -> None:
    looked: list[int] = []
    read, write = os.pipe()

    def look() -> None:
        looked.append(os.write(write, b"x"))

    try:
        with live.watch(str(tmp_path / "live"), look):
            process.run("echo hello; echo odd >&2", live=live.new_prefix())
            assert live.read(str(tmp_path / "live.stdout")) == (0, b"hello\n")
            assert live.read(str(tmp_path / "live.stderr")) == (0, b"odd\n")
            live.wait_for(read)
        assert looked == [1] and os.listdir(tmp_path) == [] and live.new_prefix() == ""
    finally:
        os.close(read)
        os.close(write)
