"""``saltern operators``: who may log in to the controller, and their API tokens."""

from __future__ import annotations

import sys
from types import SimpleNamespace

from saltern.cli import exits
from saltern.cli.access_output import Verb, run_verb, show_data, show_list
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.cli.options import CONTROLLER_ROW, output_rows
from saltern.cli.password import ask_new_password, ask_password
from saltern.fleet.client.client import Client
from saltern.language.diagnostics import Diagnostic, OperationError

DAY = 86_400.0
ABOUT = """\
People and programs that may use the controller, and their API tokens. With words:

  list                      list the operators
  add NAME                  add an operator: --role, --group, --note, --no-password; asks for a password
  change NAME               set roles and groups: --role, --group
  disable|enable NAME       block an operator, with all sessions and tokens; unblock
  remove NAME               remove an operator
  password [NAME]           set a password (default: your own)
  tokens [NAME]             list sessions and API tokens (default: your own)
  token [NAME]              make an API token, which is shown once: --label, --scope, --days
  revoke TOKEN [NAME]       end a session or an API token, by its id"""
LINE = CommandLine(
    command="operators",
    about=ABOUT,
    epilog="""\
examples:
  saltern operators add anna --role operator --role approver
  saltern operators add ci --no-password
  saltern operators token ci --label gitlab --scope jobs.submit:state.* --scope jobs.read --days 30""",
    words=(Word(dest="words", metavar="VERB", many=True, help="what to do; list by default"),),
    rows=(
        Row(
            flag="--role", dest="roles", metavar="ROLE", kind="list", help="viewer, operator, approver, admin"
        ),
        Row(
            flag="--group",
            dest="groups",
            metavar="GROUP",
            kind="list",
            help="a group, for `group:` in the policy",
        ),
        Row(flag="--note", dest="note", metavar="TEXT", help="add: who this is"),
        Row(
            flag="--no-password",
            dest="password",
            kind="off",
            default=True,
            help="add: no password; only tokens, or another way to log in",
        ),
        Row(flag="--label", dest="label", metavar="TEXT", help="token: what it is for"),
        Row(
            flag="--scope",
            dest="scopes",
            metavar="SCOPE",
            kind="list",
            help="token: only this, such as jobs.read or jobs.submit:test.* (default: everything)",
        ),
        Row(
            flag="--days",
            dest="days",
            metavar="NUMBER",
            help="token: how long it is valid (default: 90; 30 for a person who logs in through a provider)",
        ),
        CONTROLLER_ROW,
        *output_rows("nested"),
    ),
)


def main(argv: list[str]) -> int:
    return run_verb("operators", VERBS, parse(LINE, argv), "list")


def _list(args: SimpleNamespace, client: Client, _words: list[str]) -> int:
    return show_list(args, "operators", client.operators.list())


def _add(args: SimpleNamespace, client: Client, words: list[str]) -> int:
    (name,) = words
    password = ask_new_password(name) if args.password and ":" not in name else ""
    made = client.operators.add(
        name,
        roles=args.roles or ["viewer"],
        groups=args.groups or [],
        password=password,
        note=args.note or "",
    )
    print(f"{name} was added; roles: {', '.join(made['roles'])}")
    return exits.OK


def _change(args: SimpleNamespace, client: Client, words: list[str]) -> int:
    if args.roles is None and args.groups is None:
        what, fix = "there is nothing to change", "name all roles with --role, or all groups with --group"
        raise OperationError(Diagnostic(code="option-choice", what=what, fix=fix))
    made = client.operators.change(words[0], roles=args.roles, groups=args.groups)
    roles, groups = (", ".join(made[key]) or "none" for key in ("roles", "groups"))
    print(f"{words[0]} has the roles {roles}; groups: {groups}")
    return exits.OK


def _disable(_args: SimpleNamespace, client: Client, words: list[str]) -> int:
    client.operators.change(words[0], disabled=True)
    print(f"{words[0]} is disabled, and all sessions have ended")
    return exits.OK


def _enable(_args: SimpleNamespace, client: Client, words: list[str]) -> int:
    client.operators.change(words[0], disabled=False)
    print(f"{words[0]} may log in again")
    return exits.OK


def _remove(_args: SimpleNamespace, client: Client, words: list[str]) -> int:
    client.operators.remove(words[0])
    print(f"{words[0]} was removed")
    return exits.OK


def _password(_args: SimpleNamespace, client: Client, words: list[str]) -> int:
    if words:
        client.operators.password(words[0], ask_new_password(words[0]))
    else:
        old = ask_password("your current password: ")
        client.own.password(old, ask_new_password("yourself"))
    print("the password was set, and other sessions have ended")
    return exits.OK


def _tokens(args: SimpleNamespace, client: Client, words: list[str]) -> int:
    return show_list(args, "tokens", client.operators.tokens(words[0]) if words else client.own.tokens())


def _token(args: SimpleNamespace, client: Client, words: list[str]) -> int:
    life = _days(args.days, 30 if words and ":" in words[0] else 90) * DAY
    options = {"label": args.label or "", "scopes": args.scopes, "life": life}
    made = client.operators.make_token(words[0], **options) if words else client.own.make_token(**options)
    if args.out != "nested":
        return show_data(args, made)
    print(
        "it is shown only now; use it as SALTERN_TOKEN, or as 'Authorization: Bearer TOKEN':", file=sys.stderr
    )
    print(made["token"])
    return exits.OK


def _days(text: str | None, usual: float) -> float:
    try:
        return float(text) if text else usual
    except ValueError:
        what = f"--days is {text!r}, which is not a number"
        raise OperationError(
            Diagnostic(code="option-choice", what=what, fix="write a number of days")
        ) from None


def _revoke(_args: SimpleNamespace, client: Client, words: list[str]) -> int:
    token, *name = words
    if name:
        client.operators.remove_token(name[0], token)
    else:
        client.own.remove_token(token)
    print(f"{token} has ended")
    return exits.OK


VERBS: dict[str, Verb] = {
    "list": Verb(_list),
    "add": Verb(_add, ("NAME",)),
    "change": Verb(_change, ("NAME",)),
    "disable": Verb(_disable, ("NAME",)),
    "enable": Verb(_enable, ("NAME",)),
    "remove": Verb(_remove, ("NAME",)),
    "password": Verb(_password, (), ("NAME",)),
    "tokens": Verb(_tokens, (), ("NAME",)),
    "token": Verb(_token, (), ("NAME",)),
    "revoke": Verb(_revoke, ("TOKEN",), ("NAME",)),
}
