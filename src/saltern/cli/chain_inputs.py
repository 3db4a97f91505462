"""``--input NAME=VALUE`` and ``--inputs FILE``: the inputs of a chain run."""

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
    """All given inputs; a value on the command line is read by the type of its input."""
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
    """Text stays as it is; lists, mappings, and inputs that the chain does not declare are read as YAML."""
    if specs and not (name in specs and specs[name].type in AS_YAML):
        return value
    return yaml_value(f"--input {name}", value)
