"""``cmd.run``, ``cmd.wait`` and the reaction to a watch."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from saltern.language.result import Outcome
from saltern.modules.api.context import Context
from saltern.modules.states import cmd

ROOT = os.geteuid() == 0


def test_a_command_that_succeeds_tells_what_it_printed(ctx: Context) -> None:
    result = cmd.run(ctx, "echo out; echo err >&2")
    pid = result.changes.pop("pid")
    assert isinstance(pid, int) and pid > 0
    assert (result.outcome, result.comment) == (Outcome.OK, 'Command "echo out; echo err >&2" run')
    assert result.changes == {"retcode": 0, "stdout": "out", "stderr": "err"}


@pytest.mark.parametrize(
    ("command", "args", "code"),
    [
        ("false", {}, 1),
        ("exit 3", {}, 3),
        ("exit 4", {"success_retcodes": [3]}, 4),
        ("no_such_command_at_all", {}, 127),
        ("kill -9 $$", {}, -9),
    ],
)
def test_a_command_that_fails_is_a_failure_with_its_exit_code(
    ctx: Context, command: str, args: dict[str, object], code: int
) -> None:
    result = cmd.run(ctx, command, **args)  # type: ignore[arg-type]
    assert (result.outcome, result.changes["retcode"]) == (Outcome.FAILED, code)
    assert result.comment == f'Command "{command}" run'


@pytest.mark.parametrize(
    "args",
    [
        {"success_retcodes": 3},
        {"success_retcodes": [2, "3"]},
        {"success_stdout": ["fine"]},
        {"success_stderr": "ok"},
        {"success_stdout": "nothing, in"},
        {"success_stderr": ["no", "o"]},
        {"success_retcodes": "2, 3"},
    ],
)
def test_what_counts_as_success_can_be_widened(ctx: Context, args: dict[str, object]) -> None:
    result = cmd.run(ctx, "echo fine; echo ok >&2; exit 3", **args)  # type: ignore[arg-type]
    assert (result.outcome, result.changes["retcode"]) == (Outcome.OK, 0)


@pytest.mark.parametrize(
    "args",
    [{"success_stdout": ""}, {"success_stderr": [""]}, {"success_stdout": ["ok"]}, {"success_stdout": ","}],
)
def test_what_the_output_does_not_hold_is_no_success(ctx: Context, args: dict[str, object]) -> None:
    result = cmd.run(ctx, "echo fine; echo ok >&2; exit 3", **args)  # type: ignore[arg-type]
    assert (result.outcome, result.changes["retcode"]) == (Outcome.FAILED, 3)


@pytest.mark.parametrize(
    ("command", "args", "out"),
    [
        ("pwd", {}, str(Path("~").expanduser())),
        ("pwd", {"cwd": "/usr"}, "/usr"),
        ("echo $A $B", {"env": {"A": 1, "B": True}}, "1 True"),
        ("echo $A $B", {"env": [{"A": 1}, {"B": "x"}]}, "1 x"),
        ("echo $LC_MESSAGES $LANGUAGE", {}, "C C"),
        ("umask", {"umask": "077"}, "0077"),
        ("umask", {"umask": 77}, "0077"),
        ("echo $0", {"shell": "/bin/bash"}, "/bin/bash"),
        ("echo ${PATH%%:*}", {"prepend_path": "/opt/zz"}, "/opt/zz"),
        ("cat", {"stdin": "fed"}, "fed"),
        ("printf 'a\\n\\nb \\n\\n'", {}, "a\n\nb"),
        ("for i in 1 2; do\n  echo $i\ndone\n", {}, "1\n2"),
    ],
)
def test_options_reach_the_command(ctx: Context, command: str, args: dict[str, object], out: str) -> None:
    assert cmd.run(ctx, command, **args).changes["stdout"] == out  # type: ignore[arg-type]


@pytest.mark.parametrize(("grains", "shell"), [({}, "/bin/sh"), ({"shell": "/bin/bash"}, "/bin/bash")])
def test_the_shell_is_the_machines_own_or_sh(
    make_context: Callable[..., Context], grains: dict[str, object], shell: str
) -> None:
    assert cmd.run(make_context(grains=grains), "echo $0").changes["stdout"] == shell


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"cwd": "/no/such/place"}, 'Desired working directory "/no/such/place" is not available'),
        ({"cwd": "relative"}, 'Desired working directory "relative" is not available'),
        ({"runas": "no-such-user"}, "User 'no-such-user' is not available"),
        ({"shell": "/bin/no-shell"}, "The shell /bin/no-shell is not available"),
        ({"env": "A=1"}, "env needs a mapping or a list of mappings, got 'A=1'"),
        ({"umask": "99"}, "umask needs an octal number such as 077, got '99'"),
    ],
)
def test_what_cannot_be_is_refused_in_words_and_runs_nothing(
    ctx: Context, args: dict[str, object], said: str
) -> None:
    result = cmd.run(ctx, "true", **args)  # type: ignore[arg-type]
    assert (result.outcome, result.comment, result.changes) == (Outcome.FAILED, said, {})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("cwdd", ("argument 'cwdd' has no effect here; did you mean 'cwd'?",)),
        ("user", ("argument 'user' has no effect here; did you mean 'runas'?",)),
        ("zork", ("argument 'zork' has no effect here",)),
        ("use_vt", ()),
    ],
)
def test_an_argument_that_means_nothing_is_reported_and_not_obeyed(
    ctx: Context, given: str, said: tuple[str, ...]
) -> None:
    result = cmd.run(ctx, "true", **{given: "x"})  # type: ignore[arg-type]
    assert (result.outcome, result.warnings) == (Outcome.OK, said)


def test_output_can_be_hidden(ctx: Context) -> None:
    result = cmd.run(ctx, "echo secret; echo secret >&2", hide_output=True)
    assert (result.changes["stdout"], result.changes["stderr"]) == ("", "")


def test_a_command_that_takes_too_long_fails_unless_that_is_fine(ctx: Context) -> None:
    result = cmd.run(ctx, "echo first; sleep 30", timeout=0.2)
    assert (result.outcome, result.changes["retcode"]) == (Outcome.FAILED, 1)
    assert result.changes["stdout"] == "first\nTimed out after 0.2 seconds"
    fine = cmd.run(ctx, "sleep 30", timeout=0.2, ignore_timeout=True)
    assert (fine.outcome, fine.changes["retcode"]) == (Outcome.OK, 0)


def test_a_command_in_the_background_is_not_waited_for(ctx: Context, tmp_path: Path) -> None:
    gate, passed = tmp_path / "gate", tmp_path / "done"
    result = cmd.run(
        ctx, f"until test -e {gate}; do sleep 0.05; done; touch {passed}; exec sleep 4000", bg=True
    )
    gate.touch()  # it is still to come, so nothing was waited for
    assert (result.outcome, result.changes["retcode"]) == (Outcome.OK, None)
    pid = result.changes["pid"]
    assert isinstance(pid, int)
    while not passed.exists():
        time.sleep(0.05)
    os.kill(pid, 9)


@pytest.mark.skipif(not ROOT, reason="only root may run a command as another user")
def test_a_command_runs_as_another_user(ctx: Context) -> None:
    assert cmd.run(ctx, "id -un", runas="nobody").changes["stdout"] == "nobody"


@pytest.mark.skipif(not ROOT, reason="only root may change the root directory")
def test_a_command_runs_inside_another_root(ctx: Context) -> None:
    assert cmd.run(ctx, "echo inside", root="/").changes["stdout"] == "inside"


def test_test_mode_runs_nothing(testing: Context, tmp_path: Path) -> None:
    result = cmd.run(testing, f"touch {tmp_path}/f")
    assert result.outcome is Outcome.WOULD_CHANGE
    assert result.comment == f'Command "touch {tmp_path}/f" would have been executed'
    assert result.changes == {"cmd": f"touch {tmp_path}/f"}
    assert not (tmp_path / "f").exists()


@pytest.mark.parametrize(
    ("command", "changed", "comment", "told"),
    [
        ("echo \"changed=yes comment='hi there' a=b\"", True, "hi there", {"changed": "yes", "a": "b"}),
        ("echo junk; echo; echo changed=no a=b", False, "", {}),
        ('echo \'{"changed": true, "comment": "c", "a": [1]}\'', True, "c", {"changed": True, "a": [1]}),
        ("printf '{\\n\"changed\": true}\\n'", True, "", {"changed": True}),
        ('echo x; echo \'{"changed": "false", "comment": "c"}\'', False, "c", {}),
        ("echo a=b", False, "", {}),
        ("true", False, "", {}),
    ],
)
def test_a_stateful_command_tells_what_it_did(
    ctx: Context, command: str, changed: bool, comment: str, told: dict[str, object]
) -> None:
    result = cmd.run(ctx, command, stateful=True)
    assert (result.outcome, result.comment, result.changed) == (Outcome.OK, comment, changed)
    assert {key: value for key, value in result.changes.items() if key in told} == told


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("echo a; echo; echo b; echo changed=yes", "a\n\nb"),
        ("echo changed=yes", ""),
        ("printf '{\\n\"changed\": true}\\n'", ""),
        ("echo log; echo '{\"changed\": true}'", "log"),
        ("printf 'a\\nchanged=yes\\n\\n'", "a"),
    ],
)
def test_what_a_stateful_command_says_of_itself_is_no_output(ctx: Context, command: str, shown: str) -> None:
    assert cmd.run(ctx, command, stateful=True).changes["stdout"] == shown


def test_a_stateful_command_that_fails_is_a_failure_whatever_it_says(ctx: Context) -> None:
    assert cmd.run(ctx, "echo changed=yes; exit 2", stateful=True).outcome is Outcome.FAILED


def test_a_stateful_command_that_says_nothing_known_fails(ctx: Context) -> None:
    result = cmd.run(ctx, "echo junk", stateful=True)
    assert result.outcome is Outcome.FAILED
    assert "must be JSON or name=value pairs" in result.comment


def test_stateful_with_any_other_value_means_nothing(ctx: Context) -> None:
    assert cmd.run(ctx, "echo junk", stateful="maybe").outcome is Outcome.OK


@pytest.mark.parametrize(
    ("says", "outcome"), [("changed=yes", Outcome.WOULD_CHANGE), ("changed=no", Outcome.OK)]
)
def test_a_stateful_command_can_have_another_for_test_mode(
    testing: Context, says: str, outcome: Outcome
) -> None:
    result = cmd.run(testing, "exit 9", stateful=[{"test_name": f"echo {says} comment=asked"}])
    assert (result.outcome, result.comment) == (outcome, "asked")


def test_wait_does_nothing_until_a_watch_fires(ctx: Context, tmp_path: Path) -> None:
    command = f"touch {tmp_path}/f"
    assert cmd.wait(ctx, command, cwd="/").changed is False
    assert not (tmp_path / "f").exists()
    result = cmd.mod_watch(ctx, command, sfun="wait", cwd="/", timeout="5")
    assert (result.outcome, result.changed) == (Outcome.OK, True)
    assert (tmp_path / "f").exists()


def test_a_watch_is_reported_where_it_cannot_work(ctx: Context) -> None:
    result = cmd.mod_watch(ctx, "x", sfun="zork")
    assert (result.outcome, "cmd.zork cannot react" in result.comment) == (Outcome.FAILED, True)


def test_a_watch_checks_arguments_as_a_run_does(ctx: Context) -> None:
    assert "needs a number" in cmd.mod_watch(ctx, "true", sfun="wait", timeout="soon").comment


@pytest.mark.parametrize("command", ["echo out; echo err >&2", "echo out; echo err >&2; exit 3"])
def test_data_has_what_the_command_left_whether_or_not_it_succeeded(ctx: Context, command: str) -> None:
    result = cmd.run(ctx, command)
    assert result.data == result.changes
    assert (result.data["stdout"], result.data["stderr"]) == ("out", "err")
    assert result.data.keys() == {"stdout", "stderr", "retcode", "pid"}


def test_a_stateful_command_that_changed_nothing_has_data_all_the_same(ctx: Context) -> None:
    result = cmd.run(ctx, 'echo \'{"changed": false, "uuid": "ab", "blocks": [1]}\'', stateful=True)
    assert (result.changes, result.data["uuid"], result.data["blocks"]) == ({}, "ab", [1])
    assert result.data["retcode"] == 0


def test_what_a_command_says_of_itself_cannot_replace_what_it_left(ctx: Context) -> None:
    assert cmd.run(ctx, "echo changed=no retcode=9", stateful=True).data["retcode"] == 0


def test_a_stateful_command_has_data_in_test_mode_from_the_one_that_is_asked(testing: Context) -> None:
    result = cmd.run(testing, "exit 9", stateful=[{"test_name": "echo changed=no uuid=ab"}])
    assert (result.outcome, result.data["uuid"]) == (Outcome.OK, "ab")


def test_hidden_output_is_hidden_in_data_too(ctx: Context) -> None:
    assert "secret" not in str(cmd.run(ctx, "echo secret", hide_output=True).data)


def test_a_reaction_has_data_as_a_run_has(ctx: Context) -> None:
    assert cmd.wait(ctx, "echo x").data == {}
    assert cmd.mod_watch(ctx, "echo x", sfun="wait").data["stdout"] == "x"


def test_a_command_that_only_reads_is_no_change(ctx: Context) -> None:
    result = cmd.run(ctx, "echo found", read_only=True)
    assert (result.outcome, result.changes) == (Outcome.OK, {})
    assert result.data["stdout"] == "found"


def test_a_command_that_only_reads_fails_as_any_other(ctx: Context) -> None:
    assert cmd.run(ctx, "false", read_only=True).outcome is Outcome.FAILED


def test_a_command_may_have_the_variables_it_is_given_and_no_others(
    ctx: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SALTERN_T", "ours")
    shown = "echo ${SALTERN_T-none} ${OTHER-none}"
    assert cmd.run(ctx, shown, env={"OTHER": "x"}).changes["stdout"] == "ours x"
    assert cmd.run(ctx, shown, env={"OTHER": "x"}, clean_env=True).changes["stdout"] == "none x"


def test_a_command_is_rendered_if_asked(ctx: Context) -> None:
    assert cmd.run(ctx, "echo {{ engine }}", template="jinja").changes["stdout"] == "jinja"
    assert cmd.run(ctx, "echo {{ engine }}").changes["stdout"] == "{{ engine }}"


def test_the_output_may_be_one_and_is_kept_to_its_end(ctx: Context) -> None:
    done = cmd.run(ctx, "echo out; echo err >&2; echo", redirect_stderr=True, rstrip=False)
    assert (done.changes["stdout"], done.changes["stderr"]) == ("out\nerr\n\n", "")


def test_a_command_may_keep_its_language(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_TIME", "de_DE.UTF-8")
    assert cmd.run(ctx, "echo $LC_TIME").changes["stdout"] == "C"
    assert cmd.run(ctx, "echo $LC_TIME", reset_system_locale=False).changes["stdout"] == "de_DE.UTF-8"
