"""Whatever the user writes, no program takes it for an option, no shell for a command, no table for a line.

Every state and every execution function is called with hostile texts in each of its arguments, on a machine
in memory whose programs are written down and not run.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from saltern.config.settings import Settings
from saltern.engine.session import Session
from saltern.language.chunk import Chunk
from saltern.language.high import Declaration
from saltern.language.source import Mark, SlsRef
from saltern.modules.api.argv import CARRY_OPTIONS, END
from saltern.modules.api.params import Schema
from saltern.modules.api.registry import FUNCTIONS, STATES, Registry, schema
from saltern.system.clock import FakeClock
from saltern.system.process import Ran
from saltern.testing.memory import MemoryHost
from saltern.testing.redirect import in_memory

MARK = "evilmark"
OPTIONS = (f"--{MARK}=/etc/passwd", f"-{MARK}", f"x --{MARK}")
LINES = (f"x\n{MARK} line", f"x\r\n{MARK} line", f"x\r{MARK} line")
OTHERS = (f"x\0{MARK}", f"$({MARK})", f"; {MARK};", "*", "A" * 70000)
REPLIES = (Ran(code=0, pid=1), Ran(code=1, pid=1, err="no"), Ran(code=0, pid=1, out="a b\nc d\n"))
# They talk to engines that are programs of their own, or wait for the world; their own tests are elsewhere.
NOT_CALLED = {
    "functions": {"actionchains", "ansible", "event", "saltutil"},
    "states": {"ansible", "chef", "idem", "puppet", "pyinfra", "saltcall", "terraform", "actionchains"},
}
# Whole files, or texts that may have several lines, are what these arguments are for.
TEXTS = frozenset(
    [
        "contents",
        "content",
        "text",
        "data",
        "dataset",
        "source",
        "sources",
        "template",
        "defaults",
        "context",
        "message",
        "value",
        "body",
        "query",
        "repl",
        "pattern",
        "before",
        "after",
        "header",
        "footer",
        "append_newline",
        "pre_lines",
        "stdin",
        "json",
        "form",
        "pem_type",
        "key_text",
        "match",
        "private_key",
        "public_key",
        "params",
        "grain",
        "grains",
        "rules",
        "rich_rules",
        "code",
        "cmd",
        "command",
        "job",
        "name_of_text",
        "marker_start",
        "marker_end",
        "insert_before_match",
        "insert_after_match",
    ]
)


TABLES = {
    "/etc/hosts": "127.0.0.1 localhost\n",
    "/etc/fstab": "/dev/sda1 / ext4 defaults 0 1\n",
    "/etc/aliases": "root: admin\n",
    "/etc/sysctl.conf": "a.b = 1\n",
    "/etc/sysctl.d/99-salt.conf": "",
    "/etc/apt/sources.list": "deb http://deb.example.org/debian stable main\n",
    "/etc/logrotate.conf": "weekly\n",
    "/etc/modules": "",
    "/etc/locale.gen": "# en_US.UTF-8 UTF-8\n",
    "/etc/default/locale": "LANG=C\n",
    "/etc/passwd": "root:x:0:0:root:/root:/bin/sh\n",
    "/etc/group": "root:x:0:\n",
    "/etc/shadow": "root:*:19000:0:99999:7:::\n",
    "/root/.ssh/authorized_keys": "",
    "/root/.ssh/known_hosts": "",
    "/srv/name": "[a]\nb = c\n",
    "/srv/file": "[a]\nb = c\n",
    "/srv/path": "",
}


QUICK = {"algo": "ec"}  # such a key is made at once, and one of RSA takes half a second
# They run what they are given, or write YAML, where a text of several lines stays one value.
SCRIPTS = {("at", "name")}  # a job may have several lines
TAKE_LINES = {"cmd", "exec", "module", "saltutil", "state", "grains"}


@cache
def runs_commands(kind: str, module: str, fun: str) -> bool:
    registry = Registry()
    nature = registry.nature(module, fun) if kind == "states" else registry.function_nature(f"{module}.{fun}")
    return nature.runs_commands


class Recorder(MemoryHost):
    """Answers every program with the same reply, and keeps what was run as it was given."""

    def __init__(self, reply: Ran) -> None:
        super().__init__(TABLES)
        self.reply = reply
        self.commands_run: list[str | Sequence[str]] = []
        self.fed: list[str] = []

    def run(self, command: str | Sequence[str], stdin: str | bytes | None = None, **_: Any) -> Ran:
        self.fed.append(stdin.decode(errors="replace") if isinstance(stdin, bytes) else stdin or "")
        self.commands_run.append(command if isinstance(command, str) else list(command))
        if not isinstance(command, str) and any("\0" in word for word in command):
            raise ValueError("embedded null byte")
        return self.reply


UNTOUCHED = Recorder(REPLIES[0])


def recorder(reply: Ran) -> Recorder:
    """A machine of its own for one call: a copy of one that was made once."""
    made = copy(UNTOUCHED)
    made.nodes = {path: copy(node) for path, node in UNTOUCHED.nodes.items()}
    made.reply, made.commands_run, made.fed = reply, [], []
    return made


@pytest.fixture(autouse=True)
def nobody_waits(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(time, "sleep", lambda _: None)
    before = dict(os.environ)
    mask = os.umask(0o022)
    yield
    os.umask(mask)
    os.environ.clear()
    os.environ.update(before)


def filler(name: str, annotation: str) -> object:
    """A value that is fine for an argument of this kind."""
    if "bool" in annotation:
        return True
    if annotation.startswith(("int", "float")):
        return 1
    if annotation.startswith(("dict", "Mapping")):
        return {"a": "b"}
    if annotation.startswith(("list", "Sequence", "tuple")):
        return ["a"]
    return f"/srv/{name}" if name in ("name", "path", "cwd", "target", "directory", "file", "config") else "a"


def hostile(annotation: str, text: str) -> Iterator[object]:
    if annotation.startswith(("bool", "int", "float")):
        return
    if annotation.startswith(("dict", "Mapping")):
        yield {"a": text}
        yield {text: "a"}
    elif annotation.startswith(("list", "Sequence", "tuple")):
        yield [text]
    else:
        yield text
        if "object" in annotation or "Any" in annotation:
            yield [text]
            yield {"a": text}


def calls(known: Schema, *, named: bool, text: str) -> Iterator[tuple[str, str, dict[str, object]]]:
    """The argument that is hostile, the name, and the keywords, one argument after the other."""
    fill = {name: filler(name, known.params[name].annotation) for name in known.required}
    fill |= QUICK if known.params.keys() >= {"algo", "keysize"} else {}
    if named:
        yield "name", text, dict(fill)
    for name, param in known.params.items():
        for value in hostile(param.annotation, text):
            yield name, "/srv/a", {**fill, name: value}


def session(host: MemoryHost, place: Path) -> Session:
    settings = Settings(
        file_roots={"base": [str(place)]}, cachedir=str(place / "cache"), grains_file=os.devnull
    )
    return Session(settings, host=host, clock=FakeClock(), grains={"os_family": "Debian", "os": "Debian"})


class Line:
    file = "hostile.sls"

    """Where a state was declared."""

    def mark(self, _path: Any = ()) -> Mark:
        return Mark("hostile.sls", 1)


def one_call(
    engine: Session, kind: str, module: str, fun: str, name: str, keywords: dict[str, object]
) -> Callable[[], object]:
    if kind == "functions":
        return lambda: engine.caller.function(f"{module}.{fun}", (), keywords)
    declared = Declaration(
        id="i", state=module, key="i", items=[fun], ref=SlsRef("base", "hostile"), origin=Line()
    )
    chunk = Chunk(state=module, fun=fun, id="i", name=name, order=0, args=keywords, declared=declared)
    return lambda: engine.caller.call(chunk, {"name": name, **keywords}, test=False)


def tried(
    kind: str, module: str, fun: str, text: str, reply: Ran, place: Path
) -> Iterator[tuple[str, Recorder]]:
    """Every call of one function with this text; the argument that held it, and what the machine saw."""
    registry = Registry()
    found = registry.state(module, fun) if kind == "states" else registry.function(f"{module}.{fun}")
    assert found is not None
    for argument, name, keywords in calls(schema(found), named=kind == "states", text=text):
        host = recorder(reply)
        engine = session(host, place)
        call = one_call(engine, kind, module, fun, name, keywords)
        with in_memory(host, (str(place),)), suppress(Exception, SystemExit):  # refusing is fine
            call()
        yield argument, host


def members(kind: str) -> Iterator[tuple[str, str]]:
    registry = Registry()
    for module in STATES if kind == "states" else FUNCTIONS:
        if module not in NOT_CALLED[kind]:
            yield from ((module, fun) for fun in registry.members(kind, module))


ALL = [(kind, *one) for kind in ("functions", "states") for one in members(kind)]


def option_of_the_user(argv: Sequence[str]) -> str | None:
    """A word of the user's in the place of an option."""
    for word in argv[1:]:
        if word == END:
            return None
        if word.startswith("-") and word.lstrip("-").startswith(MARK):
            return word
    return None


