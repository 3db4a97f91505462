"""The context of a module function: everything it may use, passed explicitly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from saltern.language.result import SubResult
from saltern.modules.api.outbox import Outbox
from saltern.modules.api.uplink import Uplink

if TYPE_CHECKING:
    from typing import Protocol

    from saltern.config.settings import Settings
    from saltern.language.barriers import Crossing
    from saltern.language.chunk import Chunk
    from saltern.modules.api.orchestration import Orchestration
    from saltern.system.clock import Clock
    from saltern.system.host import Host
    from saltern.system.keeper import ProgramKeeper
else:
    Protocol = object  # the real one takes as long to import as a module


class Functions(Protocol):
    """``salt``: execution functions by name, as templates and Salt-style modules see them."""

    def __getitem__(self, name: str) -> Callable[..., object]: ...
    def __contains__(self, name: object) -> bool: ...


class Files(Protocol):
    """``salt://``: the files of the tree."""

    def find(self, path: str, env: str) -> str | None:
        """The path on disk of ``salt://path``, or None. Never outside the roots."""

    def names(self, env: str) -> list[str]:
        """All files of the environment, sorted, relative to its root."""

    def directories(self, env: str) -> list[str]:
        """All directories of the environment, sorted, relative to its root."""

    def links(self, env: str) -> dict[str, str]:
        """All links of the environment with their targets, relative to its root."""

    def environments(self) -> list[str]: ...


class Templates(Protocol):
    """Rendering, for functions that manage templated files."""

    def text(
        self,
        text: str,
        *,
        engine: str,
        env: str,
        path: str = "",
        sls: str = "",
        values: Mapping[str, object] | None = None,
    ) -> str:
        """Render ``text`` with one engine (``jinja``, ``mako`` …); ``path`` is its path in the tree.

        Raises ``CompileError`` with the file and line of the mistake.
        """

    def data(
        self,
        text: str,
        *,
        pipe: str,
        env: str,
        path: str = "",
        sls: str = "",
        values: Mapping[str, object] | None = None,
    ) -> object:
        """Render ``text`` through a whole pipe (``jinja|yaml``, or its own ``#!`` line) into data."""


class States(Protocol):
    """``state``: compile or apply the tree from within a function, in its own run.

    Without ``sls``, the states of the top file. Raises ``CompileError`` with every problem.
    """

    def high(self, sls: Sequence[str], options: Mapping[str, object]) -> dict[str, object]: ...
    def low(self, sls: Sequence[str], options: Mapping[str, object]) -> list[dict[str, object]]: ...
    def top(self, options: Mapping[str, object]) -> dict[str, list[str]]: ...
    def apply(
        self,
        sls: Sequence[str],
        options: Mapping[str, object],
        *,
        test: bool | None = None,
        id_: str | None = None,
    ) -> dict[str, dict[str, object]]:
        """Apply states. Returns Salt's dictionary of results."""

    def single(
        self,
        fun: str,
        name: str,
        args: Mapping[str, object],
        options: Mapping[str, object],
        *,
        test: bool | None = None,
    ) -> dict[str, dict[str, object]]: ...


class Run:
    """The shared data of all calls in one run. One per run, so two runs in a process share nothing."""

    __slots__ = (
        "_host",
        "agent",
        "chunks",
        "clock",
        "context",
        "crossing",
        "files",
        "functions",
        "grains",
        "opts",
        "orchestration",
        "outbox",
        "pillar",
        "programs",
        "refresh",
        "settings",
        "states",
        "templates",
    )

    def __init__(
        self,
        *,
        settings: Settings,
        grains: dict[str, object],
        pillar: dict[str, object],
        opts: dict[str, object],
        files: Files,
        templates: Templates,
        functions: Functions,
        host: Host | None = None,
        clock: Clock,
    ) -> None:
        self.settings = settings
        self.grains = grains
        self.pillar = pillar
        self.opts = opts
        self.files = files
        self.templates = templates
        self.functions = functions
        self._host = host
        self.clock = clock
        self.outbox = Outbox()  # events that functions send
        self.agent = Uplink()  # the fleet, if this machine is in one
        self.context: dict[str, object] = {}  # Salt's __context__: the data of modules within a run
        self.states: States | None = None  # set by the creator of the run, if it can compile
        self.chunks: Sequence[
            Chunk
        ] = ()  # all chunks of the run, sorted; set by the engine once they are compiled
        self.crossing: Crossing | None = None  # of the state that is called again after a barrier
        self.orchestration: Orchestration | None = None  # the fleet, if the run is an orchestration
        self.programs: ProgramKeeper | None = (
            None  # while a journal is open: runs programs that must outlive us
        )
        self.refresh: Callable[[frozenset[str]], None] = lambda _: None  # set by the engine once it is built

    @property
    def host(self) -> Host:
        """The machine that the states change: this one, unless another is given."""
        if self._host is None:
            from saltern.system.host import LocalHost

            self._host = LocalHost(self)
        return self._host

    @host.setter
    def host(self, host: Host) -> None:
        self._host = host


class Context:
    """One call. ``ctx.test``, ``ctx.grains``, ``ctx.host.read(…)``, ``ctx.functions["pillar.get"](…)``."""

    __slots__ = ("chunk", "dashed", "emit", "env", "facts", "foreseen", "run", "runas", "test", "warnings")

    def __init__(
        self,
        run: Run,
        *,
        test: bool = False,
        env: str = "base",
        chunk: Chunk | None = None,
        runas: str | None = None,
        emit: Callable[[SubResult], None] | None = None,
        dashed: frozenset[str] = frozenset(),
    ) -> None:
        self.run = run
        self.dashed = dashed  # words among the arguments that no program may read as options
        self.test = test
        self.env = env
        self.chunk = chunk
        self.runas = runas
        self.emit = emit
        # Set by a state before it starts, for its result:
        self.warnings: tuple[str, ...] = ()  # of any result
        self.facts: Mapping[str, object] = {}  # its data, if the call is refused
        self.foreseen: Mapping[str, object] = {}  # in test mode, its changes if something is still missing

    def about(self, **facts: object) -> Context:
        """The context for one part of this call, which has its own result."""
        part = Context(
            self.run,
            test=self.test,
            env=self.env,
            chunk=self.chunk,
            runas=self.runas,
            emit=self.emit,
            dashed=self.dashed,
        )
        part.facts = facts
        return part

    @property
    def grains(self) -> dict[str, object]:
        return self.run.grains

    @property
    def pillar(self) -> dict[str, object]:
        return self.run.pillar

    @property
    def opts(self) -> dict[str, object]:
        return self.run.opts

    @property
    def settings(self) -> Settings:
        return self.run.settings

    @property
    def functions(self) -> Functions:
        return self.run.functions

    @property
    def files(self) -> Files:
        return self.run.files

    @property
    def templates(self) -> Templates:
        return self.run.templates

    @property
    def host(self) -> Host:
        if not self.dashed:
            return self.run.host
        from saltern.modules.api.argv import GuardedHost

        return GuardedHost(self.run.host, self.dashed)

    @property
    def clock(self) -> Clock:
        return self.run.clock
