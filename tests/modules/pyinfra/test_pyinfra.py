"""Real runs of pyinfra on this machine: every word, several hosts, and all that goes wrong."""

from __future__ import annotations

import os
import signal
import socket
import stat
from pathlib import Path
from typing import Any

import pytest
from tests.modules.engine import CHANGED, FAILED, NOT_REACHED, OK, SKIPPED, WOULD, Engine, unhurried

from saltern.language.result import Outcome, Result

HEAD = """
import os
from io import StringIO

from pyinfra import host
from pyinfra.operations import files, python, server

"""
WRITE = HEAD + "files.put(name='write', src=StringIO('one'), dest=f'{host.data.scratch}/made')\n"
root = pytest.mark.skipif(os.geteuid() != 0, reason="a second local host is a chroot, which needs root")


def deploy(engine: Engine, text: str, *, test: bool = False, **args: object) -> Result:
    file = engine.base / "deploy.py"
    file.write_text(text)
    given: dict[str, object] = {"data": {"scratch": str(engine.base)}, **args}
    return engine.run(str(file), test=test, **given)


def test_test_mode_is_a_dry_run_that_foretells_the_commands(engine: Engine) -> None:
    foreseen = deploy(engine, WRITE, test=True)
    would = engine["@local: write"]
    assert (foreseen.outcome, would.outcome) == (Outcome.WOULD_CHANGE, Outcome.WOULD_CHANGE)
    assert not (engine.base / "made").exists()
    done = deploy(engine, WRITE)
    assert (done.outcome, done.comment) == (Outcome.OK, "1 operation: 1 changed")
    assert engine["@local: write"].changes == would.changes
    assert would.changes == {"commands": [f"upload a text to {engine.base}/made"]}
    assert engine["@local: write"].timed
    assert deploy(engine, WRITE).comment == "1 operation: 1 ok"
    assert deploy(engine, WRITE, test=True).outcome is Outcome.OK


EVERY_WORD = (
    HEAD
    + """
made = files.put(name="changes", src=StringIO("one"), dest=f"{host.data.scratch}/made-{host.data.mark}")
files.file(name="fine", path=f"{host.data.scratch}/here")
server.shell(name="after a change", commands=["true"], _if=made.did_change)
server.shell(name="without a change", commands=["true"], _if=made.did_not_change)
server.shell(name="ignored", commands=["echo oh no >&2; exit 3"], _ignore_errors=True)
server.shell(name="twice", commands=["true"])
server.shell(name="twice", commands=["true"])

def inner():
    server.shell(name="within", commands=["true"])

python.call(name="a function", function=inner)
if host.data.mark == "b":
    server.shell(name="only there", commands=["true"])
server.shell(name="dies", commands=["echo why >&2", "exit 3"] if host.data.mark == "b" else ["true"])
server.shell(name="last", commands=["true"])
"""
)


@root
def test_every_word_on_two_hosts(engine: Engine) -> None:
    (engine.base / "here").write_text("")
    hosts = {"@local": {"mark": "a"}, "@chroot//": {"mark": "b"}}
    result = deploy(engine, EVERY_WORD, inventory=hosts)
    words = engine.words()
    assert {id_: word for id_, word in words.items() if id_.startswith("@local")} == {
        "@local: changes": CHANGED,
        "@local: fine": OK,
        "@local: after a change": CHANGED,
        "@local: without a change": SKIPPED,
        "@local: ignored": OK,
        "@local: twice": CHANGED,
        "@local: a function": CHANGED,
        "@local: only there": SKIPPED,
        "@local: dies": CHANGED,
        "@local: last": CHANGED,
    }
    assert words["@chroot//: only there"] == CHANGED
    assert words["@chroot//: dies"] == FAILED
    assert words["@chroot//: last"] == NOT_REACHED
    assert [step.id for step in engine.told].count("@local: twice") == 2
    assert engine["@chroot//: dies"].comment == "failed\nwhy"
    assert engine["@chroot//: last"].comment == "not reached: @chroot// failed before"
    assert engine["@local: ignored"].comment == "failed, but ignored\noh no"
    assert [inner.id for inner in engine["@local: a function"].sub] == ["@local: within"]
    assert engine["@local: fine"].fun == "files.file"
    assert (result.outcome, result.data["retcode"]) == (Outcome.FAILED, 1)
    assert "failed: @chroot//: dies" in result.comment
    assert f"the log is {result.data['log']}" in result.comment
    assert "Starting operation: dies" in engine.log(result)


