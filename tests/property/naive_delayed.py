"""Delayed rendering, a second time: written from the decisions' text alone, by plain recursion.

A tree is described by values, not by text. A scope runs its states in the order of the file, each after
what it waits for, and after each state the targets it delays: each a scope of its own. Small trees only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

OK, FAILED, UNKNOWN = True, False, None
Result = bool | None
PULLED = ("require", "watch", "prereq", "onfail", "onchanges")  # in the order in which they are pulled


class Entry(Struct, frozen=True):
    """One of ``delayed_render``."""

    kind: str  # block or sls
    name: str
    when: str = "success"


class State(Struct, frozen=True, kw_only=True):
    """``fun`` is one of ``Recording``'s; ``done``: a condition says that nothing is left to do.

    ``asks``: it is given ``seen``, which tells of ``prev_ret``.
    """

    id: str
    fun: str = "fine"
    names: tuple[str, ...] = ()
    needs: tuple[tuple[str, str], ...] = ()  # requisite and ID
    entries: tuple[Entry, ...] = ()
    failhard: bool = False
    done: bool = False
    asks: bool = False


class Text(Struct, frozen=True, kw_only=True):
    """A file, or what stands in a block. ``broken``: it cannot be rendered or compiled."""

    states: tuple[State, ...] = ()
    blocks: tuple[Block, ...] = ()
    include: tuple[str, ...] = ()
    broken: str = ""


class Block(Struct, frozen=True, kw_only=True):
    """``limit`` is as written on the tag: nothing, a number or ``None``."""

    name: str
    text: Text
    limit: str = ""
    draft: bool = False
    named_end: bool = False


class Tree(Struct, frozen=True, kw_only=True):
    files: Mapping[str, Text]  # main is applied
    limits: Mapping[str, str] = field(default_factory=dict)  # of #!delayed_sls, by file
    limit: int | None = 1
    depth: int = 50
    frames: int = 1000
    test: bool = False
    failhard: bool = False
    newline: str = "\n"


class Row(Struct, frozen=True):
    """One answer, as the report has it."""

    frame: str
    state: str
    id: str
    name: str
    result: Result
    ran: bool = True
    changed: bool = False
    seen: str = ""


Key = tuple[str, ...]  # the file, and the names of the blocks down to this one


class Place(Struct, frozen=True):
    """A text, where it stands, and the text around it."""

    key: Key
    text: Text
    around: Place | None = None

    def find(self, name: str) -> tuple[Block, Place] | None:
        """“own block, then enclosing blocks, then the file”"""
        for block in self.text.blocks:
            if block.name == name:
                return block, Place((*self.key, name), block.text, self)
        return self.around.find(name) if self.around else None


class Chunk(Struct, eq=False):
    """One name of a state, in one scope, and what became of it."""

    state: State
    name: str
    place: Place
    row: Row | None = None
    number: int = -1
    effective: Result = OK
    changed: bool = False
    tried: tuple[Result, bool] | None = None  # by prereq


class DoesNotCompile(Exception):
    """A scope that cannot be run."""


class Run:
    """``rows`` is everything in the order of execution; ``frames`` are the paths of those that ran."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.rows: list[Row] = []
        self.frames: list[str] = []
        self.apart: set[int] = set()  # rows that do not roll up
        self.started: dict[Key, int] = {}
        self.defined: set[Key] = set()
        self.called: set[Key] = set()
        self.broke = False
        self.stopped = False
        chunks = self.compiled(Place(("main",), tree.files["main"]))
        Scope(self, chunks, "", 0, "").all()

    def compiled(self, place: Place) -> list[Chunk]:
        """The chunks of a text and of all it includes, the included first."""
        places = self.gathered(place, set())
        chunks = [
            Chunk(state, name, one)
            for one in places
            for state in one.text.states
            for name in state.names or (state.id,)
        ]
        ids = {chunk.state.id for chunk in chunks}
        if not all(need in ids for chunk in chunks for _, need in chunk.state.needs):
            raise DoesNotCompile
        keys = [self.target(chunk, entry).key for chunk in chunks for entry in chunk.state.entries]
        self.called.update(keys)
        self.defined.update((*one.key, block.name) for one in places for block in one.text.blocks)
        return chunks

    def gathered(self, place: Place, seen: set[str]) -> list[Place]:
        if place.text.broken:
            raise DoesNotCompile
        found: list[Place] = []
        for name in place.text.include:
            if name not in seen:
                seen.add(name)
                found += self.gathered(self.file(name), seen)
        return [*found, place]

    def file(self, name: str) -> Place:
        if name not in self.tree.files:
            raise DoesNotCompile
        return Place((name,), self.tree.files[name])

    def target(self, chunk: Chunk, entry: Entry) -> Place:
        if entry.kind == "sls":
            return self.file(entry.name)
        found = chunk.place.find(entry.name)
        if found is None:
            raise DoesNotCompile
        return found[1]

    def limit(self, chunk: Chunk, entry: Entry) -> int | None:
        """“Tag/hashbang beats config beats 1.”"""
        written = self.tree.limits.get(entry.name, "")
        if entry.kind == "block":
            found = chunk.place.find(entry.name)
            written = found[0].limit if found else ""
        return self.tree.limit if not written else None if written == "None" else int(written)


