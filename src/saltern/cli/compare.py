"""``saltern compare``: compare how Salt and saltern compile the same state files."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace

import msgspec
from msgspec import json

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.cli.options import HUMAN_OR_JSON_ROW
from saltern.config.load import load
from saltern.language.diagnostics import CompileError, Diagnostic, OperationError
from saltern.migration.comparison import Difference, compare_low, compare_results
from saltern.migration.salt_call import SaltCall
from saltern.report.text import emit, safe_line

EPILOG = """\
A minion without a master (file_client: local) is compared directly. On a minion with a master, both ask
the master, which needs the extension saltext-saltern.

examples:
  saltern compare web                    the low data of web, by Salt and by saltern
  saltern compare web --test-run         also a test run of each: nothing is changed
  saltern compare --out json             the highstate, for a script

exit codes: 0 no difference, 1 usage or environment, 3 the states do not compile, 4 differences
"""
LINE = CommandLine(
    command="compare",
    about="Compile state files with Salt and with saltern, and show the differences per state. Without a"
    " name: the highstate.",
    epilog=EPILOG,
    words=(Word(dest="sls", metavar="SLS", many=True, help="names of state files"),),
    rows=(
        Row(
            flag="--test-run",
            dest="test_run",
            kind="on",
            default=False,
            help="also compare the results of a test run of each",
        ),
        Row(
            flag="--salt-config",
            dest="salt_config",
            metavar="DIR",
            default="/etc/salt",
            help="the directory of the minion's configuration (default: /etc/salt)",
        ),
        Row(
            flag="--salt-call",
            dest="salt_call",
            metavar="PROGRAM",
            default="",
            help="the salt-call to ask (default: the one in PATH)",
        ),
        Row(flag="--saltenv", dest="saltenv", metavar="ENV", help="only this environment"),
        Row(
            flag="--pillar", dest="pillar", metavar="YAML", help="pillar data that wins over the compiled one"
        ),
        HUMAN_OR_JSON_ROW,
    ),
)


def main(argv: list[str]) -> int:
    args = parse(LINE, argv)
    salt, ours = _callers(args)
    words = _words(args)
    low = _low(salt("state.show_low_sls" if args.sls else "state.show_lowstate", *words), "Salt")
    own = _low(ours("show", "low-sls" if args.sls else "lowstate", *words), "saltern")
    found = compare_low(low, own, whole=not args.sls)
    if args.test_run:
        runs = salt("state.apply", *words, "test=True"), ours("apply", *words, "test=True")
        found += compare_results(_results(runs[0], "Salt"), _results(runs[1], "saltern"))
    _write(args, found, len(low))
    return exits.CHANGED if found else exits.OK


def _words(args: SimpleNamespace) -> list[str]:
    """The words for both: the SLS names, and their options in Salt's form."""
    found = [",".join(args.sls)] if args.sls else []
    found += [f"saltenv={args.saltenv}"] if args.saltenv else []
    return [*found, *([f"pillar={args.pillar}"] if args.pillar else [])]


# -- the callers -------------------------------------------------------------------------------------


def _callers(args: SimpleNamespace) -> tuple[SaltCall, Callable[..., object]]:
    """Salt and saltern; on a minion with a master, both ask the master."""
    path = os.path.join(args.salt_config, "minion")
    if not os.path.isfile(path):
        raise OperationError(
            Diagnostic(
                code="minion-missing",
                what=f"there is no configuration of a minion: {path}",
                fix="name its directory with --salt-config",
            )
        )
    settings, _ = load(path, {}, {})
    local = settings.extra.get("file_client") == "local"
    salt = SaltCall(args.salt_call, args.salt_config, local=local)
    if local:
        return salt, lambda verb, *words: _ask_saltern(path, verb, words)
    return salt, lambda verb, *words: salt(f"saltern.{verb}", *words)


def _ask_saltern(configuration: str, verb: str, words: tuple[str, ...]) -> object:
    """What a command of this program prints as JSON."""
    plain = [one for word in words if "=" not in word for one in word.split(",")]
    options = [f"--{word}" for word in words if "=" in word and word != "test=True"]
    options += ["--test"] if "test=True" in words else []
    command = [sys.executable, "-P", "-m", "saltern", verb, f"--config={configuration}", "--out=json"]
    done = subprocess.run(
        [*command, *options, "--", *plain], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False
    )
    try:
        return json.decode(done.stdout, type=dict[str, object])["local"]
    except (msgspec.DecodeError, KeyError):
        return [f"exit code {done.returncode}"]


# -- the answers --------------------------------------------------------------------------------


def _low(answer: object, who: str) -> list[dict[str, object]]:
    """Low data; any other list is the reason why the states do not compile."""
    if isinstance(answer, list) and all(isinstance(one, dict) for one in answer):
        return answer
    raise _not_compiled(answer, who)


def _results(answer: object, who: str) -> dict[str, dict[str, object]]:
    if isinstance(answer, dict):
        return answer
    raise _not_compiled(answer, who)


def _not_compiled(answer: object, who: str) -> CompileError:
    lines = answer if isinstance(answer, list) else [answer]
    return CompileError(
        Diagnostic(
            code="compare-not-compiled",
            what=f"{who} cannot compile the states: {'; '.join(map(str, lines))}",
            fix="fix that first, then compare again",
        )
    )


def _write(args: SimpleNamespace, found: list[Difference], count: int) -> None:
    if args.out == "json":
        emit(sys.stdout, json.encode({"states": count, "differences": found}).decode() + "\n")
        return
    before: tuple[str, str, str] | None = None
    for one in found:
        if (of := (one.sls, one.state, one.id)) != before:
            emit(sys.stdout, f"{safe_line(one.sls)}: {one.state} {safe_line(one.id)}\n")
        before = of
        emit(sys.stdout, f"  {safe_line(_line(one))}\n")
    states = len({(one.sls, one.state, one.id) for one in found})
    emit(sys.stdout, _conclusion(states, count) if found else f"{_count(count)}, no difference\n")


def _conclusion(differing: int, count: int) -> str:
    return f"{differing} of {_count(count)} {'differs' if differing == 1 else 'differ'}\n"


def _count(count: int) -> str:
    return "1 state" if count == 1 else f"{count} states"


def _line(one: Difference) -> str:
    if one.about == "missing":
        return "only Salt has it"
    if one.about == "additional":
        return "only saltern has it"
    salt, ours = (json.encode(value, enc_hook=str).decode() for value in (one.salt, one.saltern))
    return f"{one.about}: Salt {salt}, saltern {ours}"
