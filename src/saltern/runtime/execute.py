"""One call, with everything that the engine does around it.

The order: conditions (onlyif, unless, creates), conditions of the configuration, slots, the
function, check_cmd; and retry around all of that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from saltern.language.chunk import Chunk
from saltern.language.diagnostics import words_of
from saltern.language.keywords import CONDITIONS
from saltern.language.late import unwrap_literals
from saltern.language.result import Outcome, Result, not_called
from saltern.runtime.answers import NO_REGISTERS, Registers
from saltern.runtime.slots import PREFIX, NotReady, has_slots, resolve

if TYPE_CHECKING:
    from saltern.runtime.ports import Allowed, Caller, Steps
    from saltern.system.clock import Clock

NOT_ALLOWED = Result(
    outcome=Outcome.WOULD_CHANGE,
    comment="not called: none of the global_state_conditions for it is met",
    called=False,
)


class Executor:
    """Calls states; shared by all chunks of a run."""

    def __init__(self, caller: Caller, clock: Clock, allowed: Allowed | None = None) -> None:
        self._caller = caller
        self._clock = clock
        self._allowed = allowed

    def execute(
        self,
        chunk: Chunk,
        *,
        test: bool,
        rehearsal: bool = False,
        registers: Registers = NO_REGISTERS,
        steps: Steps | None = None,
    ) -> Result:
        """Call a state. ``rehearsal``: only find out what would change; no retry, no check_cmd."""
        if chunk.late:
            from saltern.runtime.late import filled_in

            ready = filled_in(chunk, registers, test=test or rehearsal)
            if isinstance(ready, Result):
                return ready
            chunk = ready
        if "retry" in chunk.words and not rehearsal:
            from saltern.runtime.retry import read, run_with_retry

            rule = read(chunk.args["retry"])
            if not test and rule.attempts > 1:
                return run_with_retry(lambda: self._once(chunk, test=test, steps=steps), rule, self._clock)
        return self._once(chunk, test=test or rehearsal, steps=steps)

    def react(self, chunk: Chunk, fun: str, *, test: bool, registers: Registers = NO_REGISTERS) -> Result:
        """Let the module react to a change; conditions also apply here."""
        if chunk.late:
            from saltern.runtime.late import filled_in

            ready = filled_in(chunk, registers, test=test)
            if isinstance(ready, Result):
                return ready
            chunk = ready
        args = self._arguments(chunk)
        return args if isinstance(args, Result) else self._caller.react(chunk, args, fun=fun, test=test)

    def _once(self, chunk: Chunk, *, test: bool, steps: Steps | None = None) -> Result:
        if steps is not None and steps.answers:
            steps.start_again()
        args = self._arguments(chunk)
        if isinstance(args, Result):
            return args
        result = self._caller.call(chunk, args, test=test, emit=steps.add if steps is not None else None)
        if "check_cmd" not in chunk.words or test or not result.called:
            return result
        if self._caller.takes(chunk, "check_cmd"):
            return result
        from saltern.runtime.guards import run_check_cmd

        return run_check_cmd(chunk, result, self._caller)

    def _skip_reason(self, chunk: Chunk) -> str:
        if not chunk.words or chunk.words.isdisjoint(CONDITIONS):
            return ""
        from saltern.runtime.guards import skip_reason

        return skip_reason(chunk, self._caller)

    def _arguments(self, chunk: Chunk) -> dict[str, object] | Result:
        """The arguments with slots resolved; or a result if the state is not called, because of a condition
        or of a problem, which fails only this state."""
        if chunk.broken:
            return not_called(chunk.broken)
        try:
            if reason := self._skip_reason(chunk):
                return Result(outcome=Outcome.OK, comment=reason, quiet=True, called=False)
            if self._allowed is not None and not self._allowed(chunk):
                return NOT_ALLOWED
            args = chunk.args
            if chunk.literal or chunk.name.startswith(PREFIX):
                args = {**args, "name": chunk.name}
            if args and has_slots(args):
                args = resolve(args, self._caller)
            if chunk.literal:
                args = {key: unwrap_literals(value) for key, value in args.items()}
        except NotReady as problem:
            return not_called(str(problem))
        except Exception as problem:
            words = f"{type(problem).__name__}: {words_of(problem)}"
            return not_called(f"this state could not be called: {words}")
        return args
