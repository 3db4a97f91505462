"""Programs are run for real: what they print, how they end, and how they are stopped."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from saltern.system.process import NOT_ALLOWED, NOT_FOUND, TIMED_OUT, run

ROOT = os.geteuid() == 0


def test_output_errors_and_exit_code_are_kept_apart() -> None:
    ran = run("echo out; echo err >&2; exit 3")
    assert (ran.code, ran.out, ran.err, ran.pid > 0) == (3, "out\n", "err\n", True)


def test_errors_can_be_merged_into_the_output() -> None:
    ran = run("echo a; echo b >&2; echo c", merge_err=True)
    assert (ran.out, ran.err) == ("a\nb\nc\n", "")


def test_a_sequence_is_run_without_a_shell() -> None:
    assert run(["echo", "$HOME", "a b"]).out == "$HOME a b\n"


def test_directory_umask_and_environment_are_the_childs_only(tmp_path: Path) -> None:
    here, mask = os.getcwd(), os.umask(0o022)
    os.umask(mask)
    ran = run("pwd; umask; echo $X", cwd=str(tmp_path), umask=0o077, env={"X": "1"})
    assert ran.out == f"{tmp_path}\n0077\n1\n"
    assert os.getcwd() == here
    now = os.umask(mask)
    os.umask(now)
    assert now == mask


def test_a_clean_environment_keeps_the_path_only() -> None:
    assert "HOME=" not in run(["env"], clean_env=True, env={"A": "1"}).out


def test_the_childs_own_path_is_searched(tmp_path: Path) -> None:
    program = tmp_path / "my-program"
    program.write_text("#!/bin/sh\necho found\n")
    program.chmod(0o755)
    assert run(["my-program"], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}).out == "found\n"


def test_much_input_and_much_output_do_not_block_each_other() -> None:
    ran = run("cat; head -c 1000000 /dev/zero | tr '\\0' e >&2", stdin="x" * 3_000_000)
    assert (len(ran.out), len(ran.err)) == (3_000_000, 1_000_000)


def test_a_program_that_does_not_read_its_input_is_no_problem() -> None:
    assert run("exit 4", stdin="x" * 1_000_000).code == 4


def test_bytes_that_are_no_text_are_tolerated() -> None:
    assert run("printf 'a\\377b'").out == "a\ufffdb"


@pytest.mark.parametrize(
    ("command", "options", "code", "said"),
    [
        (["no-such-program"], {}, NOT_FOUND, "no-such-program: no such file or directory"),
        (["/etc/passwd"], {}, NOT_ALLOWED, "/etc/passwd: Permission denied"),
        ("true", {"cwd": "/no/such"}, NOT_ALLOWED, "/no/such: no such directory to run in"),
        ("true", {"shell": "/bin/no-shell"}, NOT_FOUND, "/bin/no-shell: no such file or directory"),
        ("true", {"user": "no-such-user"}, NOT_ALLOWED, "no user is called 'no-such-user' on this machine"),
    ],
)
def test_what_cannot_be_started_is_reported_as_a_shell_would(
    command: str | list[str], options: dict[str, str], code: int, said: str
) -> None:
    ran = run(command, **options)  # type: ignore[arg-type]
    assert (ran.code, ran.err, ran.pid) == (code, said, 0)


def test_a_signal_is_reported_twice_once_as_shells_do() -> None:
    ran = run("kill -9 $$")
    assert (ran.code, ran.signal) == (137, 9)


def test_a_signal_python_ignores_works_for_the_program() -> None:
    assert run("trap '' USR1; kill -PIPE $$; echo survived").signal == 13


@pytest.mark.parametrize("command", ["sleep 4000", "sleep 4000 & sleep 4000", "exec >&- 2>&-; sleep 4000"])
def test_a_program_that_takes_too_long_is_killed_with_all_it_started(command: str) -> None:
    ran = run(command, timeout=0.2)  # to wait for it would take an hour
    assert (ran.code, ran.timed_out) == (TIMED_OUT, True)


def test_what_was_printed_before_the_time_was_up_is_kept() -> None:
    assert run("echo before; sleep 30", timeout=0.3).out == "before\n"


def test_a_program_that_ended_in_time_is_not_blamed_for_what_it_left_behind() -> None:
    ran = run("sleep 30 & echo done", timeout=0.3)
    assert (ran.code, ran.out, ran.timed_out) == (0, "done\n", False)


def test_no_file_stays_open() -> None:
    before = len(os.listdir("/proc/self/fd"))
    for command in ("true", ["no-such-program"]):
        run(command, stdin="x", cwd="/")
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.skipif(not ROOT, reason="only root may run a program as another user")
def test_another_user_has_its_own_name_and_home() -> None:
    ran = run("id -un; echo $USER", user="nobody", cwd="/")
    assert ran.out == "nobody\nnobody\n"


@pytest.mark.skipif(not ROOT, reason="only root may run a program as another user")
def test_another_users_program_can_be_stopped_and_fed() -> None:
    assert run("sleep 30", user="nobody", cwd="/", timeout=0.2).timed_out
    assert run("cat", user="nobody", cwd="/", stdin="hi").out == "hi"
