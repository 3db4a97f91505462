"""Reads a chain file into a ``Chain``. Problems have lines, and are reported all at once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from msgspec import Meta, Struct, ValidationError, convert, field
from msgspec.structs import replace

from saltern.chains import inputs as chain_inputs
from saltern.chains.action_body import Body, Names, Seconds, Text
from saltern.chains.actions import KINDS, Kind, Safety
from saltern.chains.inputs import Input
from saltern.language.diagnostics import ChainError, CompileError, Diagnostics, did_you_mean
from saltern.language.patterns import is_pattern
from saltern.language.source import Mark, Path
from saltern.render.yaml_limits import YamlProblem

S = TypeVar("S", bound=Struct)

Label = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$")]
Failure = Literal["stop", "continue", "pause", "handler"]
Given = dict[str, object]
Resume = Literal["rerun", "skip", "fail", "ask"]


class Again(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The number of attempts, and the time to wait in between; each wait is ``backoff`` times as long."""

    attempts: Annotated[int, Meta(ge=2)]
    wait: Seconds = 30
    backoff: Annotated[float, Meta(ge=1)] = 1


class Policy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The keys that any action may have besides its kind.

    Its default ``id`` is its position in the list. ``targets`` are names of systems, or patterns.
    ``on_failure``: whether the chain ends with it, continues, or waits for an operator; ``handler`` are one
    or more actions that are run first, after which the chain ends by default. ``resume``: what to do if the
    machine crashed while it ran. ``always`` is for an action of ``finally``: run it even if it is unknown how
    an action before it ended. ``expected``: its duration in seconds, for windows and estimates; by default
    that of earlier runs.
    """

    id: Label | int | None = None
    title: Text = ""
    targets: Names | None = None
    on_failure: Failure = "stop"
    handler: Given | Annotated[list[Given], Meta(min_length=1)] | None = None
    retry: Again | None = None
    resume: Resume | None = None
    always: bool = False
    expected: Seconds | None = None


class Head(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The keys of a chain file. ``systems`` are the systems of the chain, as names or patterns; the
    ``targets`` of an action select among them.

    ``inputs`` are the inputs of a run, by name; ``${input:NAME}`` in an action refers to one. ``finally`` are
    actions for the end, whether the others succeeded, failed or were cancelled. ``deadline``: the running
    time of the machine, in seconds, after which no more actions begin.
    """

    chain: Label
    id: Label | int | None = None
    description: Text = ""
    systems: Names | None = None
    inputs: dict[Label, Input] = {}
    deadline: Annotated[float, Meta(gt=0)] | None = None
    actions: Annotated[list[dict[str, object]], Meta(min_length=1)]
    finally_: list[dict[str, object]] = field(default_factory=list, name="finally")


class Action(Struct, frozen=True, kw_only=True):
    id: str
    kind: str
    body: Body
    policy: Policy
    targets: tuple[str, ...] = ()  # empty: every system of the chain
    among: tuple[str, ...] = ()  # the systems of the chain; empty: all
    handlers: tuple[Action, ...] = ()  # actions that run if it has failed

    @property
    def row(self) -> Kind:
        return KINDS[self.kind]

    @property
    def stops(self) -> bool:
        return self.policy.on_failure != "continue"

    @property
    def repeatable(self) -> bool:
        """True if it may safely be run again."""
        return self.row.safety is Safety.REPEATED or self.policy.resume == "rerun"

    def meant_for(self, system: str) -> bool:
        """True if it is one of the chain's systems and of the action's targets."""
        return matches(system, self.among) and matches(system, self.targets)


class Chain(Struct, frozen=True, kw_only=True):
    name: str
    id: str
    actions: tuple[Action, ...]
    finalizers: tuple[Action, ...] = ()
    deadline: float | None = None
    description: str = ""
    text: str = ""
    inputs: dict[str, Input] = {}
    values: dict[str, Any] = {}  # the values of the inputs, in a chain that is to be run

    def systems(self) -> list[str]:
        """The systems that are named in full and have actions, in the order of the file."""
        named = [target for action in self.actions for target in (*action.among, *action.targets)]
        full = dict.fromkeys(target for target in named if not is_pattern(target))
        return [system for system in full if any(action.meant_for(system) for action in self.actions)]


def matches(system: str, patterns: Sequence[str]) -> bool:
    """True if a pattern matches the system, or there are no patterns."""
    return not patterns or any(fnmatchcase(system, pattern) for pattern in patterns)


def read_chain(text: str, file: str, inputs: Mapping[str, object] | None = None) -> Chain:
    """Read a chain. Raises ``ChainError`` with all problems of the file and of the inputs. Without
    ``inputs``, defaults and samples are used, to check the file.
    """
    found = Diagnostics()
    reader = _Reader(text, file, found, inputs)
    chain = reader.chain()
    try:
        found.check()
    except CompileError as problem:
        raise ChainError(*problem.diagnostics) from None
    assert chain is not None
    return chain


