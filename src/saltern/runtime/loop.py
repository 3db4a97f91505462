"""The run loop.

The rule, in one breath: take the steps in their sequence; ask a chunk's requisites, run it or say why
not, and write the answer down before the next step. A failed chunk marked failhard ends the run; what
was not reached is told as such. Then those who listen react.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from saltern.language.chunk import Chunk
from saltern.language.events import (
    Answer,
    ChunkFinished,
    ChunkStarted,
    Fired,
    Report,
    RunFinished,
    RunStarted,
)
from saltern.language.requisites import Standing, Vote, When
from saltern.language.result import Outcome, Result, skipped
from saltern.language.result import blocked as not_run
from saltern.plan.plan import Plan
from saltern.runtime.answers import Answers
from saltern.runtime.decide import Verdict, blocked, decide
from saltern.runtime.execute import Allowed, Executor
from saltern.runtime.pool import Pool
from saltern.runtime.ports import Caller, Recorder, Spawner
from saltern.system.clock import Clock

INTERRUPTED = "the run was interrupted from the keyboard"
RELOADING_STATES = frozenset({"pkg", "ports", "pip"})


class Rules(Struct, frozen=True, kw_only=True):
    """What of the configuration and the command line the runtime obeys."""

    test: bool = False
    failhard: bool = False
    max_parallel: int = 0
    allowed: Allowed | None = None
    disabled: Callable[[Chunk], bool] | None = None


def run(
    plan: Plan,
    *,
    caller: Caller,
    clock: Clock,
    rules: Rules,
    tell: Recorder | None = None,
    spawn: Spawner | None = None,
) -> Report:
    """Everything in the plan, to the end or to the first failhard."""
    return _Run(plan, caller, clock, rules, tell, spawn).all()


class _Run:
    def __init__(
        self,
        plan: Plan,
        caller: Caller,
        clock: Clock,
        rules: Rules,
        tell: Recorder | None,
        spawn: Spawner | None,
    ) -> None:
        self.plan = plan
        self.caller = caller
        self.clock = clock
        self.rules = rules
        self.tell = tell
        self.spawn = spawn
        self.executor = Executor(caller, clock, rules.allowed)
        self.answers = Answers(plan)
        self.pool = Pool(rules.max_parallel)
        self.postponed: list[int] = []
        self.gone: set[tuple[int, ...]] = set()  # groups whose first member has run
        self.begun: dict[int, tuple[int, float, float, Verdict]] = {}  # running in the pool
        self.number = 0
        self.stopped = ""

    def all(self) -> Report:
        begin = self.clock.tick()
        if self.tell:
            self.tell(RunStarted(total=len(self.plan.chunks), test=self.rules.test, started=self.clock.now()))
        try:
            self.walk()
            self.drain()
        except KeyboardInterrupt:
            self.stopped = INTERRUPTED
        if self.stopped:
            self.not_reached()
        if self.stopped != INTERRUPTED:
            self.listen()
        took = self.clock.tick() - begin
        if self.tell:
            self.tell(RunFinished(took=took, stopped=self.stopped))
        self.answers.listing.sort(key=lambda answer: answer.number)
        return Report(
            answers=self.answers.listing,
            test=self.rules.test,
            took=took,
            stopped=self.stopped,
            forgiven=self.forgiven(),
        )

    # -- the walk --------------------------------------------------------------------------------

    def walk(self) -> None:
        done = self.answers.of
        for step in self.plan.sequence:
            if step < 0:
                self.rehearse(~step)
            elif done[step] is None:
                self.take(step)
            if self.pool:
                self.reap()
            if self.stopped:
                return

    def take(self, place: int) -> None:
        """Run it, or postpone it: a parallel chunk does not make the others wait for what it needs."""
        if self.pool or self.postponed:
            if self.is_parallel(place) and self.unfinished(place):
                self.postponed.append(place)
                return
            self.settle(place)
        if not self.stopped:
            self.answer(place)

    def answer(self, place: int) -> None:
        chunk = self.plan.chunks[place]
        started, begin = self.clock.now(), self.clock.tick()
        if self.tell:
            self.tell(ChunkStarted(chunk, started))
        verdict = decide(self.plan, place, self.answers)
        if verdict.vote is Vote.FAIL:
            result = blocked(self.plan, place, verdict, self.answers)
        elif verdict.vote is Vote.HOLD:
            result = skipped(verdict.kind.held if verdict.kind else "")
        elif self.rules.disabled is not None and self.rules.disabled(chunk):
            result = not_run(f"not run: {chunk.function} is disabled on this machine")
        elif self.is_parallel(place):
            self.start(place, verdict, started, begin)
            return
        else:
            result = self.called(self.enlarged(place), verdict)
        self.record(place, result, self.next_number(), started, begin)

    def enlarged(self, place: int) -> Chunk:
        """The first of a group does what the module can do of the others in the same go."""
        chunk = self.plan.chunks[place]
        members = self.plan.groups.get(place)
        if members is None or members in self.gone:
            return chunk
        self.gone.add(members)
        others = [self.plan.chunks[one] for one in members if self.answers.of[one] is None]
        return self.caller.aggregate(chunk, others, self.answers.by_tag())

    def called(self, chunk: Chunk, verdict: Verdict) -> Result:
        result = self.executor.execute(chunk, test=self.rules.test)
        if (
            verdict.vote is not Vote.SIGNAL
            or result.changes
            or result.quiet
            or result.outcome is Outcome.FAILED
        ):
            return result
        return self.executor.react(chunk, chunk.fun, test=self.rules.test)

    def record(
        self, place: int, result: Result, number: int, started: float, begin: float, *, parallel: bool = False
    ) -> None:
        chunk = self.plan.chunks[place]
        if "no_log" in chunk.words and chunk.args["no_log"]:
            result = _silenced(result)
        answer = Answer(
            chunk=chunk,
            result=result,
            number=number,
            started=started,
            took=self.clock.tick() - begin,
            parallel=parallel,
        )
        spawned = self.spawn(answer) if self.spawn else ()
        self.answers.record(place, answer, spawned)
        if self.tell:
            self.tell(ChunkFinished(answer))
        if chunk.words:
            self.afterwards(chunk, answer)
        if self.answers.effective(place).outcome is Outcome.FAILED and self.is_failhard(chunk):
            self.stopped = self.stopped or f"{chunk.sls}.{chunk.id} failed and is marked failhard"

    def afterwards(self, chunk: Chunk, answer: Answer) -> None:
        """fire_event and the reload words."""
        args = chunk.args
        if args.get("fire_event") and self.tell:
            label = args["fire_event"]
            name = label if isinstance(label, str) else chunk.name
            data: dict[str, object] = {
                "result": answer.result.outcome.value,
                "changes": answer.result.changes,
            }
            self.tell(
                Fired(
                    f"salt/state_result/local/{chunk.id}/{name}", {**data, "comment": answer.result.comment}
                )
            )
        what = {word.removeprefix("reload_") for word in ("reload_grains", "reload_pillar") if args.get(word)}
        changed = bool(answer.result.changes)
        if (changed and (args.get("reload_modules") or chunk.state in RELOADING_STATES)) or args.get(
            "force_reload_modules"
        ):
            what.add("modules")
        if what and not self.rules.test:
            self.caller.refresh(frozenset(what))

    def next_number(self) -> int:
        self.number += 1
        return self.number - 1

    def is_failhard(self, chunk: Chunk) -> bool:
        if self.rules.test:
            return False
        if "failhard" in chunk.words:
            return bool(chunk.args["failhard"])
        return self.rules.failhard

    # -- prereq ------------------------------------------------------------------------------------

    def rehearse(self, place: int) -> None:
        """What would this chunk change? One that fails already here has answered for good."""
        if self.pool or self.postponed:
            self.settle(place, rehearsal=True)
        chunk = self.plan.chunks[place]
        started, begin = self.clock.now(), self.clock.tick()
        verdict = decide(self.plan, place, self.answers, rehearsal=True)
        if verdict.vote is Vote.HOLD:
            self.answers.rehearsed[place] = Standing(Outcome.OK)
            return
        if verdict.vote is Vote.FAIL:
            result = blocked(self.plan, place, verdict, self.answers)
        else:
            result = self.executor.execute(chunk, test=True, rehearsal=True)
        foreseen = verdict.vote is Vote.SIGNAL and not result.quiet and self.caller.reacts(chunk.state)
        self.answers.rehearsed[place] = Standing(result.outcome, bool(result.changes) or foreseen)
        if result.outcome is Outcome.FAILED:
            self.record(place, result, self.next_number(), started, begin)

    # -- parallel ----------------------------------------------------------------------------------

    def is_parallel(self, place: int) -> bool:
        chunk = self.plan.chunks[place]
        return "parallel" in chunk.words and bool(chunk.args["parallel"])

    def start(self, place: int, verdict: Verdict, started: float, begin: float) -> None:
        while self.pool.full:
            self.reap(block=True)
        self.begun[place] = (self.next_number(), started, begin, verdict)
        chunk = self.plan.chunks[place]
        self.pool.start(place, lambda: self.called(chunk, verdict))

    def reap(self, *, block: bool = False) -> None:
        for place, result in self.pool.finished(block=block):
            self.finish(place, result)
        self.resume()

    def finish(self, place: int, result: Result) -> None:
        number, started, begin, _ = self.begun.pop(place)
        self.record(place, result, number, started, begin, parallel=True)

    def resume(self) -> None:
        """Start what was postponed and has all it needs by now."""
        for place in list(self.postponed):
            if not self.stopped and place in self.postponed and not self.unfinished(place):
                self.postponed.remove(place)
                self.answer(place)

    def before(self, place: int, *, rehearsal: bool = False) -> list[int]:
        """The chunks it waits for, barriers opened."""
        size = len(self.plan.chunks)
        places: list[int] = []
        for need in self.plan.needs.get(place, ()):
            if need.kind.when is not When.REHEARSED:
                places += self.plan.barriers[need.on - size] if need.on >= size else [need.on]
        return places if rehearsal else [*places, *self.plan.preparers.get(place, ())]

    def unfinished(self, place: int) -> bool:
        return any(self.answers.of[one] is None for one in self.before(place))

    def settle(self, place: int, *, rehearsal: bool = False) -> None:
        """Wait for everything this chunk needs; what was postponed of it is started now."""
        stack = [one for one in self.before(place, rehearsal=rehearsal) if self.answers.of[one] is None]
        while stack and not self.stopped:
            one = stack[-1]
            if self.answers.of[one] is not None:
                stack.pop()
            elif one in self.pool:
                self.finish(one, self.pool.wait(one))
            elif deeper := [inner for inner in self.before(one) if self.answers.of[inner] is None]:
                stack += deeper
            else:
                if one in self.postponed:
                    self.postponed.remove(one)
                self.answer(one)

    def drain(self) -> None:
        """The end of the walk: wait for all that still runs."""
        while self.pool:
            self.reap(block=True)
        while self.postponed and not self.stopped:
            self.settle(self.postponed[0])
            self.resume()
            while self.pool:
                self.reap(block=True)

    # -- the end -----------------------------------------------------------------------------------

    def not_reached(self) -> None:
        why = "interrupted" if self.stopped == INTERRUPTED else "failhard"
        result = not_run(f"not run ({why}): {self.stopped}")
        for step in self.plan.sequence:
            if step >= 0 and self.answers.of[step] is None:
                answer = Answer(
                    chunk=self.plan.chunks[step], result=result, number=self.next_number(), timed=False
                )
                self.answers.record(step, answer)
                if self.tell:
                    self.tell(ChunkFinished(answer))

    def listen(self) -> None:
        """Each listener reacts once, if anything it listens to has changed; requisites do not count here."""
        heard = {
            listener.place: None
            for listener in self.plan.listeners
            if self.answers.standings[listener.to] is not None and self.answers.effective(listener.to).changed
        }
        for place in heard:
            self.react(self.plan.chunks[place])

    def react(self, chunk: Chunk) -> None:
        heard = replace(chunk, id=f"listener_{chunk.id}", fun="mod_watch", requisites=())
        started, begin = self.clock.now(), self.clock.tick()
        if self.tell:
            self.tell(ChunkStarted(heard, started))
        result = self.executor.react(heard, chunk.fun, test=self.rules.test)
        took = self.clock.tick() - begin
        answer = Answer(chunk=heard, result=result, number=self.next_number(), started=started, took=took)
        self.answers.listing.append(answer)
        if self.tell:
            self.tell(ChunkFinished(answer))

    def forgiven(self) -> frozenset[str]:
        """Failures that a handler with ``onfail_stop: False`` has dealt with."""
        tags: set[str] = set()
        for place, chunk in enumerate(self.plan.chunks):
            if "onfail_stop" not in chunk.words or chunk.args["onfail_stop"] is not False:
                continue
            answer = self.answers.of[place]
            if answer is None or not answer.result.ran or answer.result.outcome is Outcome.FAILED:
                continue
            for need in self.plan.needs.get(place, ()):
                if need.kind.name.startswith("onfail"):
                    tags.update(self.plan.chunks[one].tag for one in self.answers.failed_behind(need.on))
        return frozenset(tags)


def _silenced(result: Result) -> Result:
    changes: dict[str, object] = {"hidden": "no_log"} if result.changes else {}
    return replace(
        result, comment="hidden: this state is marked no_log", changes=changes, data={}, warnings=()
    )
