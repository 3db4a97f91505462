"""Roster files of any kind → one ``Roster``. All problems of all files are reported together, with lines."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from saltern.fleet.ssh.roster import ansible_ini, ansible_yaml, salt
from saltern.fleet.ssh.roster.addresses import read_list
from saltern.fleet.ssh.roster.host import Host, Roster
from saltern.fleet.ssh.roster.inventory import Inventory, hosts_of
from saltern.fleet.ssh.roster.problems import Page
from saltern.fleet.ssh.roster.ssh_config import is_ssh_config, read_ssh_config
from saltern.fleet.ssh.roster.variable_files import add_variable_files
from saltern.language.diagnostics import CompileError, Diagnostic, Diagnostics, OperationError, Severity
from saltern.render.yaml_limits import YamlProblem

Render = Callable[[str, str], str]
PROGRAM_LIMIT = 60.0
MOST_TEXT = 64 * 1024 * 1024
SKIPPED = (".pyc", ".bak", ".orig", ".rpmsave", ".rpmnew", ".retry", "~", ".swp", ".md")
_TEMPLATE = ("{%", "{{", "#!")


def read_roster(sources: Sequence[str], *, render: Render | None = None) -> Roster:
    """The hosts of these files, directories and lists of addresses. Raises ``OperationError``.

    ``render`` fills in a template: (text, file) → text.
    """
    roster, found = Roster(), Diagnostics()
    for source in sources:
        for first, second in roster.add(_hosts(source, found, render)):
            found.error(
                "roster-file",
                f"{second.id!r} is listed twice",
                where=second.where,
                also=((("first here", first.where),) if first.where else ()),
                fix="rename one of them, or remove it",
            )
    try:
        found.check()
    except CompileError as problem:
        raise OperationError(*problem.diagnostics) from None
    roster.warnings = [one for one in found if one.severity is Severity.WARNING]
    return roster


def _hosts(source: str, found: Diagnostics, render: Render | None) -> Iterator[Host]:
    path = os.path.expanduser(source)
    if os.path.isdir(path):
        for name in sorted(os.listdir(path)):
            inner = os.path.join(path, name)
            if os.path.isfile(inner) and not name.startswith(".") and not name.endswith(SKIPPED):
                yield from _file(inner, found, render)
    elif os.path.exists(path):
        yield from _file(path, found, render)
    elif "/" in source or source.endswith((".yaml", ".yml", ".ini", ".json")):
        what = f"there is no roster {source!r}"
        raise OperationError(
            Diagnostic(code="roster-missing", what=what, fix="name a file, a directory or addresses")
        )
    else:
        yield from read_list(source)


def _file(path: str, found: Diagnostics, render: Render | None) -> Iterator[Host]:
    if os.access(path, os.X_OK) and _begins_with(path, b"#!"):
        page = Page(path, _program_output(path), found)
        yield from _with_variables(ansible_yaml.read_program(_json(page), page), page)
        return
    text = _text(path)
    if render is not None and any(mark in text for mark in _TEMPLATE) and not ansible_ini.is_ini(text):
        text = render(text, path)
    page = Page(path, text, found)
    if is_ssh_config(text):
        yield from read_ssh_config(page)
    elif ansible_ini.is_ini(text) or path.endswith(".ini"):
        yield from _with_variables(ansible_ini.read(page), page)
    else:
        yield from _yaml(page)


def _yaml(page: Page) -> Iterator[Host]:
    from saltern.render.yaml import read

    try:
        data = read(page.text)
    except YamlProblem as problem:
        return page.wrong(problem.what, page.line(problem.line), problem.fix)
    if data is None:
        return None
    if isinstance(data, str):  # one name in a line is an inventory, too
        yield from _with_variables(ansible_ini.read(page), page)
    elif not isinstance(data, Mapping):
        page.wrong("a roster is a mapping of systems", page.line(1), "see the guide 'Systems over SSH'")
    elif ansible_yaml.is_inventory(data):
        yield from _with_variables(ansible_yaml.read(data, page), page)
    else:
        yield from salt.read(data, page)
    return None


def _with_variables(inventory: Inventory, page: Page) -> Iterator[Host]:
    add_variable_files(inventory, os.path.dirname(page.file), page.found)
    yield from hosts_of(inventory, page)


def _begins_with(path: str, start: bytes) -> bool:
    with open(path, "rb") as stream:
        return stream.read(len(start)) == start


def _text(path: str) -> str:
    try:
        if os.path.getsize(path) > MOST_TEXT:
            raise _unreadable(path, f"it has more than {MOST_TEXT >> 20} MiB")
        with open(path, encoding="utf-8") as stream:
            return stream.read()
    except UnicodeDecodeError:
        raise _unreadable(path, "it is not UTF-8") from None
    except OSError as problem:
        raise _unreadable(path, problem.strerror or str(problem)) from None


def _program_output(path: str) -> str:
    """What an inventory program prints."""
    try:
        done = subprocess.run(
            [os.path.abspath(path), "--list"],
            capture_output=True,
            text=True,
            timeout=PROGRAM_LIMIT,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise _unreadable(path, f"the program took longer than {PROGRAM_LIMIT:.0f} seconds") from None
    except OSError as problem:
        raise _unreadable(path, problem.strerror or str(problem)) from None
    if done.returncode:
        raise _unreadable(path, f"the program ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout


def _json(page: Page) -> object:
    try:
        return msgspec.json.decode(page.text)
    except msgspec.DecodeError as problem:
        page.wrong(f"the program printed no JSON: {problem}", page.line(1))
        return {}


def _unreadable(path: str, why: str) -> OperationError:
    what = f"the roster {path!r} cannot be read: {why}"
    return OperationError(Diagnostic(code="roster-unreadable", what=what))
