"""Turns a linear SLS into a chain file: each state becomes the action that renders to the same state.

The conversion is checked by rendering: an action that would become another state is not accepted, and a state
for which there is no action is refused with its ID.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, ValidationError, convert

from saltern.chains.action_body import Call
from saltern.chains.actions import KINDS
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.language.late import BadReference, Reference, fill_references

Args = dict[str, Any]
PREFIX = "action_"
OURS = frozenset({"require", "onfail", "order", "retry", "resume"})


class Parsed(Struct, frozen=True, kw_only=True):
    """One state of the file."""

    id: str
    function: str
    args: Args
    needs: str = ""
    handles: str = ""  # the state whose failure it handles
    last: bool = False
    retry: Mapping[str, Any] | None = None
    resume: object = None


def chain_text(text: str, file: str, name: str) -> str:
    """The text of the chain for this SLS. Raises ``OperationError`` if it cannot be a chain."""
    from saltern.report.yaml import dump

    every = list(_states(text, file))
    states = [one for one in every if not one.handles]
    _check_order(states, file)
    _check_handlers(every, file)
    actions = [_action(one, states, file) | _handlers(one, every, file) for one in states if not one.last]
    final = [_action(one, states, file) for one in states if one.last]
    whole = {"chain": name, "actions": actions, **({"finally": final} if final else {})}
    return dump(whole)


# -- reading ---------------------------------------------------------------------------------------------


def _states(text: str, file: str) -> Iterator[Parsed]:
    from saltern.render.yaml import read
    from saltern.render.yaml_limits import YamlProblem

    if not text.startswith("#!yaml\n") and ("{%" in text or "{{" in text):
        raise _refusal(f"{file} has templates", "render it first: `saltern render FILE`")
    try:
        data = read(text)
    except YamlProblem as problem:
        raise _refusal(f"{file}:{problem.line}: {problem.what}", problem.fix) from None
    if not isinstance(data, Mapping) or not data:
        raise _refusal(f"{file} has no states", "")
    for id_, body in data.items():
        yield _state(str(id_), body, file)


def _state(id_: str, body: object, file: str) -> Parsed:
    if not isinstance(body, Mapping) or len(body) != 1 or "." not in (function := str(next(iter(body)))):
        raise _refusal(
            f"{file}: {id_} is not a single call such as cmd.run", "give each state an id of its own"
        )
    given: Args = {}
    for item in next(iter(body.values())) or []:
        if not isinstance(item, Mapping) or len(item) != 1:
            raise _refusal(f"{file}: {id_}: {item!r} is not an argument", "write `- name: value`")
        given |= {str(key): value for key, value in item.items()}
    args = {key: value for key, value in given.items() if key not in OURS}
    return Parsed(
        id=id_,
        function=function,
        args=_plain(args, id_, file),
        needs=_required_state(given.get("require"), id_, file),
        handles=_required_state(given.get("onfail"), id_, file),
        last=given.get("order") == "last",
        retry=given.get("retry"),
        resume=given.get("resume"),
    )


def _plain(args: Args, id_: str, file: str) -> Args:
    """The arguments with escaped references unescaped."""

    def look(reference: Reference) -> object:
        raise _refusal(f"{file}: {id_}: a chain has no {reference.text}", "remove late values")

    try:
        found = fill_references(args, look)
    except BadReference as problem:
        raise _refusal(f"{file}: {id_}: {problem}", "") from None
    assert isinstance(found, dict)
    return {str(key): value for key, value in found.items()}


def _required_state(require: object, id_: str, file: str) -> str:
    if not require:
        return ""
    if isinstance(require, Sequence) and len(require) == 1 and isinstance(require[0], Mapping):
        return str(next(iter(require[0].values())))
    raise _refusal(
        f"{file}: {id_} requires more than one state",
        "a chain is a sequence: each state may require only one state before it",
    )


def _check_order(states: Sequence[Parsed], file: str) -> None:
    """Raise unless each state requires the nearest one before it whose failure ends the chain, if any."""
    before = ""
    line = [one for one in states if not one.last]
    for place, one in enumerate(line):
        if one.needs != before:
            needs, wanted = one.needs or "nothing", before or "nothing"
            what = f"{file}: {one.id} requires {needs!r}, but the state before it is {wanted!r}"
            raise _refusal(what, "a chain is a sequence: let each state require the one before it")
        if place + 1 < len(line) and line[place + 1].needs == one.id:
            before = one.id


def _check_handlers(states: Sequence[Parsed], file: str) -> None:
    """Raise unless the handlers of a failure are a sequence of their own, after one of the actions."""
    known = {one.id for one in states if not one.handles and not one.last}
    before: dict[str, str] = {}
    for one in (one for one in states if one.handles):
        if one.handles not in known or one.needs != before.get(one.handles, ""):
            what = f"{file}: {one.id} does not handle the failure of one state of the chain"
            raise _refusal(
                what, "give it `onfail` of that state, and let it require only the handler before it"
            )
        before[one.handles] = one.id


def _handlers(one: Parsed, every: Sequence[Parsed], file: str) -> dict[str, object]:
    """The handlers of an action's failure."""
    own = [state for state in every if state.handles == one.id]
    return {"handler": [_action(state, own, file) for state in own]} if own else {}


