"""``--input NAME=VALUE`` and ``--inputs FILE``: what a run of a chain is given."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace

from saltern.chains.inputs import Input
from saltern.cli.arguments import Row
from saltern.cli.values import mapping_file, mapping_value, yaml_value
from saltern.language.diagnostics import Diagnostic, OperationError

AS_YAML = ("list", "mapping")
INPUT_ROWS: tuple[Row, ...] = (
    Row(
        flag="--input",
        dest="input",
        kind="list",
        metavar="NAME=VALUE",
        help="run, plan, retry: an input of the chain; repeatable",
    ),
    Row(
        flag="--inputs",
        dest="inputs",
        metavar="FILE",
        help="run, plan, retry: inputs of the chain from a YAML file; --input overrides it",
    ),
)


def given_inputs(args: SimpleNamespace, specs: Mapping[str, Input]) -> dict[str, object]:
    """All that was given; a value of the command line is read as the input's type has it."""
    found = mapping_value("--pillar", args.pillar)
    if args.inputs:
        found |= mapping_file("--inputs", args.inputs)
    for word in args.input or ():
        name, sign, value = word.partition("=")
        if not sign or not name:
            what = f"--input {word!r} is not understood"
            raise OperationError(Diagnostic(code="option-shape", what=what, fix="write it as NAME=VALUE"))
        found[name] = _read(name, value, specs)
    return found


def _read(name: str, value: str, specs: Mapping[str, Input]) -> object:
    """A text as it is; lists and mappings, and any value of a chain without declared inputs, as YAML."""
    if specs and not (name in specs and specs[name].type in AS_YAML):
        return value
    return yaml_value(f"--input {name}", value)
