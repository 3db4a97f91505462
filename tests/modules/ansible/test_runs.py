"""Whole runs of real Ansible: test mode, options, hosts that are not there, and all that goes wrong."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.modules.ansible.plays import Plays, program
from tests.modules.engine import unhurried

from saltern.language.result import Outcome, SubResult

HEAD = "- hosts: all\n  gather_facts: false\n  tasks:\n"
WRITE = HEAD + '    - name: write\n      copy: {content: "one\\n", dest: "{{ scratch }}/made"}\n'


def test_test_mode_is_check_and_diff_and_the_second_run_has_nothing_to_do(plays: Plays) -> None:
    foreseen = plays.run(WRITE, test=True)
    would = plays["localhost: write"]
    assert (foreseen.outcome, would.outcome) == (Outcome.WOULD_CHANGE, Outcome.WOULD_CHANGE)
    assert not (plays.base / "made").exists()
    done = plays.run(WRITE)
    assert (done.outcome, done.comment) == (Outcome.OK, "1 result: 1 changed")
    assert plays["localhost: write"].changes == would.changes
    assert (plays.base / "made").read_text() == "one\n"
    assert plays.run(WRITE).comment == "1 result: 1 ok"
    assert plays.run(WRITE, test=True).outcome is Outcome.OK


def test_a_task_that_runs_in_check_mode_has_really_changed(plays: Plays) -> None:
    text = HEAD + "    - {name: really, command: 'touch {{ scratch }}/real', check_mode: false}\n"
    plays.run(text, test=True)
    assert (plays.base / "real").exists()
    assert plays["localhost: really"].outcome is Outcome.OK
    assert plays["localhost: really"].changes


def test_tags_limit_variables_and_inventory_reach_ansible(plays: Plays) -> None:
    text = HEAD + (
        "    - {name: 'say {{ word }}', debug: {msg: '{{ word }} {{ mine }}'}, tags: [a]}\n"
        "    - {name: other, debug: {msg: x}, tags: [b]}\n"
    )
    inventory = {"all": {"hosts": {"x": {"mine": 1}, "y": {"mine": 2}}}}
    result = plays.run(
        text,
        inventory=inventory,
        limit=["y"],
        tags=["a"],
        extra_vars=[{"ansible_python_interpreter": sys.executable}, "word=hello"],
    )
    assert [(step.id, step.comment) for step in plays.told] == [("y: say hello", "hello 2")]
    assert list(result.data["hosts"]) == ["y"]  # type: ignore[call-overload]


def test_salts_arguments_are_taken_as_well(plays: Plays) -> None:
    kwargs = {"skip_tags": "b", "playbook_kwargs": {"flush_cache": True}}
    text = HEAD + "    - {name: a, debug: {msg: x}}\n    - {name: b, debug: {msg: x}, tags: [b]}\n"
    (plays.base / "play.yml").write_text(text)
    plays.file("play.yml", rundir=str(plays.base), ansible_kwargs=kwargs)
    assert [step.id for step in plays.told] == ["localhost: a"]
    told = plays.file("play.yml", rundir=str(plays.base), ansible_kwargs={"taggs": "x"}).comment
    assert "ansible_kwargs has no 'taggs'" in told


def test_secrets_in_variables_are_on_no_command_line_and_their_file_is_private_and_gone(
    plays: Plays, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = HEAD + (
        '    - {name: look, shell: \'cat /proc/*/cmdline | tr "\\\\0" " "\', register: seen, no_log: true}\n'
        "    - {name: found, debug: {msg: \"{{ seen.stdout is search(word ~ '2') }}\"}}\n"
        "    - {name: files, shell: 'ls -l {{ scratch }}/tmp/*/*'}\n"
    )
    temporary = plays.base / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    result = plays.run(
        text,
        extra_vars={
            "word": "hunter",
            "password": "hunter2",
            "ansible_python_interpreter": sys.executable,
            "scratch": str(plays.base),
        },
    )
    assert plays["localhost: found"].comment == "False", plays.told
    assert "-rw-------" in repr(plays["localhost: files"])
    assert "hunter2" not in repr(result)
    assert os.listdir(temporary) == []


def test_a_host_that_nobody_answers_for_is_unreachable(plays: Plays) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    text = HEAD + "    - {name: ping, ping: {}}\n    - {name: then, ping: {}}\n"
    host = {"ansible_host": "127.0.0.1", "ansible_port": port, "ansible_ssh_retries": 0}
    result = plays.run(text, inventory={"all": {"hosts": {"gone": host}}}, connection="ssh")
    step = plays["gone: ping"]
    assert (step.outcome, step.ran, step.data["word"]) == (Outcome.FAILED, True, "unreachable")
    assert result.outcome is Outcome.FAILED
    assert "exit code 4" in result.comment
    assert plays["gone: then"].comment == "not reached: gone failed before"


def test_an_ignored_unreachable_host_is_a_note(plays: Plays) -> None:
    text = HEAD + "    - {name: ping, ping: {}, ignore_unreachable: true}\n"
    host = {"ansible_host": "127.0.0.1", "ansible_port": 1}
    result = plays.run(text, inventory={"all": {"hosts": {"gone": host}}}, connection="ssh")
    assert plays["gone: ping"].outcome is Outcome.OK
    assert plays["gone: ping"].comment.startswith("unreachable, but ignored")
    assert result.outcome is Outcome.OK


def test_a_playbook_that_does_not_parse_is_reported_with_ansibles_words(plays: Plays) -> None:
    result = plays.run("- hosts: all\n  tasks:\n    - {name: a, debug: {msg: x}\n")
    assert result.outcome is Outcome.FAILED
    assert "exit code 4" in result.comment
    assert "play.yml" in result.comment
    assert plays.told == []


def test_an_unknown_module_is_reported(plays: Plays) -> None:
    result = plays.run(HEAD + "    - {name: a, no_such_module_here: {}}\n")
    assert result.outcome is Outcome.FAILED
    assert "no_such_module_here" in result.comment


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (
            {"bin_dir": "/nonexistent"},
            "ansible-playbook was not found in /nonexistent: install it (pip install",
        ),
        ({"forks": "many"}, "forks needs a number"),
        ({"verbosity": 9}, "verbosity is a number up to 6"),
        ({"extra_vars": "no pairs"}, "extra_vars as text needs key=value"),
        ({"inventory": "salt://none.ini"}, "salt://none.ini is not in the environment 'base'"),
    ],
)
def test_bad_input_is_reported_before_anything_runs(plays: Plays, args: dict[str, Any], said: str) -> None:
    result = plays.run(WRITE, **args)
    assert result.outcome is Outcome.FAILED
    assert said in result.comment
    assert plays.told == []


def test_a_playbook_has_to_be_there(plays: Plays) -> None:
    assert "no playbook is at" in plays.file(str(plays.base / "none.yml")).comment
    assert "give its directory as rundir" in plays.file("none.yml").comment


def test_a_playbook_of_the_tree(plays: Plays) -> None:
    (plays.bench.tree / "plays").mkdir()
    (plays.bench.tree / "plays" / "site.yml").write_text(HEAD + "    - {name: a, debug: {msg: x}}\n")
    assert plays.file("salt://plays/site.yml").outcome is Outcome.OK


def test_huge_output_is_cut_in_the_result_and_whole_in_the_log(plays: Plays) -> None:
    """Ansible prints a failed command's output twice: as text, and as lines."""
    code = "import sys; [sys.stdout.write('cafe ' * 100000 + chr(10)) for _ in range(53)]; exit(1)"
    result = plays.run(
        HEAD + f'    - name: much\n      command: {{argv: ["{sys.executable}", "-c", "{code}"]}}\n'
    )
    step = plays["localhost: much"]
    assert step.outcome is Outcome.FAILED
    assert len(repr(step)) < 200_000
    assert "characters left out" in str(step.data)
    assert os.path.getsize(str(result.data["log"])) > 50_000_000


