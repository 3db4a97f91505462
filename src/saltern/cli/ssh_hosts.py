"""Shared by commands that reach systems over SSH: options, roster, connections."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from getpass import getpass
from types import SimpleNamespace

from msgspec.structs import replace

from saltern.cli.from_options import session
from saltern.config.load import load
from saltern.config.settings import Settings, state_directory
from saltern.fleet.ssh.bundle.make import Bundles, bundle_directory
from saltern.fleet.ssh.drive import Reach
from saltern.fleet.ssh.known_grains import GrainStore, KnownGrains, ask_grains, needs_grains
from saltern.fleet.ssh.pool import Limits
from saltern.fleet.ssh.roster.host import Host, Password, Roster
from saltern.fleet.ssh.roster.read import read_roster
from saltern.fleet.ssh.secrets import Passwords
from saltern.fleet.ssh.select import hint, select, spelled_out, unknown_names
from saltern.fleet.ssh.transport.openssh import SshOptions
from saltern.fleet.ssh.transport.routes import Routes, make_transport
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.targeting.problem import BadTarget


def make_reach(args: SimpleNamespace) -> Reach:
    """How the hosts of a command are reached: connections, passwords, limits, and the bundle."""
    passwords = Passwords(_ask)
    options = SshOptions(
        known_hosts=os.path.abspath(args.known_hosts) if args.known_hosts else "",
        accept_new=args.accept_new_keys,
        connect_limit=number(args.connect_timeout, "--connect-timeout"),
    )
    transport = Routes(make_transport(args.transport, options, passwords.of))
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
    """Read the named roster, and print its warnings. Raises ``OperationError``."""
    named = os.environ.get("SALTERN_ROSTER", "")
    sources = args.roster or ([named] if named else [])
    if not sources:
        what, fix = "no roster is named", "use --roster FILE, or set SALTERN_ROSTER"
        raise OperationError(Diagnostic(code="roster-missing", what=what, fix=fix))
    roster = read_roster(sources)
    for warning in roster.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    return roster


def chosen_hosts(args: SimpleNamespace, roster: Roster) -> list[Host]:
    """The targeted hosts, marked if a password must be asked for. Raises ``OperationError``."""
    hosts = _targeted_hosts(args, roster)
    if not hosts:
        what = f"no system of the roster matches {args.on!r}"
        raise OperationError(Diagnostic(code="no-systems", what=what, fix=hint(args.on, roster)))
    if absent := unknown_names(args.on, roster):
        print(f"warning: the roster has no system {', '.join(absent)}", file=sys.stderr)
    return [_with_questions(host, args) for host in hosts]


def _targeted_hosts(args: SimpleNamespace, roster: Roster) -> list[Host]:
    """The hosts that the target matches. If it uses grains, hosts with unknown grains are asked for them, and
    hosts that do not answer are left out: ``not G@os:Debian`` is unknown for them."""
    try:
        uses = needs_grains(spelled_out(args.on, roster))
    except BadTarget:
        uses = False  # ``select`` reports the mistake
    if not uses:
        return select(roster, args.on)
    known = _grains(args, list(roster.hosts.values()))
    found = select(roster, args.on, {id_: one.grains for id_, one in known.items()})
    return [host for host in found if host.id in known]


def _grains(args: SimpleNamespace, hosts: list[Host]) -> dict[str, KnownGrains]:
    store = GrainStore(os.path.join(state_directory(_settings(args)), "ssh", "grains.json"))
    known = {} if args.refresh_grains else store.read(hosts)
    lacking = [_with_questions(host, args) for host in hosts if host.id not in known]
    answers = ask_grains(lacking, make_reach(args)) if lacking else {}
    for id_, answer in answers.items():
        if isinstance(answer, str):
            what = f"the grains of {id_} are unknown, so it is left out: {answer}"
            print(f"warning: {what}", file=sys.stderr)
    fresh = {id_: one for id_, one in answers.items() if isinstance(one, KnownGrains)}
    if fresh:
        store.write(fresh)
    _report_age(known)
    return {**known, **fresh}


def _report_age(known: Mapping[str, KnownGrains]) -> None:
    """Print the age of the oldest grains that were not fetched now."""
    if known and (hours := (time.time() - min(one.at for one in known.values())) / 3600) >= 1:
        text = f"grains of {len(known)} systems are up to {hours:.0f} hours old; --refresh-grains asks again"
        print(f"saltern: {text}", file=sys.stderr)


def _settings(args: SimpleNamespace) -> Settings:
    return session(args).settings if hasattr(args, "config") else load(None, {}, {})[0]


def _with_questions(host: Host, args: SimpleNamespace) -> Host:
    asked = Password(ask=True)
    if args.ask_password and not host.password:
        host = replace(host, password=asked)
    if args.ask_become_password and host.become and not host.become_password:
        host = replace(host, become_password=asked)
    return host


def number(text: str, flag: str) -> float:
    """The number given for an option. Raises ``OperationError``."""
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found < 1e9:
        what = f"{flag} needs a number, not {text!r}"
        raise OperationError(Diagnostic(code="option-value", what=what))
    return found
