"""``saltern chain list|new|edit|show|diff|validate|import|export|archive``: the stored chains of a
controller.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

from saltern.chains.document import read_chain
from saltern.cli import exits, library_output
from saltern.cli.access_output import Verb, check_words
from saltern.cli.chain_file import read_text
from saltern.cli.chain_packages import package_findings
from saltern.cli.connect import connect
from saltern.fleet.client.client import Client
from saltern.language.diagnostics import Diagnostic, OperationError


def run_library(args: SimpleNamespace) -> int:
    """Run a verb about stored chains; return the exit code."""
    verb = LIBRARY[args.verb]
    check_words(f"chain {args.verb}", args.words, verb.takes, verb.may_take)
    with connect(args) as client:
        return verb.act(args, client, args.words)


def _print(lines: Iterable[str]) -> int:
    for line in lines:
        print(line)
    return exits.OK


def _list(args: SimpleNamespace, client: Client, _words: list[str]) -> int:
    rows = list(client.chains.list(archived=args.archived))
    return (
        _print(library_output.chains(rows)) if args.out == "nested" else library_output.show_data(args, rows)
    )


def _new(args: SimpleNamespace, client: Client, words: list[str]) -> int:
    """Store a new chain; refused if its name is taken."""
    name, text = _read(words[0])
    if any(one["name"] == name for one in client.chains.list(archived=True)):
        what = f"there is a chain {name!r} already"
        fix = f"`saltern chain edit {name} FILE` makes a new version of it"
        raise OperationError(Diagnostic(code="chain-exists", what=what, fix=fix))
    return _show_saved(args, client.chains.save(text, note=args.reason or ""))


def _import(args: SimpleNamespace, client: Client, words: list[str]) -> int:
    _, text = _read(words[0])
    return _show_saved(args, client.chains.save(text, note=args.reason or ""))


def _edit(args: SimpleNamespace, client: Client, words: list[str]) -> int:
    """Store a new version, from an editor or a file; refused if the chain has changed meanwhile."""
    before = client.chains.text(words[0])
    text = read_text(words[1]) if len(words) > 1 else _run_editor(before["text"])
    name = read_chain(text, words[1] if len(words) > 1 else words[0]).name
    if name != before["chain"]:
        what = f"the text defines the chain {name!r}, not {before['chain']!r}"
        raise OperationError(
            Diagnostic(code="chain-name", what=what, fix="`saltern chain new FILE` keeps it")
        )
    return _show_saved(args, client.chains.save(text, note=args.reason or "", base=before["number"]))


def _run_editor(text: str) -> str:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="saltern-edit-") as folder:
        path = os.path.join(folder, "chain.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        if subprocess.run(["/bin/sh", "-c", f'{editor} "$1"', editor, path]).returncode:
            what = f"the editor {editor!r} failed: nothing was changed"
            raise OperationError(Diagnostic(code="chain-editor", what=what, fix="set EDITOR"))
        return read_text(path)


def _read(path: str) -> tuple[str, str]:
    """The name and the text of a chain file."""
    text = read_text(path)
    return read_chain(text, path).name, text


def _show_saved(args: SimpleNamespace, made: dict[str, Any]) -> int:
    if args.out != "nested":
        return library_output.show_data(args, made)
    print(f"{made['chain']}: version {made['number']} ({made['sha256'][:12]})")
    return exits.OK


def _show(args: SimpleNamespace, client: Client, words: list[str]) -> int:
    chain = client.chains.get(words[0])
    versions = [
        {key: value for key, value in one.items() if key != "text"}
        for one in client.chains.versions(words[0])
    ]
    text = client.chains.text(words[0], _number(words[1]) if len(words) > 1 else None)
    if args.out != "nested":
        return library_output.show_data(args, {**chain, "text": text["text"], "versions": versions})
    archived = ", archived" if chain["archived_at"] else ""
    print(f"{chain['name']}: version {chain['version']}, of {chain['owner']}{archived}")
    for one in versions:
        when = library_output.when(one["created"])
        print(f"  {one['number']:>4}  {when}  {one['author']}  {one['note']}".rstrip())
    print(f"\n# version {text['number']}\n{text['text']}", end="")
    return exits.OK


def _export(_args: SimpleNamespace, client: Client, words: list[str]) -> int:
    sys.stdout.write(client.chains.text(words[0], _number(words[1]) if len(words) > 1 else None)["text"])
    return exits.OK


def _diff(args: SimpleNamespace, client: Client, words: list[str]) -> int:
    old, new = [*map(_number, words[1:]), None, None][:2]
    found = client.chains.diff(words[0], old=old, new=new)
    return (
        _print(found["lines"] or ["no difference"])
        if args.out == "nested"
        else library_output.show_data(args, found)
    )


def _validate(args: SimpleNamespace, client: Client, words: list[str]) -> int:
    """Check a file, or a stored chain, against systems."""
    is_file = os.path.lexists(words[0])
    text = read_text(words[0]) if is_file else client.chains.text(words[0])["text"]
    chain, target = read_chain(text, words[0]), args.on or "*"
    rows = client.chains.validate(text, target)
    if all(row["action"] for row in rows if row["level"] == "error"):  # otherwise it is for none of them
        rows += package_findings(client, chain, target)
    code = exits.FAILED if any(row["level"] == "error" for row in rows) else exits.OK
    _ = (
        _print(library_output.findings(rows))
        if args.out == "nested"
        else library_output.show_data(args, rows)
    )
    return code


def _archive(args: SimpleNamespace, client: Client, words: list[str]) -> int:
    client.chains.archive(words[0], undo=args.undo)
    print(f"{words[0]} is {'back' if args.undo else 'archived'}")
    return exits.OK


def _number(word: str) -> int:
    if not word.isdecimal():
        what = f"{word!r} is not a version: versions are numbers"
        raise OperationError(Diagnostic(code="option-shape", what=what))
    return int(word)


LIBRARY: dict[str, Verb] = {
    "list": Verb(_list),
    "new": Verb(_new, takes=("FILE",)),
    "edit": Verb(_edit, takes=("CHAIN",), may_take=("FILE",)),
    "show": Verb(_show, takes=("CHAIN",), may_take=("VERSION",)),
    "diff": Verb(_diff, takes=("CHAIN",), may_take=("OLD", "NEW")),
    "validate": Verb(_validate, takes=("FILE|CHAIN",)),
    "import": Verb(_import, takes=("FILE",)),
    "export": Verb(_export, takes=("CHAIN",), may_take=("VERSION",)),
    "archive": Verb(_archive, takes=("CHAIN",)),
}