class Scope:
    """The states of one frame, or of the root run."""

    def __init__(self, run: Run, chunks: list[Chunk], path: str, depth: int, seen: str) -> None:
        self.run = run
        self.chunks = chunks
        self.path = path
        self.depth = depth
        self.seen = seen
        self.plan = list(self.planned())

    def all(self) -> None:
        for what, chunk in self.plan:
            if self.run.stopped:
                break
            if chunk.row is None:
                self.try_out(chunk) if what == "try" else self.take(chunk)
        for what, chunk in self.plan:
            if what == "run" and chunk.row is None:
                self.answer(chunk, FAILED, ran=False)
                for entry in chunk.state.entries:
                    self.stand_in(chunk, entry, FAILED)
        self.listen()

    # -- the order ---------------------------------------------------------------------------------------

    def planned(self) -> Iterator[tuple[str, Chunk]]:
        done: set[tuple[str, int]] = set()

        def do(what: str, chunk: Chunk) -> Iterator[tuple[str, Chunk]]:
            if (what, id(chunk)) in done:
                return
            done.add((what, id(chunk)))
            for kind in PULLED:
                for one in self.named(chunk, kind):
                    yield from do("try" if kind == "prereq" else "run", one)
            if what == "run":
                for owner in self.chunks:
                    if chunk in self.named(owner, "prereq"):
                        yield from do("run", owner)
            yield what, chunk

        for chunk in self.chunks:
            yield from do("run", chunk)

    def named(self, chunk: Chunk, kind: str) -> list[Chunk]:
        wanted = [need for one, need in chunk.state.needs if one == kind]
        return [one for need in wanted for one in self.chunks if one.state.id == need]

    # -- one state ---------------------------------------------------------------------------------------

    def take(self, chunk: Chunk) -> None:
        """Ask what it waits for, run it, then what it delays."""
        hold, signal = False, False
        result: Result
        for kind in PULLED:
            targets = self.named(chunk, kind)
            if not targets:
                continue
            failed = any(one.effective is FAILED for one in targets)
            if kind == "prereq":
                failed = any(one.tried is not None and one.tried[0] is FAILED for one in targets)
                hold |= not any(one.tried and (one.tried[1] or one.tried[0] is None) for one in targets)
            elif kind == "onfail":
                hold |= not failed
            elif kind == "onchanges":
                hold |= not any(one.changed and one.effective is not FAILED for one in targets)
            if failed and kind in ("require", "watch", "prereq"):
                return self.finish(chunk, FAILED, ran=False)
            signal |= kind == "watch" and any(one.changed for one in targets)
        owners = [one for one in self.chunks if chunk in self.named(one, "prereq")]
        due = chunk.tried is not None and (chunk.tried[1] or chunk.tried[0] is not OK)
        if due and any(one.effective is FAILED for one in owners):
            return self.finish(chunk, FAILED, ran=False)
        if hold:
            return self.finish(chunk, OK, ran=False)
        result, changed = called(chunk.state, test=self.run.tree.test)
        if signal and not changed and result is not FAILED:
            result, changed = (None if self.run.tree.test else OK), True  # the module reacts
        return self.finish(chunk, result, changed=changed)

    def try_out(self, chunk: Chunk) -> None:
        """“the trial run of `prereq` … never render and never count”; one that fails is final."""
        chunk.tried = called(chunk.state, test=True)
        if chunk.tried[0] is FAILED:
            self.finish(chunk, FAILED)

    def answer(self, chunk: Chunk, result: Result, *, ran: bool = True, changed: bool = False) -> None:
        seen = self.seen if chunk.state.asks else ""
        row = Row(self.path, "rec", chunk.state.id, chunk.name, result, ran, changed, seen)
        chunk.row, chunk.number, chunk.effective, chunk.changed = row, len(self.run.rows), result, changed
        self.run.rows.append(row)

    def finish(self, chunk: Chunk, result: Result, *, ran: bool = True, changed: bool = False) -> None:
        self.answer(chunk, result, ran=ran, changed=changed)
        for entry in chunk.state.entries:
            first = len(self.run.rows)
            is_rendered = self.delayed(chunk, entry)
            failed = self.roll_up(chunk, first)
            if is_rendered and failed and self.is_failhard(chunk):
                self.run.stopped = True
        if chunk.effective is FAILED and self.is_failhard(chunk):
            self.run.stopped = True

    def roll_up(self, chunk: Chunk, first: int) -> bool:
        """“its own, and everything it spawned”; whether any of what it spawned failed."""
        below = [row for at, row in enumerate(self.run.rows) if at >= first and at not in self.run.apart]
        results = {row.result for row in below}
        chunk.changed |= any(row.changed for row in below)
        if FAILED in results or chunk.effective is FAILED:
            chunk.effective = FAILED
        elif UNKNOWN in results:
            chunk.effective = UNKNOWN
        return FAILED in results

    def is_failhard(self, chunk: Chunk) -> bool:
        return not self.run.tree.test and (chunk.state.failhard or self.run.tree.failhard)

    # -- what it delays ----------------------------------------------------------------------------------

    def delayed(self, chunk: Chunk, entry: Entry) -> bool:
        """Whether it was to be rendered."""
        assert chunk.row is not None
        fate = fate_of(chunk.row, entry.when, test=self.run.tree.test)
        if self.run.stopped or fate == "fail":
            self.stand_in(chunk, entry, FAILED)
        elif fate == "render":
            self.render(chunk, entry)
            return True
        else:
            self.stand_in(chunk, entry, OK if fate == "skip" else UNKNOWN)
        return False

    def render(self, chunk: Chunk, entry: Entry) -> None:
        run = self.run
        target = run.target(chunk, entry)
        limit, used = run.limit(chunk, entry), run.started.get(target.key, 0)
        if limit is not None and used >= limit:
            run.apart.add(len(run.rows))  # “The repeat-limit error does not roll up.”
            self.stand_in(chunk, entry, FAILED)
            run.stopped |= self.is_failhard(chunk)  # “the run goes on unless `failhard`”
            return
        if self.depth + 1 > run.tree.depth or sum(run.started.values()) >= run.tree.frames:
            self.stand_in(chunk, entry, FAILED)
            return
        run.started[target.key] = used + 1
        try:
            chunks = run.compiled(target)
        except DoesNotCompile:
            run.broke = True
            self.stand_in(chunk, entry, FAILED, ran=True)
            return
        path = f"{self.inside(chunk)}>{title(entry)}#{used + 1}"
        run.frames.append(path)
        Scope(run, chunks, path, self.depth + 1, told(chunk)).all()

    def stand_in(self, chunk: Chunk, entry: Entry, result: Result, *, ran: bool = False) -> None:
        """One answer for a whole target; one that was rendered, and is wrong, counts as run."""
        row = Row(self.inside(chunk), "delayed", title(entry), entry.name, result, ran)
        self.run.rows.append(row)

    def inside(self, chunk: Chunk) -> str:
        return f"{self.path}>{chunk.state.id}" if self.path else chunk.state.id

    # -- the end -----------------------------------------------------------------------------------------

    def listen(self) -> None:
        for chunk in self.chunks:
            if any(one.changed for one in self.named(chunk, "listen")):
                changed = not chunk.state.done
                result = UNKNOWN if self.run.tree.test and changed else OK
                name = f"listener_{chunk.state.id}"
                seen = self.seen if chunk.state.asks else ""
                self.run.rows.append(Row(self.path, "rec", name, chunk.name, result, True, changed, seen))