# -- actions ---------------------------------------------------------------------------------------------


def _action(one: Parsed, states: Sequence[Parsed], file: str) -> dict[str, object]:
    kind, body = _kind(one, file)
    action: dict[str, object] = {"id": one.id.removeprefix(PREFIX), kind: body}
    if not one.last and _is_passed_over(one, states):
        action["on_failure"] = "continue"
    if one.retry is not None and not (kind == "health" and "attempts" in body):
        again = {"attempts": one.retry["attempts"], "wait": one.retry.get("interval", 30)}
        action["retry"] = again | ({"backoff": one.retry["backoff"]} if "backoff" in one.retry else {})
    if isinstance(one.resume, str) and not (one.resume == "rerun" and KINDS[kind].safety.name == "REPEATED"):
        action["resume"] = one.resume
    return action


def _is_passed_over(one: Parsed, states: Sequence[Parsed]) -> bool:
    """True if the next state requires an earlier one, so that the chain continues if this one fails."""
    line = [state for state in states if not state.last]
    following = line[line.index(one) + 1 :]
    return bool(following) and following[0].needs != one.id


def _kind(one: Parsed, file: str) -> tuple[str, Args]:
    """The kind and the body of the action that renders to this state."""
    retried = {"retry": one.retry} if one.retry is not None else {}
    for kind, read in READERS.get(one.function, ()):
        for args in (one.args | retried, one.args):
            body = read(args, one)
            if body is not None and _renders(kind, body, Call(one.function, args)):
                return kind, body
    known = ", ".join(sorted(READERS))
    raise _refusal(f"{file}: {one.id}: no action corresponds to this {one.function}", f"known are {known}")


def _renders(kind: str, body: Args, wanted: Call) -> bool:
    try:
        given = convert(body, KINDS[kind].body)
    except ValidationError:
        return False
    if given.mistake():
        return False
    made = given.call(False)
    return made.function == wanted.function and dict(made.args) == dict(wanted.args)


Read = Callable[[Args, Parsed], "Args | None"]


def _packages(word: str) -> Read:
    def read(args: Args, _one: Parsed) -> Args | None:
        listed = args.get("pkgs")
        if not isinstance(listed, list):
            return None
        pairs = [one for one in listed if isinstance(one, Mapping)]
        named: object = listed
        if pairs:
            named = {
                k: v
                for one in listed
                for k, v in (one.items() if isinstance(one, Mapping) else ((one, None),))
            }
        return _given_arguments({word: named, "refresh": args.get("refresh")})

    return read


def _process(key: str) -> Read:
    def read(args: Args, one: Parsed) -> Args | None:
        body = {("run" if name == "name" and key == "run" else name): value for name, value in args.items()}
        body.pop("reboot_retcodes", None)
        if isinstance(body.get("env"), list):
            body["env"] = {name: value for item in body["env"] for name, value in item.items()}
        if isinstance(one.resume, Mapping):
            body["verify"] = one.resume.get("probe")
        return body

    return read


