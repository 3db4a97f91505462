"""Call the function of one chunk in its own context; ``attempt`` turns exceptions into results."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from saltern.language.chunk import Chunk
from saltern.language.events import Answer
from saltern.language.nature import Nature
from saltern.language.result import Result, SubResult, not_called
from saltern.modules.api.argv import NONE, given_words, option_like_words
from saltern.modules.api.context import Context, Run
from saltern.modules.api.declare import StateFunction
from saltern.modules.api.params import BadArgument, bind
from saltern.modules.api.registry import AnyState, Registry, parameters, schema

if TYPE_CHECKING:
    from saltern.language.barriers import Crossing

Emit = Callable[[SubResult], None]
NOT_RUN = 127  # the exit code of a shell for a command it cannot start


class ModuleCaller:
    """Implements ``runtime.ports.Caller`` over a registry. ``refresh`` is given by the engine."""

    def __init__(self, registry: Registry, run: Run) -> None:
        self._registry = registry
        self._run = run

    # -- states ----------------------------------------------------------------------------------

    def call(
        self, chunk: Chunk, args: Mapping[str, object], *, test: bool, emit: Emit | None = None
    ) -> Result:
        function = self._registry.state(chunk.state, chunk.fun)
        if function is None:
            return not_called(_unknown(self._registry, chunk, chunk.fun))
        nature = self._registry.nature(chunk.state, chunk.fun)
        result = call_state(
            self._run, function, chunk, args, test=test, emit=emit, checked=not nature.runs_commands
        )
        if result.changes and not test and nature.installs:
            from saltern.modules.api.self_update import request_restart_if_replaced

            return request_restart_if_replaced(result)
        return result

    def react(self, chunk: Chunk, args: Mapping[str, object], *, fun: str, test: bool) -> Result:
        function = self._registry.companion(chunk.state, "mod_watch")
        if not isinstance(function, StateFunction):
            return not_called(_unknown(self._registry, chunk, "mod_watch"))
        checked = not self._registry.nature(chunk.state, "mod_watch").runs_commands
        return call_state(self._run, function, chunk, {**args, "sfun": fun}, test=test, checked=checked)

    def nature(self, state: str, fun: str) -> Nature:
        return self._registry.nature(state, fun)

    def takes(self, chunk: Chunk, word: str) -> bool:
        function = self._registry.state(chunk.state, chunk.fun)
        return function is not None and word in schema(function).params

    def reacts(self, state: str) -> bool:
        return self._registry.companion(state, "mod_watch") is not None

    def guarded_by_itself(self, state: str) -> bool:
        return self._registry.companion(state, "mod_run_check") is not None

    def aggregates(self, state: str) -> bool:
        return self._registry.companion(state, "mod_aggregate") is not None

    def aggregate(self, chunk: Chunk, group: Sequence[Chunk], answered: Mapping[str, Answer]) -> Chunk:
        """The chunk as enlarged by its module; unchanged if the module fails."""
        enlarge = self._registry.companion(chunk.state, "mod_aggregate")
        if not callable(enlarge):
            return chunk
        context = Context(self._run, env=chunk.env, chunk=chunk)
        try:
            enlarged = enlarge(context, chunk, group, answered)
        except Exception:
            return chunk
        return enlarged if isinstance(enlarged, Chunk) else chunk

    # -- functions, for conditions and slots -----------------------------------------------------------

    def function(self, name: str, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
        function = self._registry.function(name)
        if function is None:
            from saltern.modules.api.unknown_names import unknown_function

            raise LookupError(f"no function is called {name!r}: {unknown_function(self._registry, name)}")
        checked = not self._registry.function_nature(name).runs_commands
        words = given_words(parameters(function), args, kwargs) if checked else NONE
        return function.body(Context(self._run, dashed=words), *args, **kwargs)

    def function_and_code(
        self, name: str, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> tuple[object, int]:
        self._run.context.pop("retcode", None)
        value = self.function(name, args, kwargs)
        code = self._run.context.get("retcode")
        return value, code if isinstance(code, int) else 0

    def command(self, command: str, options: Mapping[str, object]) -> int:
        """Run a command in a shell, with the options of the state."""
        from saltern.modules.api.commands import run_guard

        try:
            return run_guard(Context(self._run), command, options)
        except BadArgument:
            return NOT_RUN

    def exists(self, path: str) -> bool:
        try:
            return os.path.lexists(path)
        except ValueError:  # a NUL byte: no such path can exist
            return False

    def arrived(self, crossing: Crossing | None) -> None:
        self._run.crossing = crossing

    def refresh(self, what: frozenset[str]) -> None:
        self._run.refresh(what)


def call_state(
    run: Run,
    function: AnyState,
    chunk: Chunk,
    args: Mapping[str, object],
    *,
    test: bool,
    emit: Emit | None = None,
    checked: bool = True,
) -> Result:
    """Bind the arguments and call a state function in its own context. ``checked``: no argument may
    reach a program as an option.
    """
    try:
        known = function.schema or schema(function)
        keywords = bind(known, args) if args or known.required else {}
    except BadArgument as problem:
        return not_called(f"{chunk.state}.{function.name} cannot be called: {problem} ({chunk.mark()})")
    name = args.get("name", chunk.name) if args else chunk.name
    words = option_like_words((("name", name), *keywords.items())) if checked else NONE
    context = Context(run, test=test, env=chunk.env, chunk=chunk, emit=emit, dashed=words)
    if chunk.words:
        call = _call_unheard if chunk.hidden else _call_with_words
        result = call(function, context, chunk, str(name), keywords)
    else:
        result = function.attempt(context, name, **keywords)
    kept = run.outbox.kept
    return replace(result, sent=kept) if kept else result


def _call_unheard(
    function: AnyState, context: Context, chunk: Chunk, name: str, keywords: dict[str, object]
) -> Result:
    """Call a state that is marked ``no_log``: its events, and those of states within it, have no content."""
    outbox = context.run.outbox
    before, outbox.hidden = outbox.hidden, True
    try:
        return _call_with_words(function, context, chunk, name, keywords)
    finally:
        outbox.hidden = before


def _call_with_words(
    function: AnyState, context: Context, chunk: Chunk, name: str, keywords: dict[str, object]
) -> Result:
    """Call a state with the options that change its environment: saltenv, runas, umask."""
    words, args = chunk.words, chunk.args
    if "saltenv" in words:
        context.env = str(args["saltenv"])
    if "runas" in words and args["runas"] is not None:
        context.runas = str(args["runas"])
    if "umask" not in words:
        return function.attempt(context, name, **keywords)
    try:
        mask = int(str(args["umask"]), 8)
    except ValueError:
        return not_called(f"umask {args['umask']!r} is not an octal number")
    before = os.umask(mask)
    try:
        return function.attempt(context, name, **keywords)
    finally:
        os.umask(before)


def _unknown(registry: Registry, chunk: Chunk, fun: str) -> str:
    from saltern.modules.api.unknown_names import unknown_state

    why = unknown_state(registry, chunk.state, fun)
    return f"State '{chunk.state}.{fun}' was not found: {why} ({chunk.mark()})"
