"""``saltern migrate``: convert the configuration of a Salt master for a controller and its agents."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from types import SimpleNamespace

import msgspec

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Row, parse
from saltern.cli.options import HUMAN_OR_JSON_ROW
from saltern.config.files import Read, read
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.migration.build import TITLES, Finding, Migration, build_migration
from saltern.migration.files import file_findings
from saltern.migration.keys import CHANGED, SAME
from saltern.report.text import emit, safe_line
from saltern.report.yaml import dump
from saltern.system import atomic

KEYS = {
    "minions": "accepted",
    "minions_pre": "waiting",
    "minions_rejected": "rejected",
    "minions_denied": "denied",
}
LINE = CommandLine(
    command="migrate",
    about="Read the configuration of a Salt master and minion; write one for a controller and its agents, and"
    " a report of what works unchanged, what differs and what is missing. Salt's files are not changed.",
    epilog="examples:\n"
    "  saltern migrate --from-salt --to /etc/saltern.new\n"
    "  saltern migrate --from-salt --salt-config ./etc --to ./new --out json\n\n"
    "exit codes: 0 ok, 1 usage or environment",
    words=(),
    rows=(
        Row(flag="--from-salt", dest="salt", kind="on", default=False, help="from a Salt master or minion"),
        Row(
            flag="--salt-config",
            dest="salt_config",
            metavar="DIR",
            default="/etc/salt",
            help="the directory with `master` or `minion` (default: /etc/salt)",
        ),
        Row(
            flag="--to",
            dest="to",
            metavar="DIR",
            default="",
            help="an empty directory for controller.yaml, agent.yaml, policy.yaml and report.md",
        ),
        Row(
            flag="--no-check",
            dest="check",
            kind="off",
            default=True,
            help="do not compile the state files (saltern check) for the report",
        ),
        HUMAN_OR_JSON_ROW,
    ),
)


def main(argv: list[str]) -> int:
    args = parse(LINE, argv)
    if not args.salt:
        raise OperationError(
            Diagnostic(code="migrate-from", what="there is nothing to migrate from", fix="add --from-salt")
        )
    master, minion = _configurations(args.salt_config)
    made = build_migration(master, minion, _minions(args.salt_config))
    found = list(file_findings(master)) if master is not None else []
    if args.check and made.controller:
        found += _check_files(made.controller)
    made = msgspec.structs.replace(made, findings=[*made.findings, *found])
    if args.to:
        _write_files(made, args.to)
    _print(args, made)
    return exits.OK


def _configurations(folder: str) -> tuple[Read | None, Read | None]:
    paths = [os.path.join(folder, name) for name in ("master", "minion")]
    master, minion = (read(path) if os.path.isfile(path) else None for path in paths)
    if master is None and minion is None:
        raise OperationError(
            Diagnostic(
                code="migrate-nothing",
                what=f"{folder} has neither a master's nor a minion's configuration",
                fix="name its directory with --salt-config",
            )
        )
    return master, minion


def _minions(folder: str) -> dict[str, list[str]]:
    """The ids of minions, by the state of their keys."""
    found = {}
    for name, state in KEYS.items():
        place = os.path.join(folder, "pki", "master", name)
        found[state] = sorted(os.listdir(place)) if os.path.isdir(place) else []
    return found


def _check_files(controller: dict[str, object]) -> Iterator[Finding]:
    """What ``saltern check`` finds in the state files of directories."""
    roots = [*_roots(controller, "file_roots"), *_roots(controller, "pillar_roots")]
    if not any(root.startswith("--file-root") for root in roots):
        return
    command = [sys.executable, "-P", "-m", "saltern", "check", "--out=json", *roots]
    done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    try:
        answer = msgspec.json.decode(done.stdout)
    except msgspec.DecodeError:
        yield Finding(
            kind=CHANGED, what="the state files could not be checked", advice="run saltern check to see why"
        )
        return
    yield Finding(kind=SAME, what=f"{answer['files']} state files were compiled")
    for one in answer["problems"]:
        if one["severity"] == "error":
            where = f"{one['file']}:{one['line']}" if one["file"] else ""
            yield Finding(kind=CHANGED, what=one["message"], where=where, advice=one["fix"])


def _roots(controller: dict[str, object], option: str) -> list[str]:
    """The directories among the roots, as command options."""
    given, flag = controller.get(option), option.removesuffix("s").replace("_", "-")
    return [
        f"--{flag}={env}={root}"
        for env, some in (given.items() if isinstance(given, dict) else ())
        for root in some
        if os.path.isdir(root)
    ]


def _write_files(made: Migration, folder: str) -> None:
    os.makedirs(folder, 0o700, exist_ok=True)
    if os.listdir(folder):
        raise OperationError(
            Diagnostic(
                code="migrate-there", what=f"{folder} is not empty", fix="name another directory with --to"
            )
        )
    texts = {
        "controller.yaml": dump(made.controller) if made.controller else "",
        "agent.yaml": dump(made.agent) if made.agent else "",
        "policy.yaml": made.policy,
        "report.md": "".join(_report(made)),
    }
    for name, text in texts.items():
        if text:
            atomic.write(os.path.join(folder, name), text.encode(), mode=0o600)


def _print(args: SimpleNamespace, made: Migration) -> None:
    if args.out == "json":
        emit(sys.stdout, msgspec.json.encode(made).decode() + "\n")
        return
    for line in _report(made):
        emit(sys.stdout, line)
    if args.to:
        emit(sys.stdout, f"\nwritten to {safe_line(args.to)}\n")


def _report(made: Migration) -> Iterator[str]:
    """The report as Markdown, which is also readable in a terminal."""
    for kind, title in TITLES.items():
        found = [one for one in made.findings if one.kind == kind]
        if found:
            yield f"## {title} ({len(found)})\n\n"
        for one in found:
            where = f" ({safe_line(one.where)})" if one.where else ""
            advice = f": {safe_line(one.advice)}" if one.advice else ""
            yield f"- {safe_line(one.what)}{where}{advice}\n"
        if found:
            yield "\n"