def test_a_host_that_nobody_answers_for_is_unreachable_and_the_others_go_on(engine: Engine) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for test in (True, False):
        result = deploy(engine, WRITE, test=test, inventory={"@local": {}, "127.0.0.1": {"ssh_port": port}})
        assert engine.words() == {"127.0.0.1: connect": FAILED, "@local: write": WOULD if test else CHANGED}
        assert engine["127.0.0.1: connect"].comment.startswith("unreachable: Could not connect")
        assert result.outcome is Outcome.FAILED


def test_options_reach_pyinfra_and_values_keep_their_kind(engine: Engine) -> None:
    text = HEAD + "server.shell(name=f'{host.data.number + 1} {host.data.many}', commands=['true'])\n"
    deploy(engine, text, data={"number": 41, "many": [1, "x"]}, exclude=["nobody"], verbosity=2)
    assert list(engine.words()) == ["@local: 42 [1, 'x']"]
    deploy(engine, WRITE, limit=["nobody"])
    assert engine.told == []


def test_an_operation_without_a_name_is_reported_apart_by_its_arguments(engine: Engine) -> None:
    deploy(engine, HEAD + "files.directory(path=f'{host.data.scratch}/made')\n")
    assert list(engine.words()) == [f"@local: files.directory (path={engine.base}/made)"]


def test_secrets_are_on_no_command_line_and_hidden_ones_in_no_result(engine: Engine) -> None:
    text = HEAD + (
        "from pyinfra.api import HiddenValue, StringCommand\n"
        "server.shell(name='look', commands=[f'! grep -q hunter /proc/{os.getpid()}/cmdline'])\n"
        "server.shell(name='use', commands=[StringCommand('echo', HiddenValue('hunter2'), '>/dev/null')])\n"
    )
    result = deploy(engine, text, data={"password": "hunter2"})
    assert engine.words()["@local: use"] == CHANGED, engine.told
    assert "hunter2" not in repr(result) + repr(engine.told) + engine.log(result)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("this is no Python\n", "invalid syntax"),
        (HEAD + "server.shell(comands=['true'])\n", "comands"),
        (HEAD + "raise ValueError('from the deploy')\n", "from the deploy"),
    ],
)
@pytest.mark.parametrize("test", [True, False])
def test_a_deploy_that_cannot_be_read_is_a_failure_that_says_why(
    engine: Engine, text: str, said: str, test: bool
) -> None:
    result = deploy(engine, text, test=test)
    assert result.outcome is Outcome.FAILED
    assert said in result.comment
    assert engine.told == []


@pytest.mark.parametrize(
    ("name", "args", "said"),
    [
        ("/srv/none.py", {}, "no deploy is at /srv/none.py"),
        ("none.py", {}, "give its directory as cwd"),
        ("/srv/none.yml", {}, "does not end with .py"),
        ("salt://none.py", {}, "salt://none.py is not in the environment 'base'"),
        ("x.py", {"bin_dir": "/nonexistent"}, "pyinfra was not found in /nonexistent: install it (pip"),
    ],
)
def test_bad_input_is_reported_before_anything_runs(
    engine: Engine, name: str, args: dict[str, Any], said: str
) -> None:
    (engine.base / "x.py").write_text("")
    result = engine.run(name, **{"cwd": str(engine.base) if name == "x.py" else None, **args})
    assert result.outcome is Outcome.FAILED
    assert said in result.comment
    assert engine.told == []


def test_a_deploy_of_the_tree_finds_the_files_beside_it(engine: Engine) -> None:
    (engine.bench.tree / "shop").mkdir()
    (engine.bench.tree / "shop" / "motd").write_text("hello")
    (engine.bench.tree / "shop" / "deploy.py").write_text(
        HEAD + f"files.put(name='put', src='motd', dest='{engine.base}/motd')\n"
    )
    assert engine.run("salt://shop/deploy.py").outcome is Outcome.OK
    assert (engine.base / "motd").read_text() == "hello"


