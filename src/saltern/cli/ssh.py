"""``saltern ssh``: reach systems over SSH, without states."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.cli.options import SSH_ROWS
from saltern.cli.ssh_hosts import chosen_hosts, make_reach, number, read
from saltern.fleet.ssh.bundle.make import Bundles, bundle_directory
from saltern.fleet.ssh.bundle.target import Target, local_target
from saltern.language.diagnostics import Diagnostic, OperationError

if TYPE_CHECKING:
    from saltern.fleet.ssh.raw import Said

ABOUT = """\
Reach systems over SSH. States are applied with `saltern apply SLS --on TARGET --roster FILE`.

  raw COMMAND      run a shell command on the systems, also on systems without Python
  roster           list the systems of the roster with their groups, and report every problem
  bundle           prepare the bundle for systems with another Python, where no package index is reachable"""
EPILOG = """\
examples:
  saltern ssh roster --roster hosts.yaml
  saltern ssh raw --on 'web*' --roster hosts.yaml uptime
  saltern ssh bundle --python 3.12 --platform aarch64

exit codes: 0 ok, 1 the roster is wrong, 2 a system was not reached or its command failed"""
LINE = CommandLine(
    command="ssh",
    about=ABOUT,
    epilog=EPILOG,
    words=(
        Word(dest="verb", metavar="VERB", help="raw, roster or bundle", choices=("raw", "roster", "bundle")),
        Word(dest="words", metavar="COMMAND", help="for raw: the command", many=True),
    ),
    rows=(
        Row(flag="--on", dest="on", metavar="TARGET", default="*", help="which systems of the roster"),
        *SSH_ROWS,
        Row(
            flag="--timeout",
            dest="timeout",
            metavar="SECONDS",
            default="0",
            help="for raw: end commands that take longer",
        ),
        Row(flag="--python", dest="python", metavar="X.Y", help="for bundle: the Python of the systems"),
        Row(
            flag="--platform",
            dest="platform",
            metavar="MACHINE",
            help="for bundle: x86_64, aarch64 …; x86_64-musl for Alpine",
        ),
    ),
)


def main(argv: list[str]) -> int:
    args = parse(LINE, argv)
    return VERBS[args.verb](args)


def _roster(args: SimpleNamespace) -> int:
    roster = read(args)
    hosts = chosen_hosts(args, roster)
    width = max(len(host.id) for host in hosts)
    for host in hosts:
        address = f"{host.user}@{host.address}" if host.user else host.address
        port = f":{host.port}" if host.port else ""
        groups = " ".join(f"@{group}" for group in sorted(host.groups))
        print(f"{host.id:<{width}}  {'this machine' if host.local else address + port}  {groups}".rstrip())
    return exits.OK


def _raw(args: SimpleNamespace) -> int:
    from saltern.fleet.ssh.raw import run_raw

    if not args.words:
        what = "saltern ssh raw needs a command"
        raise OperationError(Diagnostic(code="no-command", what=what, fix="saltern ssh raw --on '*' uptime"))
    hosts = chosen_hosts(args, read(args))
    limit = number(args.timeout, "--timeout")
    return _show(run_raw(hosts, " ".join(args.words), make_reach(args), limit=limit))


def _show(said: Mapping[str, Said]) -> int:
    """Print what each system answered, equal answers once; return the exit code."""
    groups: dict[tuple[object, ...], list[str]] = {}
    for id_, one in said.items():
        key = (one.code, one.out, one.err, str(one.problem or ""), one.problem and one.problem.kind)
        groups.setdefault(key, []).append(id_)
    for ids in groups.values():
        one = said[ids[0]]
        print(f"{', '.join(ids)}:{f' exit code {one.code}' if one.code else ''}")
        for line in one.out.splitlines():
            print(f"  {line}")
        for line in one.err.splitlines() if not one.problem else ():
            print(f"  {line}", file=sys.stderr)
        if one.problem is not None:
            print(f"  {one.problem.diagnostic()}", file=sys.stderr)
    return exits.FAILED if any(one.code or one.problem for one in said.values()) else exits.OK


def _bundle(args: SimpleNamespace) -> int:
    here = local_target()
    machine, _, libc = (args.platform or f"{here.machine}-{here.libc}").partition("-")
    target = Target(args.python or here.python, machine, libc or "glibc")
    bundle = Bundles(bundle_directory()).bundle(target)
    print(f"{target.name}: {len(bundle.data) / 1e6:.1f} MB, {bundle.digest[:16]}, in {bundle_directory()}")
    return exits.OK


VERBS: dict[str, Callable[[SimpleNamespace], int]] = {"raw": _raw, "roster": _roster, "bundle": _bundle}