def called(state: State, *, test: bool) -> tuple[Result, bool]:
    """Result, and whether it has changes."""
    if state.done:
        return OK, False
    if state.fun == "fails_late":
        return (UNKNOWN, True) if test else (FAILED, False)
    if state.fun == "changes":
        return (UNKNOWN if test else OK), True
    return (FAILED if state.fun == "fails" else OK), False


def fate_of(row: Row, when: str, *, test: bool) -> str:
    """“By default a frame renders iff the caller ran and its result is not False.”"""
    if row.result is FAILED:
        return "render" if when in ("always", "failure") else "fail"
    if test and row.result is UNKNOWN:
        return "skip" if when == "failure" else "defer"
    if not row.ran:
        return "render" if when == "always" else "skip"
    wanted = {"success": True, "always": True, "changes": row.changed, "failure": False}
    return "render" if wanted[when] else "skip"


def title(entry: Entry) -> str:
    return entry.name if entry.kind == "block" else f"sls:{entry.name}"


def told(chunk: Chunk) -> str:
    """What a frame sees of its caller, as ``delayed_trees`` writes it down."""
    assert chunk.row is not None
    row = chunk.row
    return f"{row.id} {row.name} {row.result} {row.ran} {chunk.number} {row.changed}"


def unused(run: Run) -> Sequence[Key]:
    return sorted(run.defined - run.called)
