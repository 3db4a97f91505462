"""Shared by the tests of the language: a tree of texts, compiled or run within this process."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

from saltern.cli.main import code_for
from saltern.cli.output import exit_code
from saltern.config.settings import Settings
from saltern.engine.apply import apply
from saltern.engine.request import Request
from saltern.engine.session import Session
from saltern.engine.show import show_high, show_low, show_order, show_top
from saltern.language.chunk import Chunk, Requisite
from saltern.language.diagnostics import Diagnostic, Diagnostics, SalternError
from saltern.language.events import Answer, Event, Report
from saltern.language.high import Declaration
from saltern.language.keywords import ENGINE_WORDS
from saltern.language.nature import Nature
from saltern.language.result import Result, SubResult, ok
from saltern.language.source import Mark, Path, SlsRef
from saltern.modules.api.registry import Registry
from saltern.system.clock import Clock, FakeClock

Files = Mapping[str, str]
T = TypeVar("T")


class Tree:
    """Texts as files below a temporary directory.

    A path is of ``base``; ``dev=web.sls`` is of the environment ``dev``; ``pillar/…`` is of the pillar
    roots and ``scratch/…`` of a directory whose place is the pillar value ``scratch``.
    """

    def __init__(
        self,
        files: Files,
        place: str,
        *,
        config: Mapping[str, object] | None = None,
        grains: Mapping[str, object] | None = None,
        pillar: Mapping[str, object] | None = None,
        registry: Registry | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.place = place
        self.scratch = os.path.join(place, "scratch")
        self._roots: dict[str, dict[str, list[str]]] = {"states": {}, "pillar": {}, "scratch": {}}
        self._config = dict(config or {})
        self._grains = grains
        self._pillar = {"scratch": self.scratch, **(pillar or {})}
        self._registry = registry
        self._clock = clock
        os.makedirs(self._root("states", "base"))
        os.makedirs(self.scratch)
        for path, text in files.items():
            self._write(path, text)

    def _write(self, path: str, text: str) -> None:
        kind, env = "states", "base"
        if path.startswith(("pillar/", "scratch/")):
            kind, _, path = path.partition("/")
        if "=" in path:
            env, _, path = path.partition("=")
        full = os.path.join(self.scratch if kind == "scratch" else self._root(kind, env), path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)

    def _root(self, kind: str, env: str) -> str:
        root = os.path.join(self.place, kind, env)
        self._roots[kind].setdefault(env, [root])
        return root

    def session(self, *, test: bool = False) -> Session:
        given: dict[str, object] = {
            "id": "here",
            "file_roots": self._roots["states"],
            "pillar_roots": self._roots["pillar"] or {"base": [os.path.join(self.place, "none")]},
            "grains_file": os.devnull,
            "cachedir": os.path.join(self.place, "cache"),
            "state_dir": os.path.join(self.place, "state"),
            "test": test,
        }
        settings = Settings(**{**given, **self._config})  # type: ignore[arg-type]
        return Session(
            settings,
            grains=self._grains,
            pillar=self._pillar,
            registry=self._registry,
            clock=self._clock or FakeClock(),
        )

    def short(self, problem: Diagnostic) -> str:
        """The problem as a user reads it, with paths from the roots on: ``main.sls:3:5: …``."""
        text = str(problem)
        for kind, before in (("states", ""), ("pillar", "pillar/")):
            text = text.replace(os.path.join(self.place, kind, "base") + "/", before)
            text = text.replace(os.path.join(self.place, kind) + "/", before)
        return text


@contextmanager
def tree(files: Files, **options: object) -> Iterator[Tree]:
    """``options``: config, grains, pillar, registry, clock."""
    with tempfile.TemporaryDirectory(prefix="saltern-test-") as place:
        yield Tree(files, place, **options)  # type: ignore[arg-type]


def request_for(files: Files, options: Mapping[str, object] | None = None) -> Request:
    """What is asked for: as the options say, else ``main``, else the top file, else the first file."""
    given = dict(options or {})
    if "sls" not in given and "top.sls" not in files and not given.get("template"):
        names = [
            path[:-4].replace("/", ".") for path in files if path.endswith(".sls") and path[:7] != "pillar/"
        ]
        given["sls"] = ("main",) if "main" in names else tuple(names[:1])
    for name in ("sls", "exclude"):
        if name in given:
            value = given[name]
            given[name] = tuple(value) if isinstance(value, list | tuple) else (value,)
    return Request(**given)  # type: ignore[arg-type]


class Outcome:
    """What came of a run: a report or problems, never an exception that is not ours."""

    def __init__(self) -> None:
        self.report: Report | None = None
        self.problems: tuple[Diagnostic, ...] = ()
        self.texts: list[str] = []
        self.warnings: list[str] = []
        self.events: list[Event] = []
        self.code = 0

    @property
    def answers(self) -> list[Answer]:
        assert self.report is not None, "\n".join(self.texts)
        return self.report.answers


def attempt(made: Tree, request: Request, *, test: bool = False, detailed: bool = False) -> Outcome:
    outcome = Outcome()

    def tell(event: Event) -> None:
        outcome.events.append(event)

    try:
        report = apply(made.session(test=test), request, tell)
    except SalternError as problem:
        outcome.problems = problem.diagnostics
        outcome.texts = [made.short(one) for one in problem.diagnostics]
        outcome.code = code_for(problem)
        return outcome
    outcome.report = report
    outcome.warnings = [made.short(one) for one in report.warnings]
    outcome.code = exit_code(report, detailed=detailed)
    return outcome


# -- the short ways ------------------------------------------------------------------------------


def run_sls(
    files: Files, *, test: bool = False, request: Mapping[str, object] | None = None, **options: object
) -> Report:
    """Run a tree and give the report; one that does not compile raises ``CompileError``."""
    with tree(files, **options) as made:
        return apply(made.session(test=test), request_for(files, request))


def low(
    files: Files, *, request: Mapping[str, object] | None = None, **options: object
) -> list[dict[str, object]]:
    with tree(files, **options) as made:
        return _shown(show_low(made.session(), request_for(files, request), found := Diagnostics()), found)


def high(
    files: Files, *, request: Mapping[str, object] | None = None, **options: object
) -> dict[str, object]:
    with tree(files, **options) as made:
        return _shown(show_high(made.session(), request_for(files, request), found := Diagnostics()), found)


def order(
    files: Files, *, request: Mapping[str, object] | None = None, **options: object
) -> list[dict[str, object]]:
    with tree(files, **options) as made:
        return _shown(show_order(made.session(), request_for(files, request), found := Diagnostics()), found)


def top(
    files: Files, *, request: Mapping[str, object] | None = None, **options: object
) -> dict[str, list[str]]:
    with tree(files, **options) as made:
        return _shown(show_top(made.session(), request_for(files, request), found := Diagnostics()), found)


def errors(files: Files, *, request: Mapping[str, object] | None = None, **options: object) -> list[str]:
    """Every problem that keeps the tree from running, as text; empty if it runs."""
    with tree(files, **options) as made:
        return attempt(made, request_for(files, request)).texts


def ids(report: Report) -> list[str]:
    """The IDs in the order of their numbers."""
    return [answer.chunk.id for answer in report.answers]


def _shown(value: T, found: Diagnostics) -> T:
    found.check()
    return value


# -- pieces, for tests of single stages -----------------------------------------------------------


class Written:
    """An origin that knows no lines."""

    def __init__(self, file: str = "main.sls") -> None:
        self.file = file

    def mark(self, path: Path = ()) -> Mark:
        return Mark(self.file)


def chunk(
    id_: str,
    *,
    state: str = "test",
    fun: str = "nop",
    name: str = "",
    sls: str = "main",
    order: float = 0,
    requisites: Iterable[tuple[str, str, str]] = (),
    included_from: tuple[str, ...] = (),
    more: Mapping[str, object] | None = None,
    **args: object,
) -> Chunk:
    """One chunk as the compiler would make it; ``requisites`` are (kind, type, value).

    ``more`` are arguments that are not known by name.
    """
    args |= more or {}
    declared = Declaration(
        id=id_,
        state=state,
        key=f"{state}.{fun}",
        items=[fun],
        ref=SlsRef("base", sls),
        origin=Written(f"{sls}.sls"),
        included_from=included_from,
    )
    wanted = tuple(Requisite(kind, of, value) for kind, of, value in requisites)
    words = (ENGINE_WORDS & args.keys()) | {one.kind for one in wanted}
    return Chunk(
        state=state,
        fun=fun,
        id=id_,
        name=name or id_,
        order=order,
        args=args,
        requisites=wanted,
        words=frozenset(words),
        declared=declared,
    )


class ScriptedCaller:
    """Answers as it is told, and writes down what it is asked. ``codes`` are exit codes of commands."""

    def __init__(
        self,
        results: Mapping[str, Result | Sequence[Result]] | None = None,
        *,
        codes: Mapping[str, int] | None = None,
        functions: Mapping[str, Callable[..., object]] | None = None,
        paths: Iterable[str] = (),
        reacting: bool = True,
    ) -> None:
        self._results = {
            id_: list(one) if isinstance(one, Sequence) else one for id_, one in (results or {}).items()
        }
        self._codes = codes or {}
        self._functions = functions or {}
        self._paths = set(paths)
        self._reacting = reacting
        self.asked: list[str] = []

    def call(
        self,
        chunk: Chunk,
        args: Mapping[str, object],
        *,
        test: bool,
        emit: Callable[[SubResult], None] | None = None,
    ) -> Result:
        self.asked.append(f"{'try' if test else 'run'} {chunk.id}")
        given = self._results.get(chunk.id, ok("done"))
        if isinstance(given, list):
            return given.pop(0) if len(given) > 1 else given[0]
        assert isinstance(given, Result)
        return given

    def react(self, chunk: Chunk, args: Mapping[str, object], *, fun: str, test: bool) -> Result:
        self.asked.append(f"react {chunk.id}")
        return ok("reacted", changes={"reacted": True})

    def reacts(self, state: str) -> bool:
        return self._reacting

    def guarded_by_itself(self, state: str) -> bool:
        return state == "guarded"

    def function(self, name: str, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
        self.asked.append(f"call {name}")
        if name not in self._functions:
            raise LookupError(f"no function is called {name!r}")
        return self._functions[name](*args, **kwargs)

    def function_and_code(
        self, name: str, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> tuple[object, int]:
        return self.function(name, args, kwargs), 0

    def command(self, command: str, options: Mapping[str, object]) -> int:
        self.asked.append(f"command {command}" + (f" {dict(options)}" if options else ""))
        return self._codes.get(command, 0)

    def nature(self, state: str, fun: str) -> Nature:
        return Nature()

    def takes(self, chunk: Chunk, word: str) -> bool:
        return False

    def exists(self, path: str) -> bool:
        return path in self._paths

    def aggregate(self, chunk: Chunk, group: Sequence[Chunk], answered: Mapping[str, Answer]) -> Chunk:
        return chunk

    def aggregates(self, state: str) -> bool:
        return False

    def arrived(self, crossing: object) -> None:
        self.asked.append("arrived")

    def refresh(self, what: frozenset[str]) -> None:
        self.asked.append(f"refresh {', '.join(sorted(what))}")