def test_output_that_is_no_text_is_reported_as_ansible_takes_it(plays: Plays) -> None:
    """ansible-core from 2.19 on fails a task for it; before, it kept the bytes as half characters."""
    code = "import os; os.write(1, b'caf' + bytes([233]))"
    text = HEAD + f'    - name: odd\n      command: {{argv: ["{sys.executable}", "-c", "{code}"]}}\n'
    result = plays.run(text + "      ignore_errors: true\n    - {name: goes on, debug: {msg: 'caf\u00e9'}}\n")
    assert result.outcome is Outcome.OK
    assert plays["localhost: odd"].outcome is Outcome.OK
    assert plays["localhost: goes on"].comment == "caf\u00e9"


def test_a_timeout_ends_ansible_and_tells_what_had_begun(plays: Plays) -> None:
    text = HEAD + "    - {name: quick, debug: {msg: x}}\n    - {name: slow, command: sleep 4000}\n"
    timeout = unhurried(lambda: plays.run(HEAD + "    - {name: quick, debug: {msg: x}}\n"), 6)
    result = plays.run(text, timeout=timeout)
    assert "took longer than its timeout" in result.comment
    assert plays["localhost: quick"].outcome is Outcome.OK
    assert plays["localhost: slow"].outcome is Outcome.FAILED
    assert "it had begun when Ansible ended" in plays["localhost: slow"].comment


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_ansible_that_is_interrupted_is_a_failure_that_says_so(plays: Plays, number: int) -> None:
    flag = plays.base / "begun"
    text = HEAD + (
        f"    - {{name: quick, debug: {{msg: x}}}}\n    - {{name: slow, shell: 'touch {flag}; sleep 4000'}}\n"
    )

    pids: list[int] = []

    def interrupt() -> None:
        while not flag.exists():
            time.sleep(0.05)
        command = ["pgrep", "--oldest", "-f", f"ansible-playbook.*{plays.base}/play.yml"]
        pids.append(int(subprocess.run(command, capture_output=True, text=True).stdout))
        os.kill(pids[0], number)

    thread = threading.Thread(target=interrupt)
    thread.start()
    result = plays.run(text, forks=1)
    thread.join()
    with suppress(ProcessLookupError):
        os.killpg(pids[0], signal.SIGKILL)  # one that is killed leaves its tasks behind
    assert result.outcome is Outcome.FAILED
    assert plays["localhost: quick"].outcome is Outcome.OK
    assert plays["localhost: slow"].outcome is Outcome.FAILED
    assert ("signal 9" if number == signal.SIGKILL else "exit code 99") in result.comment


