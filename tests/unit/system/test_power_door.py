"""One door to the power switch: every way that leads there honours the configuration, and tests stay out."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.command import Place

import saltern
from saltern.system import power, reboot

DOOR = {"system/power.py", "system/reboot.py"}
SOURCE = Path(saltern.__file__).parent
RUNNERS = (
    "run",
    "popen",
    "call",
    "check",
    "exec",
    "spawn",
    "system",
    "tool",
    "out",
    "ask",
    "systemctl",
    "shell",
)
# Lists of words that begin with the name of such a program, and are no command lines.
NO_COMMAND = {
    "chains/from_sls.py": "the kind of an action",
    "fleet/agent/watch.py": "kinds of barriers",
    "fleet/api/handlers/glance.py": "what a system needs",
    "fleet/controller/chains/run_views.py": "kinds of actions",
    "fleet/controller/indexer.py": "why a system is away",
    "fleet/console/views/command.py": "functions that are confirmed as dangerous",
    "fleet/console/views/plan.py": "keys of a planned action",
    "fleet/controller/ssh/host_reports.py": "why a system is away",
    "fleet/view/chain_plan.py": "keys of a planned action",
    "modules/functions/system/__init__.py": "names of our functions",
    "system/services.py": "a remark in the init script",
}


def last_name(node: ast.expr) -> str:
    """The name that stands last in ``a.b.name`` or alone; anything else as it is written."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ast.unparse(node).rpartition(".")[2]


def is_literal(node: ast.expr) -> bool:
    return last_name(node) == "Literal" and ast.unparse(node) in ("Literal", "typing.Literal")


def words_of(node: ast.AST) -> list[str]:
    """A command line as it may stand in a source file: a list, a tuple, a text, the arguments of a call."""
    parts: list[ast.expr] = []
    if isinstance(node, ast.List | ast.Tuple):
        parts = node.elts
    elif isinstance(node, ast.Call):
        name = last_name(node.func).lower()
        parts = node.args if name.strip("_").startswith(RUNNERS) else []
        if name == "systemctl":
            return ["systemctl", *(str(part.value) for part in parts if isinstance(part, ast.Constant))]
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        words = node.value.split()
        return words if len(words) > 1 else []
    return [str(part.value) for part in parts if isinstance(part, ast.Constant)]


def docstrings(tree: ast.AST) -> set[ast.AST]:
    found: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                found.add(first.value)
    return found


def type_words(tree: ast.AST) -> set[ast.AST]:
    """All that stands in ``Literal[…]``: the values of a type, such as the reasons in a message. No program
    is called by it."""
    found: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and is_literal(node.value):
            found |= set(ast.walk(node.slice))
    return found


def words_looked_for(tree: ast.AST) -> set[ast.AST]:
    """The text in ``"text" in …``: looked for in what a program prints."""
    return {
        node.left
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Constant)
        if isinstance(node.ops[0], ast.In)
    }


def command_lines(text: str) -> list[list[str]]:
    """Whatever in a source file may be a command line."""
    tree = ast.parse(text)
    no_commands = docstrings(tree) | type_words(tree) | words_looked_for(tree)
    return [line for node in ast.walk(tree) if node not in no_commands and (line := words_of(node))]


def test_nothing_else_names_a_program_that_takes_a_machine_down() -> None:
    found = set()
    for file in SOURCE.rglob("*.py"):
        name = str(file.relative_to(SOURCE))
        if name not in DOOR | NO_COMMAND.keys():
            lines = command_lines(file.read_text(encoding="utf-8"))
            found |= {f"{name}: {line}" for line in lines if power.is_power_program(line)}
    assert not found, "go through saltern.system.reboot.current(settings), or say in NO_COMMAND what it is"


@pytest.mark.parametrize(
    "text",
    [
        "subprocess.run(['shutdown', '-r', 'now'])",
        "ctx.host.run('/sbin/reboot', '-f')",
        "os.execvp('poweroff', ['poweroff'])",
        "run('shutdown -r +1')",
        "systemctl(ctx, 'reboot')",
        "COMMAND = ('systemctl', 'isolate', 'reboot.target')",
        "os.system('sync; reboot')",
        "why: Literal['reboot', 'stop'] = run('reboot', '-f')",
        "why: tuple[str, ...] = ('reboot', 'stop')",
        "literal['reboot', '-f']",
        "found = 'reboot -f' == line or run('reboot -f') in said",
        "PROGRAMS[('reboot', '-f')]",
    ],
)
def test_the_search_finds_what_it_is_for(text: str) -> None:
    lines = command_lines(text)
    lines += [["sh", "-c", " ".join(line)] for line in lines]
    assert any(power.is_power_program(line) for line in lines)


