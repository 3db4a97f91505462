"""Whatever befalls one state or the whole run: what was done is told, and the others go on."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import msgspec
import pytest
from tests.e2e.command import Done, Place, is_told_well

MODULE = """
import os, signal, sys

def raises(name, **kw):
    raise RuntimeError("boom")

def exits(name, **kw):
    sys.exit(3)

def dies(name, **kw):
    os._exit(7)

def killed(name, **kw):
    os.kill(os.getpid(), signal.SIGKILL)

def garbage(name, **kw):
    return "nonsense"

def nothing(name, **kw):
    return None

def half(name, **kw):
    return {"name": name, "result": True}

def odd(name, **kw):
    return {"name": name, "result": "perhaps", "changes": [], "comment": 5}

def loop(name, **kw):
    changes = {}
    changes["self"] = changes
    return {"name": name, "result": True, "changes": changes, "comment": ""}

def objects(name, **kw):
    changes = {"a": object(), "b": {1, 2}, (1, 2): b"x"}
    return {"name": name, "result": True, "changes": changes, "comment": "\\ud800\\x1b[31m"}

def recursion(name, **kw):
    return recursion(name)

def memory(name, **kw):
    raise MemoryError

def unprintable(name, **kw):
    class Odd(Exception):
        def __str__(self):
            raise ValueError("no words")
    raise Odd

def prints(name, **kw):
    print("to stdout")
    return {"name": name, "result": True, "changes": {}, "comment": ""}