@pytest.mark.parametrize(("kind", "module", "fun"), ALL, ids=[".".join(one) for one in ALL])
def test_no_argument_becomes_an_option_or_a_command(kind: str, module: str, fun: str, tmp_path: Path) -> None:
    wrong = []
    for text in (*OPTIONS, OTHERS[1], OTHERS[2]):
        for argument, host in tried(kind, module, fun, text, REPLIES[0], tmp_path):
            if argument in CARRY_OPTIONS or runs_commands(kind, module, fun):
                continue
            for command in host.commands_run:
                if isinstance(command, str):
                    wrong += [(argument, command)] if MARK in command else []
                elif option_of_the_user(command):
                    wrong.append((argument, " ".join(command)))
    assert wrong == []


def own_lines(host: Recorder) -> list[str]:
    """Lines of files and of what programs were fed that the user made of a value."""
    texts = [node.data for node in host.nodes.values()]
    every = [*(text.decode(errors="replace") for text in texts), *host.fed]
    return [line for text in every for line in text.splitlines() if line.startswith(MARK)]


@pytest.mark.parametrize(("kind", "module", "fun"), ALL, ids=[".".join(one) for one in ALL])
def test_no_argument_becomes_a_line(kind: str, module: str, fun: str, tmp_path: Path) -> None:
    wrong = []
    if module in TAKE_LINES:
        pytest.skip("runs what it is given, or writes YAML")
    for text in LINES:
        for reply in REPLIES[::2]:
            for argument, host in tried(kind, module, fun, text, reply, tmp_path):
                if argument not in TEXTS and (module, argument) not in SCRIPTS and own_lines(host):
                    wrong.append((argument, own_lines(host)))
    assert wrong == []


