"""Surveys a tree: renders every file once, and compiles every possible run; runs nothing.

The runs are those of the top file (this machine's, and that of every target), then each file that is not
part of one of them, with what it includes. A file that another one includes is compiled as a part of that.
With several machines, each has a walk of its own through what the top file gives to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from msgspec import Struct, field

from saltern.compiler.compile import CompilerOptions
from saltern.compiler.gather import expand
from saltern.engine.build_plan import build_plan
from saltern.engine.delays import Delays
from saltern.engine.frames import render_target
from saltern.engine.loaders import RenderedLoader
from saltern.engine.session import Session
from saltern.facts.tops import TopReader
from saltern.language.chunk import Chunk
from saltern.language.delayed import PREV_RET, Block, Limit, Target
from saltern.language.diagnostics import CompileError
from saltern.language.source import SlsRef
from saltern.lint.files import KeptLoader, is_late, names_block
from saltern.lint.findings import Findings
from saltern.lint.select import Selection
from saltern.lint.states import Unit
from saltern.lint.trees import Survey
from saltern.render.pipeline import Home
from saltern.sources.tree import SlsSource
from saltern.targeting.top import Assigned

# What a run may change before it renders a delayed target.
_ASKS = re.compile(rf"\b(?:{PREV_RET}|salt\b(?!://)|grains)\b")
# Problems that may only follow from a broken file of the same run.
_FOLLOWING = frozenset({"requisite-unknown", "requisite-matches-nothing", "extend-unknown", "late-unknown"})


Who = tuple[str, str]  # a target of a top file: its environment and its expression


class Seen(Struct, kw_only=True):
    """What the walks of a check share: includes and calls, for any of the machines."""

    named: set[SlsRef] = field(default_factory=set)  # by a top file, an include, a delayed entry
    blocks: Delays = field(default_factory=Delays)
    has_top: bool = False


def walk_tree(
    sessions: Sequence[Session],
    selection: Selection,
    options: CompilerOptions,
    limit: Limit,
    *,
    strangers: bool,
) -> list[Walk]:
    """Walk the tree once for each machine, whose session is prepared.

    ``strangers``: compile what each target of the top file assigns, whether or not it matches. Otherwise,
    compile what the matching machines get; what no machine gets is tried with each of them.
    """
    seen = Seen()
    walks = [Walk(session, selection, options, limit, seen) for session in sessions]
    walks[0].compile_ahead()
    known = set() if strangers else {who for walk in walks for who in walk.matched_targets()}
    if selection.whole:
        for walk in walks:
            walk.tops(without=known)
    refs = set(selection.refs)
    given = [walk.covered if selection.whole or strangers else refs & walk.gets() for walk in walks]
    unassigned = refs.difference(*given)
    for walk, own in zip(walks, given, strict=True):
        walk.rest(unassigned if selection.whole else own | unassigned)
    return walks


class Walk:
    """Compiles the tree for one machine. ``found`` collects the problems of the compiler."""

    def __init__(
        self, session: Session, selection: Selection, options: CompilerOptions, limit: Limit, seen: Seen
    ) -> None:
        self.found = Findings()
        self.found.add(session.warnings)
        self.loader = KeptLoader(session)
        self.units: list[Unit] = []
        self.covered: set[SlsRef] = set()
        self._session = session
        self._selection = selection
        self._options = options
        self._limit = limit
        self._seen = seen
        self._wanted = frozenset(selection.refs)
        self._late: set[SlsRef] = set()
        self._frames: set[tuple[str, ...]] = set()  # the definitions that were looked at
        self._ready = [ref for ref in selection.refs if self._is_ready(ref)]
        self._looked: set[SlsRef] = set()

    def compile_ahead(self) -> None:
        self._session.renderers.ahead(source for ref in self._ready if (source := self.loader.source_of(ref)))

    def rest(self, left: set[SlsRef]) -> None:
        """Compile the files that are in no run of a top file, each with what it includes."""
        self._looked = self.covered | left
        here = [ref for ref in self._ready if ref in self._looked]
        for ref in here:
            self._seen.named.update(one for one in self.loader.included_files(ref) if one != ref)
        alone = [ref for ref in here if ref in left]
        roots = [ref for ref in alone if ref not in self._seen.named]
        for ref in (*roots, *alone):  # a second time, for files that only include each other
            if ref not in self.covered and ref not in self.loader.problems:
                self._unit([ref])
        self._report_unrendered()

    def survey(self) -> Survey:
        return Survey(
            loader=self.loader,
            refs=tuple(ref for ref in self._selection.refs if ref in self._looked),
            named=frozenset(self._seen.named),
            has_top=self._seen.has_top,
            lost=self._selection.lost,
            unused=_unused_blocks(self._seen.blocks, self._selection, self.loader),
        )

    def _is_ready(self, ref: SlsRef) -> bool:
        """True if a file can be rendered now; one that is rendered later is only read."""
        try:
            source = self.loader.source(ref)
        except CompileError as problem:
            self.loader.problems[ref] = problem
            return False
        if source is None or not is_late(source):
            return True
        self._late.add(ref)
        _check_readable(self._session, source, self.found)
        return False

    # -- runs ------------------------------------------------------------------------------------------

    @cached_property
    def _tops(self) -> TopReader:
        only = self._session.settings.state_top_saltenv
        return self._session.tops(self._session.tree, self._session.renderers, only_env=only)

    @cached_property
    def _mine(self) -> list[Assigned]:
        """What the top files assign to this machine."""
        given = self._tops.assigned_sls(self._session.subject(), self._session.environments(), self.found)
        both = self._session.with_master_tops(given, self.found)
        return [one for some in both.values() for one in some]

    def gets(self) -> set[SlsRef]:
        """What the top files assign to this machine, with all included files."""
        named = [SlsRef(one.env, one.sls) for one in self._mine]
        refs = [one for ref in named for one in expand(ref, self.loader.names)]
        return set().union(*(self.loader.reach(ref) for ref in refs))

    def matched_targets(self) -> set[Who]:
        return {_who(one) for one in self._mine}

    def tops(self, *, without: set[Who]) -> None:
        """Compile the run of this machine, and that of every target except those in ``without``."""
        only = self._session.settings.state_top_saltenv
        others = _assignments(self._tops, [only] if only else self._session.environments())
        runs: dict[tuple[SlsRef, ...], list[Assigned]] = {}
        for given in [self._mine, *(some for some in others if some and _who(some[0]) not in without)]:
            runs.setdefault(tuple(SlsRef(one.env, one.sls) for one in given), given)
        runs.pop((), None)
        self._seen.has_top = self._seen.has_top or bool(runs)
        for refs, given in runs.items():
            self._seen.named.update(one for ref in refs for one in expand(ref, self.loader.names))
            self.loader.asked = {SlsRef(one.env, one.sls): one for one in given}
            self._unit(list(refs))
        self.loader.asked = {}

    def _unit(self, refs: Sequence[SlsRef]) -> None:
        found = Findings()
        self.loader.used = set()
        delays = Delays(self._limit)
        plan = build_plan(
            self._session,
            refs,
            self.loader,
            self._options,
            found,
            delays=delays,
            elsewhere=lambda id_: delays.inside(id_) or self.loader.declares(id_, refs[0].env),
        )
        self.covered |= self.loader.used
        self.found.take(found, without=_FOLLOWING if self.loader.is_broken else ())
        self._add(plan.chunks, delays)

    def _add(self, chunks: list[Chunk], delays: Delays, *, late: bool = False) -> None:
        unit = Unit(session=self._session, loader=self.loader, chunks=chunks, wanted=self._wanted, late=late)
        self.units.append(unit)
        for target in [target for chunk in chunks for target in chunk.delayed]:
            self._frame(target, delays)
        self._seen.blocks.defined |= delays.defined
        self._seen.blocks.called |= delays.called

    # -- what is rendered later ------------------------------------------------------------------------

    def _frame(self, target: Target, delays: Delays) -> None:
        """Render and compile a delayed target that needs nothing from the run; only read the template of any
        other."""
        if target.kind == "sls":
            self._seen.named.add(SlsRef(target.definition[0].rstrip(":"), target.name))
        if target.definition in self._frames or (target.block and target.block.call):
            return
        self._frames.add(target.definition)
        text = target.block.text if target.block else getattr(target.source, "text", "")
        _check_readable(self._session, target, self.found)
        if _ASKS.search(text):
            return
        try:
            self._add_rendered(target, delays)
        except CompileError as problem:  # a name that a macro lacks may exist by then
            self.found.add(one for one in problem.diagnostics if not one.code.startswith("template-"))

    def _add_rendered(self, target: Target, delays: Delays) -> None:
        found = Findings()
        document = render_target(self._session, target, {})
        given = {**target.context, PREV_RET: {}}
        loader = RenderedLoader(self._session, document, target.name if target.block else "", given)
        plan = build_plan(
            self._session, [loader.ref], loader, self._options, found, delays=delays, elsewhere=delays.inside
        )
        self.found.add(one for one in found if not one.code.startswith("template-"))
        self.found.edits |= found.edits
        self._add(plan.chunks, delays, late=True)

    def _report_unrendered(self) -> None:
        """Report files that could not be rendered, except those that only a delayed entry names: they were
        rendered with what the entry passes to them.
        """
        delayed = {
            ref for ref in self._seen.named if (f"{ref.env}:", ref.name) in self._frames
        } - self.covered
        looked = self._looked | self.covered
        for ref, problem in self.loader.problems.items():
            if ref in looked and ref not in delayed and ref not in self._late:
                self.found.add(problem.diagnostics)


def _check_readable(session: Session, one: Target | SlsSource, found: Findings) -> None:
    """Report problems in the template of a file or a block, without rendering it."""
    source = one if isinstance(one, SlsSource) else one.source
    try:
        if isinstance(source, SlsSource):
            session.renderers.compiles(source)
        elif isinstance(one, Target) and isinstance(one.scope.home, Home):
            session.renderers.compiles(one.scope.home.source, one.block, one.scope)
    except CompileError as problem:
        found.add(problem.diagnostics)


def _unused_blocks(blocks: Delays, selection: Selection, loader: KeptLoader) -> list[Block]:
    """Blocks that no run calls, nor may call: a state that is left out here or comes later is not seen.

    Where only some files are checked, of those.
    """
    paths = {source.path for ref in selection.refs if (source := loader.source_of(ref))}
    wanted = [one for one in blocks.unused_blocks() if selection.whole or one.file in paths]
    texts = {one.file: loader.text_of(one.file) for one in wanted}
    return [one for one in wanted if not names_block(texts[one.file] or one.name, one.name)]


def _who(given: Assigned) -> Who:
    return given.target.section, given.target.expression


def _assignments(reader: TopReader, envs: Sequence[str]) -> Iterator[list[Assigned]]:
    """What each target of the top files assigns, whether or not it matches."""
    for env in envs:
        for section, targets in (reader.sections(env, Findings()) or {}).items():
            for target in targets:
                yield [Assigned(item.env or section, item.sls, target, item.at) for item in target.items]
