"""A process is taken for gone only if that is certain."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from saltern.system import maker
from saltern.system.boot import process_start

ME = maker.this_process()
NO_PID = 4194304  # greater than any number of a process
DEAD = replace(ME, pid=NO_PID)


@pytest.mark.parametrize(
    ("who", "gone"),
    [
        (ME, False),
        (DEAD, True),
        (replace(ME, start="1"), True),  # its number was given again
        (replace(DEAD, namespace="1"), False),  # of another container
        (replace(DEAD, boot="abc"), True),  # of an earlier boot
        (replace(ME, boot="abc"), True),
        (replace(DEAD, boot="abc", machine="def"), False),  # of another machine
        (replace(DEAD, boot="0"), False),
        (replace(DEAD, start="0"), False),
        (replace(DEAD, namespace="0"), False),
    ],
)
def test_only_one_that_is_certainly_gone(who: maker.Maker, gone: bool) -> None:
    assert maker.is_gone(who, replace(ME, machine="abc")) is (gone and who.boot == ME.boot)
    machine = "abc" if who.machine == ME.machine else who.machine
    assert maker.is_gone(replace(who, machine=machine), replace(ME, machine="abc")) is gone


def test_a_machine_without_an_id_never_knows_an_earlier_boot() -> None:
    assert not maker.is_gone(replace(DEAD, boot="abc", machine="0"), replace(ME, machine="0"))


def test_a_process_of_another_user_is_alive() -> None:
    init = replace(ME, pid=1, start=process_start(1))
    assert not maker.is_gone(init, ME)
    assert maker.is_gone(replace(init, start="9" * 9), ME)


def test_a_forked_process_has_a_word_of_its_own() -> None:
    read, write = os.pipe()
    if not (pid := os.fork()):
        os.write(write, maker.this_process().word.encode())
        os._exit(0)
    os.waitpid(pid, 0)
    child = maker.parse(os.read(read, 1000).decode())
    assert child.pid == pid
    assert maker.is_gone(child, ME)
    assert maker.this_process() == ME


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("more", [[], ["--mount-proc"]])
def test_a_process_in_another_namespace_of_numbers_is_not_taken_for_gone(more: list[str]) -> None:
    program = "from saltern.system import maker; print(maker.this_process().word)"
    argv = ["unshare", "--pid", "--fork", *more, sys.executable, "-c", program]
    ran = subprocess.run(argv, capture_output=True, text=True, check=False)
    if ran.returncode:
        pytest.skip(ran.stderr)
    assert not maker.is_gone(maker.parse(ran.stdout.strip()), ME)


@given(
    st.integers(1, NO_PID),
    *[st.integers(1, 2**40).map(str)] * 2,
    *[st.integers(0, 2**32).map("{:x}".format)] * 2,
)
def test_a_word_is_read_back(pid: int, start: str, namespace: str, boot: str, machine: str) -> None:
    one = maker.Maker(pid, start, namespace, boot, machine)
    assert maker.parse(one.word) == one
