"""``onlyif``, ``unless``, ``creates`` and ``check_cmd``.

The rule: onlyif holds if all of its entries are true; unless skips if all of its entries are true;
creates skips if all of its paths exist. All three are evaluated, also in test mode; one that says skip
is enough. Nothing is removed from the chunk, so evaluating twice gives the same answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from saltern.language.chunk import Chunk
from saltern.language.diagnostics import words_of
from saltern.language.keywords import CONDITIONS
from saltern.language.result import Outcome, Result
from saltern.runtime.slots import NotReady, resolve_value

if TYPE_CHECKING:
    from saltern.runtime.ports import Caller

COMMAND_OPTIONS = (
    "cwd",
    "root",
    "runas",
    "env",
    "prepend_path",
    "umask",
    "timeout",
    "success_retcodes",
    "shell",
)


class BadCondition(NotReady):
    """A condition that cannot be evaluated; the text is for the user."""


def skip_reason(chunk: Chunk, caller: Caller) -> str:
    """Why the chunk is skipped; empty if it is not. Raises ``BadCondition``."""
    words = chunk.words
    if words.isdisjoint(CONDITIONS) or caller.guarded_by_itself(chunk.state):
        return ""
    reasons = []
    if "onlyif" in words and not _all_true(chunk, "onlyif", caller):
        reasons.append("onlyif condition is false")
    if "unless" in words and _entries(chunk, "unless") and _all_true(chunk, "unless", caller, odd=False):
        reasons.append("unless condition is true")
    if "creates" in words and (reason := _created_comment(chunk, caller)):
        reasons.append(reason)
    return "\n".join(reasons)


def _entries(chunk: Chunk, word: str) -> list[object]:
    value = chunk.args.get(word)
    return value if isinstance(value, list) else [value]


def _all_true(chunk: Chunk, word: str, caller: Caller, *, odd: bool = True) -> bool:
    """``odd`` is the value of an entry that is neither a command nor a function: the state runs."""
    options = _options(chunk)
    for entry in _entries(chunk, word):
        if isinstance(entry, str):
            true = _command_holds(word, entry, options, caller)
        elif isinstance(entry, dict) and "fun" in entry:
            true = _function_holds(word, entry, caller)
        else:
            true = odd
        if not true:
            return False
    return True


def _options(chunk: Chunk) -> dict[str, object]:
    left_out = chunk.args.get("cmd_opts_exclude", ())
    names = [left_out] if isinstance(left_out, str) else left_out
    assert isinstance(names, list | tuple)
    return {name: chunk.args[name] for name in COMMAND_OPTIONS if name in chunk.args and name not in names}


def _command_holds(word: str, command: str, options: Mapping[str, object], caller: Caller) -> bool:
    try:
        return caller.command(command, options) == 0
    except (ValueError, OSError) as problem:
        raise BadCondition(f"{word}: {command!r} cannot be run: {problem}") from None


def _function_holds(word: str, entry: Mapping[str, object], caller: Caller) -> bool:
    name = str(entry["fun"])
    args = resolve_value(entry.get("args", []), caller)
    rest = {key: value for key, value in entry.items() if key not in ("fun", "args", "get_return")}
    kwargs = resolve_value(rest, caller)
    assert isinstance(kwargs, dict)
    try:
        value, code = caller.function_and_code(name, args if isinstance(args, list) else [args], kwargs)
    except LookupError as problem:
        raise BadCondition(f"{word}: {problem.args[0] if problem.args else problem}") from None
    except (Exception, SystemExit) as problem:
        raise BadCondition(f"{word}: {name} failed: {words_of(problem)}") from None
    if code:
        return False  # like a failed command: the function's value does not count
    path = entry.get("get_return")
    if isinstance(path, str):
        value = _inside(value, path.split(":"))
    return bool(value)


def _inside(value: object, path: list[str]) -> object:
    for step in path:
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def _created_comment(chunk: Chunk, caller: Caller) -> str:
    value = chunk.args["creates"]
    if isinstance(value, str):
        return f"{value} exists" if caller.exists(value) else ""
    if isinstance(value, list) and all(isinstance(path, str) and caller.exists(path) for path in value):
        return "All files in creates exist"
    return ""


def run_check_cmd(chunk: Chunk, result: Result, caller: Caller) -> Result:
    """``check_cmd``: after a real run, these commands decide whether it succeeded."""
    value = chunk.args.get("check_cmd")
    commands = [value] if isinstance(value, str) else value
    if not isinstance(commands, list) or not commands:
        return result
    for command in commands:
        try:
            code = caller.command(str(command), {})
        except (ValueError, OSError) as problem:
            return _replace_outcome(
                result, Outcome.FAILED, f"check_cmd: {command!r} cannot be run: {problem}"
            )
        if code:
            return _replace_outcome(
                result, Outcome.FAILED, f"check_cmd failed with exit code {code}: {command}"
            )
    return _replace_outcome(result, Outcome.OK, "check_cmd determined the state succeeded")


def _replace_outcome(result: Result, outcome: Outcome, comment: str) -> Result:
    if result.comment and outcome is not result.outcome:
        comment = f"{comment}\nbefore that: {result.comment}"
    return replace(result, outcome=outcome, comment=comment)
