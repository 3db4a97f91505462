"""``cmd`` functions: words or a shell, and what each gives back."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument

Call = Callable[..., object]
BOTH = "echo a; echo b >&2; exit 3"


@pytest.mark.parametrize(
    ("call", "args", "kwargs", "expected"),
    [
        ("cmd.run", ('echo "a b" | cat',), {}, "a b | cat"),
        ("cmd.run", ("echo $HOME",), {}, "$HOME"),
        ("cmd.run", (["echo", "a  b"],), {}, "a  b"),
        ("cmd.run", ('echo "a b" | cat; echo x >&2',), {"python_shell": True}, "a b\nx"),
        ("cmd.run", ("cat",), {"stdin": "hello"}, "hello"),
        ("cmd.run", ("pwd", "/usr"), {}, "/usr"),
        ("cmd.run", ("printf 'a\\n\\n'",), {"rstrip": False}, "a\n\n"),
        ("cmd.run", ("echo $A",), {"env": {"A": "x"}, "python_shell": True}, "x"),
        ("cmd.run", ("false",), {"ignore_retcode": True}, ""),
        ("cmd.run", ("echo {{ engine }}",), {"template": "jinja"}, "jinja"),
        ("cmd.run", ("echo x",), {"output_loglevel": "quiet"}, "x"),
        ("cmd.run", ("echo x",), {"hide_output": True}, ""),
        ("cmd.run_stdout", (BOTH,), {"python_shell": True, "redirect_stderr": True}, "a\nb"),
        ("cmd.shell", (BOTH,), {}, "a\nb"),
        ("cmd.run_stdout", (BOTH,), {"python_shell": True}, "a"),
        ("cmd.run_stderr", (BOTH,), {"python_shell": True}, "b"),
        ("cmd.retcode", (BOTH,), {"python_shell": True}, 3),
        ("cmd.retcode", ("false",), {}, 1),
        ("cmd.retcode", ("false",), {"success_retcodes": [1]}, 0),
        ("cmd.run", ("sleep 20",), {"timeout": 0.1}, "Timed out after 0.1 seconds"),
        ("cmd.exec_code", ("sh", "echo $((1+1))"), {}, "2"),
        ("cmd.exec_code", ("sh", ["echo 1", "echo $1"]), {"args": ["x"]}, "1\nx"),
        ("cmd.has_exec", ("sh",), {}, True),
        ("cmd.has_exec", ("no-such-program",), {}, False),
        ("cmd.which", ("no-such-program",), {}, None),
        ("cmd.which_bin", (["no-such-program"],), {}, None),
    ],
)
def test_a_call_gives_back_what_salts_gives(
    salt: Call, call: str, args: tuple[object, ...], kwargs: dict[str, object], expected: object
) -> None:
    assert salt(call, *args, **kwargs) == expected


def test_run_all_has_everything(salt: Call) -> None:
    answer = salt("cmd.run_all", BOTH, python_shell=True)
    assert isinstance(answer, dict) and answer.pop("pid") > 0
    assert answer == {"retcode": 3, "stdout": "a", "stderr": "b"}


def test_which_finds_programs(salt: Call) -> None:
    assert str(salt("cmd.which", "sh")).endswith("/sh")
    assert str(salt("cmd.which_bin", ["no-such-program", "sh"])).endswith("/sh")


def test_a_background_command_gives_its_number(salt: Call) -> None:
    answer = salt("cmd.run_bg", "true")
    assert isinstance(answer, dict) and answer["pid"] > 0


@pytest.mark.parametrize(
    ("args", "kwargs", "said"),
    [
        (("no-such-program a",), {}, "no such file or directory"),
        (("pwd",), {"cwd": "/zz"}, '"/zz" is not available'),
        (("echo 'open",), {}, "no closing quotation"),
        (("",), {}, "the command is empty"),
        (("true",), {"tiemout": 3}, "did you mean 'timeout'?"),
        (("false",), {"raise_err": True}, "failed with exit code 1"),
    ],
)
def test_what_cannot_be_is_refused_in_words(
    salt: Call, args: tuple[object, ...], kwargs: dict[str, object], said: str
) -> None:
    with pytest.raises(BadArgument, match=said):
        salt("cmd.run", *args, **kwargs)


def test_the_exit_code_is_left_for_guards(ctx: Context, salt: Call) -> None:
    for ignored, left in ((False, 1), (True, 0)):
        salt("cmd.run", "false", ignore_retcode=ignored)
        assert ctx.run.context["retcode"] == left


def test_a_shell_can_be_the_default(make_context: Callable[..., Context]) -> None:
    unsafe = make_context(opts={"cmd_safe": False})
    assert unsafe.functions["cmd.run"]("echo a | cat") == "a"
    assert unsafe.functions["cmd.run"]("echo a | cat", python_shell=False) == "a | cat"


def test_a_script_of_the_tree_runs(salt: Call, tree: Callable[[str, str], str]) -> None:
    tree("s.sh", "#!/bin/sh\necho $1; exit 2\n")
    answer = salt("cmd.script", "salt://s.sh", args="x")
    assert isinstance(answer, dict)
    assert (answer["stdout"], answer["retcode"]) == ("x", 2)
    assert salt("cmd.script_retcode", "salt://s.sh") == 2
    with pytest.raises(BadArgument, match="cannot find the script"):
        salt("cmd.script", "salt://none.sh")


def test_a_text_is_written_to_a_terminal(salt: Call) -> None:
    import os
    import pty

    ours, theirs = pty.openpty()
    try:
        device = os.ttyname(theirs).removeprefix("/dev/").replace("/", "")
        assert "Success" in salt("cmd.tty", device, "hello")  # type: ignore[operator]
        assert os.read(ours, 100) == b"hello"
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.parametrize(
    "device", ["sda", "../etc/passwd", "tty/../../etc/passwd", "pts", "pts99999", "tty\n"]
)
def test_what_is_no_terminal_is_not_written_to(salt: Call, device: str) -> None:
    assert list(salt("cmd.tty", device, "x")) == ["Error"]  # type: ignore[call-overload]