def _health(args: Args, _one: Parsed) -> Args | None:
    again = args.get("retry")
    more = (
        {"attempts": again["attempts"], "interval": again["interval"]} if isinstance(again, Mapping) else {}
    )
    if "service.status" in args:
        return {"service": _keywords(args["service.status"]).get("name"), **more}
    what = "url" if "status" in args else "command"
    return _given_arguments({what: args.get("name"), "status": args.get("status"), **more})


def _request(args: Args, _one: Parsed) -> Args | None:
    body = {REQUEST.get(name, name): value for name, value in args.items() if name != "status_type"}
    return _given_arguments({**body, "status": None if "status_type" in args else args.get("status")})


REQUEST = {"name": "url", "header_dict": "headers"}


def _module(function: str, keys: Mapping[str, str]) -> Read:
    def read(args: Args, _one: Parsed) -> Args | None:
        if list(args) != [function]:
            return None
        found = _keywords(args[function])
        return {keys.get(name, name): value for name, value in found.items()}

    return read


def _state_files(args: Args, _one: Parsed) -> Args | None:
    found = _module("state.apply", {"mods": "sls"})(args, _one)
    return found if found and found.get("sls") else None


def _reboot(args: Args, _one: Parsed) -> Args | None:
    body = {name: value for name, value in args.items() if name != "only_on_pending_reboot"}
    return body | {"when": "needed" if args.get("only_on_pending_reboot") else "always"}


def _transaction(args: Args, one: Parsed) -> Args | None:
    """The body of a transaction. Packages are states within it; as an action, they have the same keys."""
    states = args.get("states")
    if not states:
        return _process("run")(args, one)
    calls = [call for body in states.values() for call in body.items()] if isinstance(states, Mapping) else []
    if len(calls) != 1:
        return None
    function, items = calls[0]
    for kind, read in READERS.get(function, ()):
        inner = read(_keywords(items), one)
        if inner is not None and _renders(kind, inner, Call(function, _keywords(items))):
            own: Args = {kind: True} if kind in ("patch", "upgrade") else {}
            refresh = inner.get("refresh")
            more = {} if own and refresh is True else _given_arguments({"refresh": refresh})
            rest = {name: value for name, value in args.items() if name != "states"}
            taken = {name: value for name, value in inner.items() if name != "refresh"}
            return {**own, **taken, **more, **(_process("run")(rest, one) or {})}
    return None


def _same(args: Args, _one: Parsed) -> Args | None:
    return dict(args)


def _file(args: Args, _one: Parsed) -> Args | None:
    return {("path" if name == "name" else name): value for name, value in args.items()}


def _patch(args: Args, _one: Parsed) -> Args | None:
    return _given_arguments({"packages": args.get("pkgs"), "refresh": args.get("refresh", True)})


def _upgrade(args: Args, _one: Parsed) -> Args | None:
    return {"refresh": args.get("refresh", True)}


def _keywords(items: object) -> Args:
    return {k: v for item in items for k, v in item.items()} if isinstance(items, list) else {}


def _given_arguments(body: Mapping[str, Any]) -> Args:
    return {name: value for name, value in body.items() if value is not None}


READERS: dict[str, tuple[tuple[str, Read], ...]] = {
    "pkg.installed": (("packages", _packages("install")),),
    "pkg.latest": (("packages", _packages("latest")),),
    "pkg.removed": (("packages", _packages("remove")),),
    "pkg.purged": (("packages", _packages("purge")),),
    "pkg.uptodate": (("upgrade", _upgrade), ("patch", _patch)),
    "cmd.run": (("command", _process("run")), ("health", _health)),
    "cmd.script": (("script", _process("source")),),
    "file.managed": (("file", _file),),
    "http.query": (("health", _health), ("request", _request)),
    "module.run": (
        ("state", _state_files),
        ("highstate", _module("state.highstate", {})),
        ("wait", _module("test.sleep", {"length": "seconds"})),
        ("health", _health),
    ),
    "system.reboot": (("reboot", _reboot),),
    "system.transaction": (("transaction", _transaction),),
    "saltern.updated": (("agent", _same),),
}


def _refusal(what: str, fix: str) -> OperationError:
    return OperationError(Diagnostic(code="chain-from-sls", what=what, fix=fix))
