"""What every command that reaches systems over SSH shares: its options, the roster, the connections."""

from __future__ import annotations

import os
import sys
from getpass import getpass
from types import SimpleNamespace

from msgspec.structs import replace

from saltern.fleet.ssh.bundle.make import Bundles, bundle_directory
from saltern.fleet.ssh.drive import Reach
from saltern.fleet.ssh.pool import Limits
from saltern.fleet.ssh.roster.host import Host, Password, Roster
from saltern.fleet.ssh.roster.read import read_roster
from saltern.fleet.ssh.secrets import Passwords
from saltern.fleet.ssh.select import select
from saltern.fleet.ssh.transport.openssh import OpenSsh, SshOptions
from saltern.fleet.ssh.transport.routes import Routes
from saltern.language.diagnostics import Diagnostic, OperationError


def make_reach(args: SimpleNamespace) -> Reach:
    """How the hosts of a command are reached: connections, passwords, limits, and what is brought along."""
    passwords = Passwords(_ask)
    options = SshOptions(
        known_hosts=os.path.abspath(args.known_hosts) if args.known_hosts else "",
        accept_new=args.accept_new_keys,
        connect_limit=number(args.connect_timeout, "--connect-timeout"),
    )
    transport = Routes(OpenSsh(options, passwords.of))
    limits = Limits(max(1, int(number(args.connections, "--connections"))))
    return Reach(transport, passwords.of, limits, Bundles(bundle_directory()))


def _ask(prompt: str) -> str:
    if not sys.stdin.isatty():
        what, fix = (
            "there is no terminal to ask for a password",
            "name a command in the roster: passwd_command",
        )
        raise OperationError(Diagnostic(code="no-terminal", what=what, fix=fix))
    return getpass(prompt)


def read(args: SimpleNamespace) -> Roster:
    """The roster that was named, with its warnings printed. Raises ``OperationError``."""
    named = os.environ.get("SALTERN_ROSTER", "")
    sources = args.roster or ([named] if named else [])
    if not sources:
        what, fix = "no roster is named", "use --roster FILE, or set SALTERN_ROSTER"
        raise OperationError(Diagnostic(code="roster-missing", what=what, fix=fix))
    roster = read_roster(sources)
    for warning in roster.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    return roster


def chosen(args: SimpleNamespace, roster: Roster) -> list[Host]:
    """The hosts that were targeted, marked if a password is to be asked for. Raises ``OperationError``."""
    hosts = select(roster, args.on)
    if not hosts:
        what, fix = f"no system of the roster matches {args.on!r}", "saltern ssh roster lists them"
        raise OperationError(Diagnostic(code="no-systems", what=what, fix=fix))
    return [_with_questions(host, args) for host in hosts]


def _with_questions(host: Host, args: SimpleNamespace) -> Host:
    asked = Password(ask=True)
    if args.ask_password and not host.password:
        host = replace(host, password=asked)
    if args.ask_become_password and host.become and not host.become_password:
        host = replace(host, become_password=asked)
    return host


def number(text: str, flag: str) -> float:
    """The number that was given for an option. Raises ``OperationError``."""
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found < 1e9:
        what = f"{flag} needs a number, and {text!r} is none"
        raise OperationError(Diagnostic(code="option-value", what=what))
    return found