@pytest.mark.parametrize(
    "text",
    [
        "why: Literal['reboot', 'stop']",
        "Why = typing.Literal['reboot', 'stop']",
        "needed = 'reboot is required' in ran.out",
    ],
)
def test_values_of_a_type_and_words_looked_for_are_no_command_line(text: str) -> None:
    assert not any(power.is_power_program(line) for line in command_lines(text))


@pytest.mark.parametrize(
    ("line", "is_one"),
    [
        ("shutdown -r +1", True),
        ("/sbin/reboot -f", True),
        ("systemctl reboot", True),
        ("systemctl --force isolate reboot.target", True),
        ("systemctl start poweroff.target", True),
        ("systemctl restart nginx", False),
        ("sudo -n reboot", True),
        ("busybox poweroff", True),
        ("sh -c sync;reboot", True),
        ("telinit 6", True),
        ("touch /tmp/reboot", False),
        ("env A=b true", False),
    ],
)
def test_a_program_is_known_by_its_name_and_words(line: str, is_one: bool) -> None:
    assert power.is_power_program(line.split()) is is_one


# -- every function, with a configured command --------------------------------------------------------

REBOOTS = [("system.reboot",), ("system.reboot", "5"), ("system.reboot", "'23:30'"), ("system.init", "6")]
SWITCHED_OFF = [
    ("system.shutdown",),
    ("system.shutdown", "5"),
    ("system.poweroff",),
    ("system.halt",),
    ("system.init", "0"),
]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    reboot_ = f"reboot_command: [sh, -c, 'echo again \"$0\" >> {tmp_path}/went', '{{time}}']\n"
    off = f"poweroff_command: [sh, -c, 'echo off \"$0\" >> {tmp_path}/went', '{{time}}']\n"
    return made.write({"etc/saltern.yaml": reboot_ + off})


@pytest.mark.parametrize("words", REBOOTS + SWITCHED_OFF)
def test_a_function_uses_the_configured_command(place: Place, words: tuple[str, ...]) -> None:
    done = place.run("call", *words)
    assert done.code == 0, done.err
    when = {"5": "+5", "'23:30'": "23:30"}.get(words[-1], "now")
    assert (place.base / "went").read_text() == f"{'again' if words in REBOOTS else 'off'} {when}\n"


def test_so_does_a_function_that_a_state_calls(place: Place) -> None:
    place.write({"main.sls": "go down:\n  module.run:\n    - system.reboot: [{at_time: 1}]\n"})
    assert place.run("apply", "main").code == 0
    assert (place.base / "went").read_text() == "again +1\n"


def test_so_does_an_exported_chunk_of_a_chain(place: Place) -> None:
    chain = "chain: c\nid: 7\nactions: [{id: r, reboot: {}}, {id: a, command: {run: 'true'}}]\n"
    (place.base / "chain.yaml").write_text(chain)
    words = ("--system", "here", "--export", str(place.states))
    assert place.run("chain", "render", str(place.base / "chain.yaml"), *words).code == 0
    assert place.run("call", "actionchains.start", "7", "here").code == 0
    assert (place.base / "went").read_text() == "again +1\n"


def test_a_forced_reboot_uses_it_too(tmp_path: Path) -> None:
    machine = reboot.MachineRebooter(("touch", str(tmp_path / "went")))
    machine.arm(force=True)
    assert (tmp_path / "went").exists()


# -- the locks around the tests -----------------------------------------------------------------------


@pytest.mark.parametrize("words", REBOOTS + SWITCHED_OFF)
def test_without_a_configured_command_tests_are_refused(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = Place(tmp_path).real("call", *words)
    assert done.code != 0
    assert (
        "refused" in done.err
        or "no test may take this machine down" in done.err
        or "SALTERN_POWER" in done.err
    )


@pytest.mark.parametrize("force", [True, False])
def test_the_machines_own_is_refused_by_the_door(force: bool) -> None:
    with pytest.raises(OSError, match="SALTERN_POWER"):
        reboot.MachineRebooter().arm(60, force=force)


@pytest.mark.parametrize("name", sorted(power.PROGRAMS))
def test_programs_on_the_path_refuse(name: str) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"this machine has no {name}")
    done = subprocess.run([name, "--help"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "no test may take this machine down" in done.stderr


@pytest.mark.skipif(not shutil.which("systemctl"), reason="this machine has no systemctl")
def test_systemctl_refuses_only_to_go_down() -> None:
    said = subprocess.run(["systemctl", "reboot", "--dry-run"], capture_output=True, text=True)
    assert "no test may take this machine down" in said.stderr
    assert subprocess.run(["systemctl", "--version"], capture_output=True).returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: no other user has the permission")
def test_no_child_has_the_permission_to_reboot() -> None:
    code = "print(open('/proc/self/status').read())"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    bounds = next(line for line in said.splitlines() if line.startswith("CapBnd:"))
    assert not int(bounds.split()[1], 16) >> 22 & 1
