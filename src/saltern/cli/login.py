"""``saltern login``: log in to a controller, and store the token."""

from __future__ import annotations

import os
import sys
import time
from types import SimpleNamespace
from typing import Any

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.cli.connect import address
from saltern.cli.options import CONTROLLER_ROW
from saltern.cli.password import ask_password
from saltern.cli.stored_logins import Login, path_of, store_login, stored_login
from saltern.fleet.client.address import parse_address
from saltern.fleet.client.client import Client
from saltern.fleet.client.trust import fetch_ca
from saltern.fleet.view.words import count, moment
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.report.text import safe_line

WAYS = ("local", "pam", "oidc")
LINE = CommandLine(
    command="login",
    about="""\
Log in to a controller and store the token, readable only by you. The password is asked for, or read from
standard input if that is not a terminal; it is never an argument. Root needs no login on the controller.""",
    epilog="""\
examples:
  saltern login anna --controller https://salt.example.org:4510 --fingerprint 5f0c…
  saltern login --way oidc                      in a browser, with your organisation's provider
  SALTERN_TOKEN=… saltern fleet                 a program uses an API token: saltern operators token NAME""",
    words=(Word(dest="words", metavar="NAME", many=True, help="your name (default: your user name)"),),
    rows=(
        Row(
            flag="--way",
            dest="way",
            choices=WAYS,
            help="an account of the controller, one of its host, or an OpenID Connect provider"
            " (default: what the controller offers)",
        ),
        Row(
            flag="--ca",
            dest="ca",
            metavar="FILE",
            help="trust this certificate authority (PEM) for this controller, from now on",
        ),
        Row(
            flag="--fingerprint",
            dest="fingerprint",
            metavar="SHA256",
            help="trust the controller's own certificate authority if it has this fingerprint, which the"
            " controller prints when it starts",
        ),
        Row(
            flag="--no-browser",
            dest="browser",
            kind="off",
            default=True,
            help="print the address of the provider instead of opening it",
        ),
        CONTROLLER_ROW,
    ),
)


def main(argv: list[str]) -> int:
    args = parse(LINE, argv)
    _check_name(args.words)
    where = str(parse_address(address(args)))
    ca = _ca(args, where)
    with Client(where, ca=ca) as client:
        made = _enter(client, args)
        me = client.me()
    login = Login(token=made["token"], name=made["name"], expires=made["expires"], ca=ca)
    store_login(where, login, os.environ)
    _report(where, made, me)
    return exits.OK


def _check_name(words: list[str]) -> None:
    """Refuse an address in place of a name: it would be asked for where no controller is."""
    if words and ("/" in words[0] or len(words) > 1):
        what = f"{words[-1]!r} is not the name of a person"
        fix = "saltern login NAME --controller https://HOST:PORT"
        raise OperationError(Diagnostic(code="option-shape", what=what, fix=fix))


def _ca(args: SimpleNamespace, where: str) -> str:
    """The certificate authority to trust: the named one, or the one trusted before."""
    if args.ca:
        return _read_ca(args.ca)
    if args.fingerprint:
        return fetch_ca(where, args.fingerprint)
    return stored_login(where, {**os.environ, "SALTERN_TOKEN": ""}).ca


def _enter(client: Client, args: SimpleNamespace) -> dict[str, Any]:
    way = args.way or _way(client.own.ways(), named=bool(args.words))
    if way == "oidc":
        from saltern.fleet.client.browser_login import log_in_with_browser

        return log_in_with_browser(client.own, lambda address: _open(address, browser=args.browser))
    name = args.words[0] if args.words else _user()
    return client.own.login(name, ask_password(f"password of {name}: "), way=way)


def _way(offered: list[str], *, named: bool) -> str:
    """The way to log in: the provider, unless a name was given and passwords are possible."""
    order = ("local", "pam", "oidc") if named else ("oidc", "local", "pam")
    found = next((way for way in order if way in offered), "")
    if not found:
        what = "the policy of the controller allows no login"
        raise OperationError(
            Diagnostic(code="login-way", what=what, fix="an admin can add one, under 'login'")
        )
    return found


def _open(address: str, *, browser: bool) -> None:
    import webbrowser

    print(f"log in here: {address}", file=sys.stderr, flush=True)
    if browser:
        webbrowser.open(address)


def _user() -> str:
    import getpass

    return getpass.getuser()


def _read_ca(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as problem:
        what = (
            f"the certificate authority cannot be read from {path}: {getattr(problem, 'strerror', problem)}"
        )
        raise OperationError(
            Diagnostic(code="login-ca", what=what, fix="copy ca.pem from the controller")
        ) from None
    if "-----BEGIN CERTIFICATE-----" not in text:
        what, fix = f"{path} holds no certificate", "it is ca.pem in the directory of the controller's broker"
        raise OperationError(Diagnostic(code="login-ca", what=what, fix=fix))
    return text


def _report(where: str, made: dict[str, Any], me: dict[str, Any]) -> None:
    until = moment(made["expires"], time.time())
    print(
        safe_line(
            f"logged in at {where} as {made['name']} until {until}; roles: {', '.join(me['roles']) or 'none'}"
        )
    )
    if made["failures"]:
        print(f"{count(made['failures'], 'earlier login')} with this name failed", file=sys.stderr)
    if not me["roles"]:
        print("you have no role: ask an admin for one", file=sys.stderr)
    print(f"the token is in {path_of(os.environ)}", file=sys.stderr)