@pytest.mark.parametrize(
    ("kind", "module", "fun"),
    [("functions", "git", "fetch"), ("states", "group", "present"), ("states", "npm", "installed")],
)
def test_the_machine_in_memory_sees_what_programs_are_given(
    kind: str, module: str, fun: str, tmp_path: Path
) -> None:
    seen = [
        word
        for _, host in tried(kind, module, fun, "harmless", REPLIES[0], tmp_path)
        for command in host.commands_run
        for word in command
    ]
    assert "harmless" in seen


SECRET = "geheim-evilmark"
SECRETS = frozenset(
    {
        "connection_pass",
        "db_password",
        "default_password",
        "https_pass",
        "passphrase",
        "password",
        "pkcs12_passphrase",
        "private_key_passphrase",
        "rolepassword",
        "shared_secret",
        "signing_private_key_passphrase",
        "ssh_key_password",
        "ssh_password",
    }
)


def holds_secrets(kind: str, module: str, fun: str) -> bool:
    registry = Registry()
    found = registry.state(module, fun) if kind == "states" else registry.function(f"{module}.{fun}")
    return (
        found is not None
        and not runs_commands(kind, module, fun)
        and bool(SECRETS & set(schema(found).params))
    )


HOLDERS = [one for one in ALL if holds_secrets(*one)]


@pytest.mark.parametrize(("kind", "module", "fun"), HOLDERS, ids=[".".join(one) for one in HOLDERS])
def test_no_secret_is_seen_in_the_list_of_processes(kind: str, module: str, fun: str, tmp_path: Path) -> None:
    wrong = []
    for reply in REPLIES:
        for argument, host in tried(kind, module, fun, SECRET, reply, tmp_path):
            if argument in SECRETS:
                wrong += [(argument, str(one)) for one in host.commands_run if SECRET in str(one)]
    assert wrong == []