"""
WORST = [
    "raises",
    "exits",
    "garbage",
    "nothing",
    "half",
    "odd",
    "loop",
    "objects",
    "recursion",
    "memory",
    "unprintable",
]


@pytest.fixture
def odd(place: Place) -> Place:
    modules = place.base / "modules" / "states"
    modules.mkdir(parents=True)
    (modules / "odd.py").write_text(MODULE)
    return place.write({"etc/saltern.yaml": f"module_dirs: [{place.base / 'modules'}]\n"})


@pytest.mark.parametrize("parallel", [False, True], ids=["alone", "parallel"])
@pytest.mark.parametrize("function", WORST)
def test_a_state_that_misbehaves_stops_no_other(odd: Place, function: str, parallel: bool) -> None:
    text = (
        f"before: test.nop\nbad: {{odd.{function}: [parallel: {str(parallel).lower()}]}}\nafter: test.nop\n"
    )
    odd.write({"main.sls": text})
    for out in ("json", "highstate", "jsonl", "yaml", "junit"):
        done = odd.run("apply", "main", "--out", out)
        is_told_well(done)
        assert done.code in (0, 2)
        if out == "json":
            assert set(done.answers()) == {"before", "bad", "after"}
            assert "was not found" not in str(done.answers()["bad"]["comment"])
            assert done.answers()["after"]["result"] is True


@pytest.mark.parametrize("function", ["dies", "killed"])
def test_a_parallel_state_whose_process_dies_is_reported_as_failed(odd: Place, function: str) -> None:
    odd.write(
        {
            "main.sls": f"bad: {{odd.{function}: [parallel: true]}}\nafter: test.nop\n"
            f"needs: {{test.nop: [require: [{{odd: bad}}]]}}\n"
        }
    )
    done = odd.run("apply", "main", "--out", "json")
    is_told_well(done)
    assert {name: answer["result"] for name, answer in done.answers().items()} == {
        "bad": False,
        "after": True,
        "needs": False,
    }
    assert "ended without an answer" in str(done.answers()["bad"]["comment"])


def test_what_a_module_prints_does_not_spoil_the_data(odd: Place) -> None:
    odd.write({"main.sls": "a: odd.prints\n"})
    assert odd.run("apply", "main", "--out", "json").answers()["a"]["result"] is True


def test_what_a_renderer_prints_does_not_spoil_the_data(place: Place) -> None:
    place.write({"main.sls": "#!py\ndef run():\n    print('hello')\n    return {'a': {'test.nop': []}}\n"})
    assert place.run("apply", "main", "--out", "json").answers()["a"]["result"] is True


def test_commands_that_fail_are_killed_or_do_not_exist_stop_no_other(place: Place) -> None:
    place.write(
        {
            "main.sls": "a: {cmd.run: [name: exit 3]}\nb: {cmd.run: [name: kill -9 $$]}\n"
            "c: {cmd.run: [name: /nosuch/command]}\n"
            "d: {cmd.run: [name: echo hi, cwd: /nosuch]}\ne: {cmd.run: [name: sleep 30, timeout: 1]}\n"
            "f: {cmd.run: [name: 'head -c 3000000 /dev/zero']}\ng: test.nop\n"
        }
    )
    done = place.run("apply", "main", "--out", "json")
    is_told_well(done)
    assert {name: answer["result"] for name, answer in done.answers().items()} == {
        "a": False, "b": False, "c": False, "d": False, "e": False, "f": True, "g": True
    }  # fmt: skip


# -- interrupted -------------------------------------------------------------------------------------

SLEEPING = (
    "a: test.succeed_with_changes\nb: {cmd.run: [name: 'touch %s; sleep 30']}\nc: test.nop\nd: test.nop\n"
)


def _started(place: Place, *words: str, parallel: bool = False) -> subprocess.Popen[bytes]:
    """A run that is in the middle of a long command."""
    flag = place.base / "running"
    text = SLEEPING % flag
    place.write({"main.sls": text.replace("']}", "', parallel: true]}") if parallel else text})
    process = place.start("apply", "main", *words)
    wait_for(flag)
    return process


def wait_for(path: Path, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < end, f"{path} was not made"
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("parallel", [False, True], ids=["alone", "parallel"])
def test_an_interrupted_run_tells_what_was_done_and_what_was_not(
    place: Place, number: int, parallel: bool
) -> None:
    process = _started(place, "--out", "json", parallel=parallel)
    process.send_signal(number)
    out, err = process.communicate(timeout=200)
    done = Done(process.returncode, out.decode(), err.decode())
    is_told_well(done)
    assert done.code == 130
    answers = done.answers()
    assert set(answers) == {"a", "b", "c", "d"}
    assert answers["a"]["result"] is True
    assert answers["b"]["result"] is False
    if not parallel:
        assert all("not run (interrupted)" in str(answers[name]["comment"]) for name in ("c", "d"))
        assert answers["c"]["__state_ran__"] is False


def test_an_interrupted_run_leaves_no_command_behind(place: Place) -> None:
    name = f"sleep 31.{os.getpid()}{time.time_ns() % 10**6}"
    flag = place.base / "running"
    place.write({"main.sls": f"a: {{cmd.run: [name: 'touch {flag}; {name}']}}\n"})
    process = place.start("apply", "main")
    wait_for(flag)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=200)
    end = time.monotonic() + 200
    while _runs(name):
        assert time.monotonic() < end, "the command runs on"
        time.sleep(0.05)


def _runs(command: str) -> bool:
    wanted = "\0".join(command.split()).encode()
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and wanted in (entry / "cmdline").read_bytes():
                return True
        except OSError:
            continue
    return False


def test_interrupted_while_compiling_is_exit_code_130_without_a_traceback(place: Place) -> None:
    flag = place.base / "running"
    long = f"sleep {os.getpid()}.5"
    text = "{%% do salt['cmd.run']('touch %s') %%}{%% do salt['cmd.run']('%s') %%}\n"
    place.write({"main.sls": text % (flag, long)})
    process = place.start("apply", "main")
    wait_for(flag)
    while not _runs(long):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=200)
    done = Done(process.returncode, out.decode(), err.decode())
    is_told_well(done)
    assert done.code == 130


# -- whoever reads --------------------------------------------------------------------------------------


def test_lines_of_events_arrive_while_a_later_state_still_runs(place: Place) -> None:
    gate = place.base / "gate"
    place.write(
        {
            "main.sls": f"a: test.succeed_with_changes\n"
            f"b: {{cmd.run: [name: 'while [ ! -e {gate} ]; do sleep 0.05; done']}}\n"
        }
    )
    process = place.start("apply", "main", "--out", "jsonl")
    assert process.stdout is not None
    try:
        seen = b""
        while b"succeed_with_changes" not in seen or b'"result"' not in seen:
            line = process.stdout.readline()
            assert line, seen
            seen += line
        assert process.poll() is None, "b still waits at the gate"
    finally:
        gate.touch()
    rest, err = process.communicate(timeout=200)
    assert (process.returncode, err) == (0, b"")
    events = [msgspec.json.decode(line) for line in (seen + rest).splitlines()]
    assert sum("result" in str(event) for event in events) >= 2


@pytest.mark.parametrize("out", ["highstate", "json", "jsonl", "yaml", "junit"])
def test_a_reader_who_leaves_is_no_error_to_shout_about(place: Place, out: str) -> None:
    place.write(
        {"main.sls": "".join(f"state_{number}: test.succeed_with_changes\n" for number in range(2000))}
    )
    read, write = os.pipe()
    os.close(read)
    process = place.start("apply", "main", "--out", out, stdout=write)
    os.close(write)
    _, err = process.communicate(timeout=200)
    assert err == b""
    assert process.returncode in (0, 141)


def test_closed_streams_are_no_crash(place: Place) -> None:
    place.write({"main.sls": "a: test.nop\n"})
    for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        argv = " ".join(["exec", os.sys.executable, "-m", "saltern", *place.argv("apply", "main"), closed])  # type: ignore[attr-defined]
        done = subprocess.run(["sh", "-c", argv], capture_output=True, text=True, timeout=40, cwd=place.base)
        assert done.returncode in (0, 1), (closed, done)
        assert "Traceback" not in done.stderr


def test_a_full_disk_under_stdout_is_reported_and_is_not_a_success(place: Place) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    place.write({"main.sls": "a: test.nop\n"})
    with open("/dev/full", "wb") as full:
        process = place.start("apply", "main", "--out", "json", stdout=full)
        _, err = process.communicate(timeout=200)
    assert process.returncode not in (0, 70)
    assert b"Traceback" not in err
    assert b"No space left" in err


def test_ten_thousand_states_are_all_told(place: Place) -> None:
    place.write({"main.sls": "{% for number in range(10000) %}\ns{{ number }}: test.nop\n{% endfor %}\n"})
    done = place.run("apply", "main", "--out", "json")
    assert (done.code, len(done.json()["local"])) == (0, 10_000)