def test_a_result_is_reported_while_ansible_goes_on(plays: Plays) -> None:
    """The second task ends only if the first one was told before."""
    flag = plays.base / "heard"
    wait = f"'until test -e {flag}; do sleep 0.05; done'"
    text = HEAD + f"    - {{name: first, debug: {{msg: x}}}}\n    - {{name: slow, shell: {wait}}}\n"
    heard: list[str] = []

    def hear(step: SubResult) -> None:
        heard.append(step.id)
        flag.touch()

    from tests import kit

    (plays.base / "play.yml").write_text(text)
    args: dict[str, object] = {
        "inventory": "localhost,",
        "connection": "local",
        "bin_dir": plays.place,
        "extra_vars": {"ansible_python_interpreter": sys.executable},
    }
    chunk = kit.chunk("it", state="ansible", fun="playbooks", name=str(plays.base / "play.yml"), more=args)
    result = plays.bench.caller.call(chunk, chunk.args, test=False, emit=hear)
    assert result.outcome is Outcome.OK
    assert heard[-2:] == ["localhost: first", "localhost: slow"]


def test_the_users_own_callback_plugins_go_on(plays: Plays) -> None:
    own = plays.base / "own"
    own.mkdir()
    (own / "mine.py").write_text(
        "from ansible.plugins.callback import CallbackBase\n"
        "class CallbackModule(CallbackBase):\n"
        "    CALLBACK_VERSION = 2.0\n    CALLBACK_TYPE = 'notification'\n    CALLBACK_NAME = 'mine'\n"
        "    def v2_playbook_on_start(self, playbook): print('mine is here')\n"
    )
    result = plays.run(
        HEAD + "    - {name: a, debug: {msg: x}}\n", env={"ANSIBLE_CALLBACK_PLUGINS": str(own)}
    )
    assert "mine is here" in Path(str(result.data["log"])).read_text()
    assert len(plays.told) == 1


def test_an_ansible_that_tells_nothing_is_one_step_that_says_so(plays: Plays) -> None:
    fake = plays.base / "bin"
    fake.mkdir()
    (fake / "ansible-playbook").write_text("#!/bin/sh\necho all is well\n")
    (fake / "ansible-playbook").chmod(stat.S_IRWXU)
    result = plays.run(WRITE, bin_dir=str(fake))
    assert result.outcome is Outcome.OK
    assert [step.name for step in plays.told] == ["unparsed output"]
    assert "all is well" in plays.told[0].comment


@pytest.mark.skipif(program("git") is None, reason="needs git")
def test_playbooks_from_a_repository(plays: Plays) -> None:
    origin = plays.base / "origin"
    origin.mkdir()
    (origin / "site.yml").write_text(HEAD + "    - {name: a, debug: {msg: x}}\n")
    git = ["git", "-C", str(origin), "-c", "user.name=x", "-c", "user.email=x@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run([*git, *words], check=True)
    target = plays.base / "copy"
    foreseen = plays.file("site.yml", git_repo=str(origin), rundir=str(target), test=True)
    assert foreseen.outcome is Outcome.WOULD_CHANGE
    assert not target.exists()
    result = plays.file("site.yml", git_repo=str(origin), rundir=str(target))
    assert result.outcome is Outcome.OK
    assert [(step.state, step.id) for step in plays.told] == [
        ("git", str(origin)),
        ("ansible", "localhost: a"),
    ]


def test_functions_give_the_results_as_data(plays: Plays) -> None:
    context = plays.bench.context()
    from saltern.modules.functions import ansible

    assert ansible.version(context, bin_dir=plays.place).startswith("2.")
    assert "x" in repr(ansible.targets(context, inventory="x,", bin_dir=plays.place))
    (plays.base / "play.yml").write_text(HEAD + "    - {name: a, debug: {msg: x}, loop: [1]}\n")
    given: dict[str, object] = {"inventory": "localhost,", "connection": "local"}
    found = ansible.playbooks(context, str(plays.base / "play.yml"), bin_dir=plays.place, **given)  # type: ignore[arg-type]
    assert found["result"] is True
    assert repr(found["steps"]).count("'id'") == 2


def test_in_test_mode_a_playbook_may_still_have_to_be_made(plays: Plays) -> None:
    result = plays.file(str(plays.base / "none.yml"), test=True)
    assert result.outcome is Outcome.WOULD_CHANGE
    assert "if an earlier state creates it" in result.comment
