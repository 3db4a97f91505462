"""``saltern policy``: check, explain and import the policy of who may run what where."""

from __future__ import annotations

import os
import sys
import time
from types import SimpleNamespace

from saltern.cli import exits
from saltern.cli.access_output import Verb, check_words, find_verb, run_verb, show_data, show_list
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.cli.options import CONTROLLER_ROW, output_rows
from saltern.fleet.client.client import Client
from saltern.language.diagnostics import Diagnostic, OperationError, Severity
from saltern.report.colours import wanted
from saltern.report.diagnostics import show
from saltern.report.text import safe_line

ABOUT = """\
The policy: who may run which functions on which systems. With words:

  show                           the policy in force
  check FILE                     report every mistake of a policy file; no controller is needed
  set FILE                       put a file in force, if the controller has no policy.yaml of its own
  versions                       every version, and who activated it
  explain WHO FUNCTION TARGET    what would be decided, and what each rule says
  import-salt FILE               convert the publisher_acl, external_auth and nodegroups of a
                                 Salt master's configuration, and list what was left out"""
LINE = CommandLine(
    command="policy",
    about=ABOUT,
    epilog="""\
examples:
  saltern policy check policy.yaml
  saltern policy explain anna state.apply 'web*' --test
  saltern policy import-salt /etc/salt/master > policy.yaml""",
    words=(Word(dest="words", metavar="VERB", many=True, help="what to do; show by default"),),
    rows=(
        Row(flag="--test", dest="test", kind="on", default=False, help="explain: for a test run"),
        Row(
            flag="--role", dest="roles", metavar="ROLE", kind="list", help="explain: as if WHO had this role"
        ),
        Row(
            flag="--group",
            dest="groups",
            metavar="GROUP",
            kind="list",
            help="explain: as if WHO were in this group",
        ),
        CONTROLLER_ROW,
        *output_rows("nested"),
    ),
)


def main(argv: list[str]) -> int:
    args = parse(LINE, argv)
    name, *words = args.words or ["show"]
    if name in LOCAL:
        check_words(f"policy {name}", words, ("FILE",))
        return LOCAL[name](words[0])
    find_verb("policy", {**VERBS, **dict.fromkeys(LOCAL, Verb(_show))}, name)
    return run_verb("policy", VERBS, args, "show")


def _show(args: SimpleNamespace, client: Client, _words: list[str]) -> int:
    found = client.policy.get()
    if args.out != "nested":
        return show_data(args, found)
    source = (
        f"version {found['version']}, {found['source']}"
        if found["version"]
        else "none: only admins may run jobs"
    )
    print(f"# {source}")
    print(found["text"], end="" if found["text"].endswith("\n") else "\n")
    return exits.OK


def _set(_args: SimpleNamespace, client: Client, words: list[str]) -> int:
    text = _check_file(words[0])
    made = client.policy.set(text, after=client.policy.get()["version"])
    print(f"version {made['version']} is in force")
    return exits.OK


def _versions(args: SimpleNamespace, client: Client, _words: list[str]) -> int:
    return show_list(args, "versions", client.policy.versions())


def _explain(args: SimpleNamespace, client: Client, words: list[str]) -> int:
    who, function, target = words
    found = client.policy.explain(
        who, function, target, test=args.test, roles=args.roles or [], groups=args.groups or []
    )
    if args.out != "nested":
        return show_data(args, found)
    for step in found["steps"]:
        names = f" [{', '.join(step['systems'])}]" if step["systems"] else ""
        print(safe_line(f"  {step['rule'] or '(end)'}: {step['says']}{names}"))
    print(safe_line(found["verdict"] + (f": {found['why']}" if found["why"] else f" by {found['rule']}")))
    return exits.OK if found["verdict"] == "allowed" else exits.FAILED


def _check(path: str) -> int:
    _check_file(path)
    print(f"{path} has no mistakes")
    return exits.OK


def _check_file(path: str) -> str:
    """Read a policy file without mistakes; its warnings are printed."""
    from saltern.fleet.access.document import read_policy

    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as problem:
        what = f"the policy {path} cannot be read: {getattr(problem, 'strerror', None) or problem}"
        fix = "name a file that you may read, in UTF-8"
        raise OperationError(Diagnostic(code="policy-unreadable", what=what, fix=fix)) from None
    _, warnings = read_policy(text, path)
    show(warnings, sys.stderr, colour=wanted(sys.stderr))
    return text


def _import_salt(path: str) -> int:
    """Print the policy on standard output, everything else on standard error."""
    from saltern.config.files import read
    from saltern.fleet.access.document import read_policy
    from saltern.fleet.access.policy_text import policy_text
    from saltern.fleet.access.salt_acl import import_acl

    master = read(path)
    made = import_acl(master.values)
    text = policy_text(made.rules, made.login)
    _, warnings = read_policy(text, "the policy that was made")
    notes = [
        Diagnostic(
            severity=Severity.WARNING,
            code="acl-import",
            what=note.what,
            fix=note.fix,
            where=master.mark(*note.path) if note.path else None,
        )
        for note in made.notes
    ]
    show([*notes, *warnings], sys.stderr, colour=wanted(sys.stderr))
    for name, target in made.groups.items():
        print(f"first run: saltern fleet groups set {_quote(name)} {_quote(target)}", file=sys.stderr)
    for name in dict.fromkeys(made.accounts):
        print(f"first run: saltern operators add {_quote(name)}", file=sys.stderr)
    print(f"# made from {os.path.abspath(path)} on {time.strftime('%Y-%m-%d')}: {len(made.rules)} rules")
    print(text, end="")
    return exits.OK


def _quote(text: str) -> str:
    import shlex

    return shlex.quote(safe_line(text))


VERBS: dict[str, Verb] = {
    "show": Verb(_show),
    "set": Verb(_set, ("FILE",)),
    "versions": Verb(_versions),
    "explain": Verb(_explain, ("WHO", "FUNCTION", "TARGET")),
}
LOCAL = {"check": _check, "import-salt": _import_salt}