class _Reader:
    def __init__(
        self, text: str, file: str, found: Diagnostics, given: Mapping[str, object] | None = None
    ) -> None:
        self.text, self.file, self.found, self.given = text, file, found, given
        self.declared: Mapping[str, Input] = {}
        self.candidates: Sequence[dict[str, Any]] = (
            {},
        )  # candidates for the values of the inputs; the first that fits is used

    def mark(self, path: Path) -> Mark:
        from saltern.render.yaml_places import locate

        return Mark(self.file, *locate(self.text, path))

    def wrong(self, what: str, path: Path, fix: str = "") -> None:
        self.found.error("chain-file", what, where=self.mark(path), fix=fix)

    def chain(self) -> Chain | None:
        from saltern.render.yaml import read

        try:
            data = read(self.text)
        except YamlProblem as problem:
            where = Mark(self.file, problem.line, problem.column)
            self.found.error(problem.code, problem.what, where=where, fix=problem.fix)
            return None
        if not isinstance(data, Mapping):
            self.wrong("a chain file is a mapping with 'chain' and 'actions'", ())
            return None
        if not self.has_readable_inputs(data.get("inputs")):
            return None  # otherwise, references to them would be reported, too
        head = self.convert_value(data, Head, ())
        if head is None:
            return None
        self.read_inputs(head)
        actions = self.read_actions("actions", head.actions, head)
        last = self.read_actions("finally", head.finally_, head, prefix="finally-")
        self.check_ids({"actions": actions, "finally": last})
        self.check_last(last)
        return Chain(
            name=head.chain,
            id=str(head.id if head.id is not None else head.chain),
            actions=tuple(action for action in actions if action is not None),
            finalizers=tuple(action for action in last if action is not None),
            deadline=head.deadline,
            description=head.description,
            text=self.text,
            inputs=head.inputs,
            values=self.candidates[0] if self.given is not None else {},
        )

    def has_readable_inputs(self, given: object) -> bool:
        """True if all declarations of inputs can be read; others are reported with their lines."""
        if not isinstance(given, Mapping):
            return True
        found = [self.convert_value(one, Input, ("inputs", name)) for name, one in given.items()]
        return None not in found

    def read_inputs(self, head: Head) -> None:
        """Check the declarations of the inputs, and the given values."""
        self.declared = head.inputs
        wrong = [(name, *one) for name, spec in head.inputs.items() for one in chain_inputs.mistakes(spec)]
        for name, key, why in wrong:
            self.wrong(f"input {name!r}: {key}: {why}", ("inputs", name, key))
        if self.given is None:
            self.candidates = chain_inputs.samples(head.inputs) if not wrong else ({},)
            return
        values, problems = chain_inputs.resolve(head.inputs, self.given) if not wrong else ({}, [])
        for name, what, fix in problems:
            where = self.mark(("inputs", name) if name in head.inputs else ("inputs",))
            self.found.error("chain-input", what, where=where, fix=fix)
        self.candidates = (values,) if not problems else chain_inputs.samples(head.inputs)

    def fill_inputs(self, value: object, path: Path) -> list[object]:
        """The body of an action with its inputs filled in, for each candidate."""
        if not self.declared:
            return [value]
        for name in sorted(chain_inputs.references(value) - set(self.declared)):
            fix = did_you_mean(name, self.declared) or f"known are {', '.join(self.declared)}"
            self.wrong(f"no input is called {name!r}", path, fix)
        return [
            chain_inputs.fill_inputs(value, values, written=written)
            for values in self.candidates
            for written in (False, True)
        ]

    def read_actions(
        self, key: str, given: list[dict[str, object]], head: Head, prefix: str = ""
    ) -> list[Action | None]:
        return [self.action((key, place), one, head, prefix) for place, one in enumerate(given)]

    def action(
        self, path: tuple[str | int, ...], given: Mapping[str, object], head: Head, prefix: str
    ) -> Action | None:
        kinds = [key for key in given if key in KINDS]
        if len(kinds) != 1:
            self.no_kind(given, kinds, path)
            return None
        kind = kinds[0]
        rest = {key: value for key, value in given.items() if key != kind}
        policy = self.convert_value(rest, Policy, path)
        body = self.body(given[kind], KINDS[kind], (*path, kind))
        if body is None or policy is None:
            return None
        if mistake := body.mistake():
            self.wrong(f"'{kind}': {mistake}", (*path, kind))
        name = str(policy.id if policy.id is not None else f"{prefix}{int(path[-1]) + 1}")
        targets, among = tuple(policy.targets or ()), tuple(head.systems or ())
        handlers = self.handlers(path, policy, head, name)
        failure: Failure = "handler" if handlers and policy.on_failure == "stop" else policy.on_failure
        return Action(
            id=name,
            kind=kind,
            body=body,
            policy=replace(policy, handler=None, on_failure=failure),
            targets=targets,
            among=among,
            handlers=handlers,
        )

    def handlers(
        self, path: tuple[str | int, ...], policy: Policy, head: Head, name: str
    ) -> tuple[Action, ...]:
        """The handlers of an action's failure, for the systems of the action."""
        if policy.on_failure == "handler" and policy.handler is None:
            self.wrong("'on_failure: handler' has no handler", path, "give actions under 'handler'")
        given = [policy.handler] if isinstance(policy.handler, dict) else policy.handler or []
        found: list[Action] = []
        for place, one in enumerate(given):
            below = (*path, "handler", place) if isinstance(policy.handler, list) else (*path, "handler")
            for key in ("targets", "handler"):
                if key in one:
                    self.wrong(f"a handler has no {key!r} of its own", (*below, key))
            action = self.action((*below[:-1], place), one, head, f"{name}-handler-")
            if action is not None and action.row.barrier:
                self.wrong(f"a handler cannot be a {action.kind}", below, "make it one of the actions")
            found += [replace(action, targets=tuple(policy.targets or ()))] if action is not None else []
        return tuple(found)

    def body(self, given: object, kind: Kind, path: Path) -> Body | None:
        """Convert the body of an action with the first candidate that fits: some keys accept only texts, and
        some refuse a sample.
        """
        first, *others = (_spelled_out(one, kind) for one in self.fill_inputs(given, path))
        for one in (first, *others) if others else ():
            with suppress(ValidationError):
                return convert(one, kind.body)
        return self.convert_value(first, kind.body, path)

    def no_kind(self, given: Mapping[str, object], kinds: list[str], path: Path) -> None:
        if kinds:
            self.wrong(f"an action has only one kind, not {' and '.join(kinds)}", path, "make it two actions")
            return
        unknown = [str(key) for key in given if key not in Policy.__struct_fields__]
        hint = did_you_mean(unknown[0], KINDS) if unknown else ""
        what = f"no action is called {unknown[0]!r}" if unknown else "this action has no kind"
        self.wrong(what, (*path, *unknown[:1]), hint or f"known are {', '.join(KINDS)}")

    def check_ids(self, lists: Mapping[str, list[Action | None]]) -> None:
        seen: set[str] = set()
        for key, actions in lists.items():
            for place, action in enumerate(actions):
                for one in (action, *action.handlers) if action is not None else ():
                    if one.id in seen:
                        self.wrong(f"two actions have the id {one.id!r}", (key, place, "id"))
                    seen.add(one.id)

    def check_last(self, actions: list[Action | None]) -> None:
        """Report barriers among the actions at the end: the chain could not be resumed after them."""
        for place, action in enumerate(actions):
            if action is not None and action.row.barrier:
                what = f"'finally' cannot have a {action.kind}: the chain could not be resumed after it"
                self.wrong(what, ("finally", place), "make it the last of the actions")

    def convert_value(self, value: object, shape: type[S], path: Path) -> S | None:
        """The value converted to this shape; None, with a report, if it does not fit."""
        try:
            return convert(value, shape)
        except ValidationError as problem:
            self.wrong(*_explain(str(problem), shape, path))
            return None