def test_huge_and_odd_output_is_cut_in_the_result(engine: Engine) -> None:
    """pyinfra prints what a failed command printed, and drops a stream that is no UTF-8."""
    much = "python3 -c 'for _ in range(53): print(\"cafe \" * 200000)'; exit 1"
    text = HEAD + (
        "server.shell(name='odd', commands=['printf \"caf\\\\351\"'])\n"
        f"server.shell(name='much', commands=[{much!r}])\n"
    )
    result = deploy(engine, text)
    assert engine.words() == {"@local: odd": CHANGED, "@local: much": FAILED}
    assert len(repr(engine["@local: much"])) < 200_000
    assert "characters left out" in str(engine["@local: much"].data)
    assert os.path.getsize(str(result.data["log"])) > 50_000_000


SLOW = (
    HEAD
    + """
server.shell(name="quick", commands=["true"])
server.shell(name="slow", commands=[f"echo {os.getpid()} >{host.data.scratch}/begun; sleep 4000"])
server.shell(name="after", commands=["true"])
"""
)


def test_a_timeout_ends_pyinfra_and_tells_what_had_begun(engine: Engine) -> None:
    timeout = unhurried(lambda: deploy(engine, HEAD + "server.shell(name='q', commands=['true'])\n"), 6)
    result = deploy(engine, SLOW, timeout=timeout)
    assert "took longer than its timeout" in result.comment
    assert engine.words() == {"@local: quick": CHANGED, "@local: slow": FAILED, "@local: after": NOT_REACHED}
    assert "it had begun when pyinfra ended" in engine["@local: slow"].comment
    assert engine["@local: after"].comment == "not reached: pyinfra ended before"


@pytest.mark.parametrize(
    ("number", "slow", "said"),
    [(signal.SIGINT, CHANGED, "(interrupted)"), (signal.SIGKILL, FAILED, "ended by signal 9")],
)
def test_a_pyinfra_that_is_interrupted_is_a_failure_that_says_so(
    engine: Engine, number: signal.Signals, slow: tuple[Outcome, bool, bool], said: str
) -> None:
    """Asked to end, pyinfra waits for the operation that it is at, and then says that all is well."""
    file = engine.base / "deploy.py"
    file.write_text(SLOW.replace("sleep 4000", "sleep 5"))
    given: dict[str, Any] = {"data": {"scratch": str(engine.base)}}
    result = engine.interrupted(engine.base / "begun", number, str(file), **given)
    assert result.outcome is Outcome.FAILED
    assert engine.words() == {"@local: quick": CHANGED, "@local: slow": slow, "@local: after": NOT_REACHED}
    assert said in result.comment


def test_an_operation_is_reported_when_it_is_done(engine: Engine) -> None:
    text = "server.shell(name='a', commands=['true'])\nserver.shell(name='b', commands=['%s'])\n"
    deploy(engine, HEAD + text % engine.waits())
    assert engine.words() == {"@local: a": CHANGED, "@local: b": CHANGED}


def test_a_pyinfra_that_tells_nothing_is_one_step_that_says_so(engine: Engine) -> None:
    fake = engine.base / "bin"
    fake.mkdir()
    (fake / "pyinfra").write_text("no script")
    (fake / "python3").write_text("#!/bin/sh\necho all is well\n")
    for name in ("pyinfra", "python3"):
        (fake / name).chmod(stat.S_IRWXU)
    result = deploy(engine, WRITE, bin_dir=str(fake))
    assert result.outcome is Outcome.OK
    assert [step.name for step in engine.told] == ["unparsed output"]
    assert "all is well" in engine.told[0].comment


def test_nothing_is_left_behind(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    place = engine.base / "tmp"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    deploy(engine, WRITE)
    assert os.listdir(place) == []
    assert stat.S_IMODE(Path(str(deploy(engine, WRITE).data["log"])).stat().st_mode) == 0o600