def _explain(message: str, shape: type[Struct], path: Path) -> tuple[str, Path, str]:
    """The problem, its place and the fix, from the message of msgspec, which has the path of the value."""
    what, _, way = message.partition(" - at `")
    steps = [*path, *_steps(way.rstrip("`"))]
    fix = ""
    if unknown := re.fullmatch(r"Object contains unknown field `(.*)`", what):
        fix = did_you_mean(unknown[1], shape.__struct_encode_fields__)
        fix = fix or f"there are {', '.join(shape.__struct_encode_fields__)}"
        what, steps = f"no key is called {unknown[1]!r} here", [*steps, unknown[1]]
    elif missing := re.fullmatch(r"Object missing required field `(.*)`", what):
        what = f"{missing[1]!r} is missing"
    elif other := re.fullmatch(r"Invalid enum value (.*)", what):
        words = _words(shape, str(steps[-1]))
        fix = did_you_mean(other[1].strip("'"), words) or (f"give {' or '.join(words)}" if words else "")
        what = f"{steps[-1]}: {other[1]} is not possible"
    elif re.match(r"Expected `object`, got", what):
        what = f"{steps[-1]!r} needs a mapping here" if steps else "a mapping is needed here"
        fix = f"its keys are {', '.join(shape.__struct_encode_fields__)}"
    else:
        shown = ".".join(str(step) for step in steps[-1:])
        fix = "put it in quotes" if re.search(r"`str.*`, got `(int|float|bool)`", what) else ""
        what = f"{shown}: {what[:1].lower()}{what[1:]}" if shown else what[:1].lower() + what[1:]
    return what, tuple(steps), fix


def _words(shape: type[Struct], key: str) -> list[str]:
    """The words that a key of this shape accepts; none if it is not a choice of words."""
    hint = get_type_hints(shape).get(key)
    choices = [one for one in (hint, *get_args(hint)) if get_origin(one) is Literal]
    return [str(word) for one in choices for word in get_args(one)]


def _spelled_out(given: object, kind: Kind) -> object:
    if given is None:
        return {}
    return {kind.short: given} if kind.short and not isinstance(given, Mapping) else given


def _steps(way: str) -> list[object]:
    """``$.a[0].b`` → a, 0, b. ``[...]`` is left out."""
    found = re.findall(r"\.([A-Za-z_]\w*)|\[(\d+)\]", way)
    return [int(place) if place else name for name, place in found]
