"""The spine: one function for each thing a user asks for, every stage named in its order.

The only place that wires the parts together. Read ``apply`` from top to bottom and you have read
the way of the data: files → High → chunks → plan → answers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import asdict

from saltern.compiler.compile import Low, compile_high, compile_low, shape
from saltern.compiler.compile import Rules as CompileRules
from saltern.compiler.ports import Loaded
from saltern.config.settings import Settings, cache_directory
from saltern.facts.grains import Grains, collect
from saltern.language.chunk import Chunk
from saltern.language.diagnostics import Diagnostic, Diagnostics, OperationError, did_you_mean
from saltern.language.events import Answer, Report
from saltern.language.high import Declaration, Exclusion, High
from saltern.language.result import failed
from saltern.language.source import Mark, Path, SlsRef
from saltern.modules.caller import ModuleCaller
from saltern.modules.check import check
from saltern.modules.context import Run
from saltern.modules.registry import Registry
from saltern.modules.salt import Salt
from saltern.plan.plan import Plan, make_plan
from saltern.render.jinja_door import JinjaDoor
from saltern.render.pipeline import Renderers
from saltern.render.yaml import Limits
from saltern.runtime.loop import Rules as RunRules
from saltern.runtime.loop import run
from saltern.runtime.ports import Recorder
from saltern.sources.tree import SlsSource, Tree
from saltern.system.clock import Clock, SystemClock
from saltern.system.host import LocalHost

if TYPE_CHECKING:
    from saltern.facts.tops import TopReader
    from saltern.render.jinja import JinjaRenderer
    from saltern.targeting.match import Subject

NO_TOP = "no top file gives this machine any state: check top.sls in the file roots, or name an SLS"


class Request(Struct, frozen=True, kw_only=True):
    """What a user asks to be applied or shown. No SLS and no template is the highstate."""

    sls: tuple[str, ...] = ()
    saltenv: str | None = None
    exclude: tuple[object, ...] = ()
    template: str | None = None
    id: str | None = None


class Session:
    """One run's parts, each built when it is first needed. Two sessions share nothing."""

    def __init__(
        self,
        settings: Settings,
        *,
        grains: Mapping[str, object] | None = None,
        pillar: Mapping[str, object] | None = None,
        registry: Registry | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.settings = settings
        self.clock = clock or SystemClock()
        self.registry = registry or Registry()
        self.salt = Salt(self.registry)
        self.tree = Tree(settings.file_roots, max_size=settings.max_sls_size)
        self.grains: Grains = collect(settings, grains)
        self._override = dict(pillar or {})
        self.opts: dict[str, object] = {**asdict(settings), **settings.extra}
        del self.opts["extra"]
        self.pillar: dict[str, object] = {}
        self.renderers = self._renderers(self.tree, self.pillar)
        self.run = Run(
            settings=settings,
            grains=self.grains,
            pillar=self.pillar,
            opts=self.opts,
            files=self.tree,
            templates=self.renderers,
            functions=self.salt,
            host=LocalHost(),
            clock=self.clock,
        )
        self.run.refresh = self.refresh
        self.salt.bind(self.run)
        self.caller = ModuleCaller(self.registry, self.run)

    def prepare(self) -> None:
        """Compile the pillar; nothing runs when it is wrong. The mapping stays the same object."""
        compiled = self._compiled_pillar()
        self.pillar.clear()
        self.pillar.update(compiled)

    def refresh(self, what: frozenset[str]) -> None:
        if "grains" in what:
            self.grains.refresh()
        if "pillar" in what:
            self.prepare()

    def subject(self) -> Subject:
        from saltern.targeting.match import Subject

        return Subject(
            id=self.settings.id, grains=self.grains, pillar=self.pillar, nodegroups=self.settings.nodegroups
        )

    def environments(self) -> list[str]:
        known = self.tree.environments()
        if self.settings.env_order:
            return [env for env in dict.fromkeys(self.settings.env_order) if env in known]
        return known

    def tops(self, tree: Tree, renderers: Renderers, *, only_env: str | None = None) -> TopReader:
        from saltern.facts.tops import TopReader

        return TopReader(
            tree,
            renderers,
            name=self.settings.state_top,
            strategy=self.settings.top_file_merging_strategy,
            default_top=self.settings.default_top,
            only_env=only_env,
        )

    def _compiled_pillar(self) -> dict[str, object]:
        from saltern.language.merge import merge

        settings = self.settings
        compiled: dict[str, object] = {}
        if any(os.path.isdir(root) for roots in settings.pillar_roots.values() for root in roots):
            from saltern.facts.pillar import PillarCompiler

            tree = Tree(settings.pillar_roots, max_size=settings.max_sls_size)
            renderers = self._renderers(tree, self._override)
            envs = [settings.pillarenv] if settings.pillarenv else tree.environments()
            compiled = PillarCompiler(
                tree,
                renderers,
                self.tops(tree, renderers),
                strategy=settings.pillar_source_merging_strategy,
                merge_lists=settings.pillar_merge_lists,
            ).compile(self.subject(), envs)
        if not self._override:
            return compiled
        merged = merge(compiled, self._override, strategy="smart", merge_lists=settings.pillar_merge_lists)
        assert isinstance(merged, dict)
        return merged

    def _renderers(self, tree: Tree, pillar: dict[str, object]) -> Renderers:
        settings = self.settings
        shared: dict[str, object] = {
            "salt": self.salt,
            "grains": self.grains,
            "pillar": pillar,
            "opts": self.opts,
            "proxy": {},
            "renderers": {},
            "ifelse": self._ifelse,
        }
        options = {"sls": settings.jinja_sls_env, "file": settings.jinja_env}
        door = JinjaDoor(
            lambda: self._jinja(tree, shared, options),
            {purpose: "line_statement_prefix" not in given for purpose, given in options.items()},
        )
        return Renderers(
            door,
            shared,
            pipe=settings.renderer,
            blacklist=settings.renderer_blacklist,
            whitelist=settings.renderer_whitelist,
            limits=Limits(settings.max_yaml_depth, settings.max_yaml_nodes),
        )

    def _jinja(
        self, tree: Tree, shared: Mapping[str, object], options: Mapping[str, Mapping[str, object]]
    ) -> JinjaRenderer:
        from saltern.render.jinja import JinjaRenderer

        return JinjaRenderer(
            tree,
            shared,
            cachedir=cache_directory(self.settings),
            lenient=self.settings.allow_undefined,
            options=options,
            seconds=self.settings.render_time_limit,
        )

    def _ifelse(self, *choices: object) -> object:
        """Jinja's ``ifelse(target, value, …, default)``."""
        return self.salt["match.ifelse"](*choices)


class _Loader:
    """What the compiler asks for: files of the tree, rendered."""

    def __init__(self, session: Session) -> None:
        self._tree = session.tree
        self._renderers = session.renderers

    def load(self, ref: SlsRef) -> Loaded | None:
        source = self._tree.read(ref)
        return None if source is None else self._renderers.sls(source)

    def names(self, env: str) -> list[str]:
        return self._tree.sls_names(env)

    def knows(self, env: str) -> bool:
        return env in self._tree


class _TemplateLoader(_Loader):
    """The same, with one file from outside the roots under a name of its own."""

    def __init__(self, session: Session, path: str, env: str) -> None:
        super().__init__(session)
        self.ref = SlsRef(env, os.path.basename(path).removesuffix(".sls"))
        text = session.tree.text(path)
        if text is None:
            raise OperationError(Diagnostic(code="template-missing", what=f"there is no file {path!r}"))
        self._source = SlsSource(self.ref, path, os.path.basename(path), text)

    def load(self, ref: SlsRef) -> Loaded | None:
        return self._renderers.sls(self._source) if ref == self.ref else super().load(ref)


# -- what a user asks for -------------------------------------------------------------------------


def apply(session: Session, request: Request, tell: Recorder | None = None) -> Report:
    """Bring this machine to the state that the SLS files describe."""
    found = Diagnostics()
    session.prepare()
    refs, loader = targets(session, request, found)
    if not refs and not request.sls:
        return _no_states()
    high = compile_high(refs, loader, _compile_rules(session, request), found)
    low = compile_low(high, _compile_rules(session, request), session.caller.reacts, found)
    check(low.chunks, session.registry, found, strict=session.settings.strict)
    found.check()
    plan = make_plan(low.chunks, low.rendered, found)
    if request.id is not None:
        plan = _only(plan, request.id)
    report = run(plan, caller=session.caller, clock=session.clock, rules=_run_rules(session), tell=tell)
    report.warnings = found.warnings
    return report


def show_high(session: Session, request: Request, found: Diagnostics) -> dict[str, object]:
    """High data in the seed's shape, extend and exclude still apart. What does not compile is not shown."""
    session.prepare()
    refs, loader = targets(session, request, found)
    rules = _compile_rules(session, request)
    high = compile_high(refs, loader, rules, found)
    shape(high, rules, found)
    return high_data(high)


def show_low(session: Session, request: Request, found: Diagnostics) -> list[dict[str, object]]:
    """Low data in the seed's shape, sorted. Unknown targets and cycles are errors here, too."""
    plan = _planned(session, request, found)
    low = [chunk.low() for chunk in plan.chunks]
    for place, owners in plan.preparers.items():
        low[place]["prerequired"] = [{plan.chunks[owner].state: plan.chunks[owner].id} for owner in owners]
    return low


def show_order(session: Session, request: Request, found: Diagnostics) -> list[dict[str, object]]:
    """The sequence that will really run, with the reason for each position."""
    plan = _planned(session, request, found)
    rows: list[dict[str, object]] = []
    for step in plan.sequence:
        if step < 0:
            continue
        chunk = plan.chunks[step]
        rows.append(
            {
                "position": len(rows) + 1,
                "state": chunk.function,
                "id": chunk.id,
                "name": chunk.name,
                "order": chunk.order,
                "reason": _reason(plan, step),
                "where": str(chunk.mark()),
            }
        )
    return rows


def show_top(session: Session, request: Request, found: Diagnostics) -> dict[str, list[str]]:
    session.prepare()
    return _assigned(session, request, found)


def show_rendered(session: Session, request: Request, found: Diagnostics) -> dict[str, str]:
    """The text of each file after its template ran, before YAML reads it."""
    session.prepare()
    refs, loader = targets(session, request, found)
    texts: dict[str, str] = {}
    for ref in refs:
        source = session.tree.read(ref)
        if source is None:
            loader.names(ref.env)
            compile_high([ref], loader, CompileRules(), found)  # tells what is missing
            continue
        texts[ref.name] = session.renderers.shown(source)
    return texts


def single(session: Session, function: str, name: str, args: Mapping[str, object]) -> Report:
    """One state, without any file."""
    session.prepare()
    state, _, fun = function.partition(".")
    declared = Declaration(
        id=name, state=state, key=function, items=[fun], ref=SlsRef("base", ""), origin=_CommandLine(function)
    )
    from saltern.compiler.parse import words_in

    declared.words = words_in([dict(args)])
    chunk = Chunk(
        state=state, fun=fun, id=name, name=name, order=0, args=dict(args), words=declared.words, declared=declared
    )
    found = Diagnostics()
    check([chunk], session.registry, found, strict=True)
    found.check()
    plan = make_plan([chunk], [], found)
    return run(plan, caller=session.caller, clock=session.clock, rules=_run_rules(session))


# -- pieces ------------------------------------------------------------------------------------------


class _CommandLine:
    """Where a state comes from that was typed by hand."""

    def __init__(self, text: str) -> None:
        self.file = f"<{text}>"

    def mark(self, _path: Path = ()) -> Mark:
        return Mark(self.file)


def targets(session: Session, request: Request, found: Diagnostics) -> tuple[Sequence[SlsRef], _Loader]:
    """The files asked for, or those of the top file."""
    session.tree.check()
    env = request.saltenv or session.settings.saltenv or "base"
    if request.template:
        loader = _TemplateLoader(session, request.template, env)
        return [loader.ref], loader
    if request.sls:
        return [SlsRef(env, name) for name in request.sls], _Loader(session)
    assigned = _assigned(session, request, found)
    return [SlsRef(env, name) for env, names in assigned.items() for name in names], _Loader(session)


def _assigned(session: Session, request: Request, found: Diagnostics) -> dict[str, list[str]]:
    only = request.saltenv or session.settings.saltenv
    envs = [only] if only else session.environments()
    reader = session.tops(session.tree, session.renderers, only_env=only or session.settings.state_top_saltenv)
    return reader.assigned(session.subject(), envs, found)


def _compile_rules(session: Session, request: Request) -> CompileRules:
    from saltern.compiler.parse import exclusion

    rules: list[Exclusion] = []
    for item in request.exclude:
        rule = exclusion(item)
        if rule is None:
            what = f"--exclude {item!r} is neither the name of an SLS nor id: NAME"
            raise OperationError(Diagnostic(code="exclude-shape", what=what))
        rules.append(rule)
    return CompileRules(
        auto_order=session.settings.state_auto_order,
        disabled_requisites=frozenset(session.settings.disabled_requisites),
        exclude=tuple(rules),
    )


def _planned(session: Session, request: Request, found: Diagnostics) -> Plan:
    session.prepare()
    refs, loader = targets(session, request, found)
    rules = _compile_rules(session, request)
    low: Low = compile_low(compile_high(refs, loader, rules, found), rules, session.caller.reacts, found)
    return make_plan(low.chunks, low.rendered, found)


def _run_rules(session: Session) -> RunRules:
    settings = session.settings
    return RunRules(
        test=settings.test,
        failhard=settings.failhard,
        max_parallel=settings.state_max_parallel,
        allowed=_allowed(session) if settings.global_state_conditions else None,
        disabled=_disabled(session.grains.get("state_runs_disabled")),
    )


def _allowed(session: Session) -> Callable[[Chunk], bool]:
    """``global_state_conditions``: a function is called only where one of its targets matches."""
    from saltern.targeting.match import matches

    conditions = session.settings.global_state_conditions

    def allowed(chunk: Chunk) -> bool:
        wanted: list[object] = []
        for key in ("*", chunk.state, chunk.function):
            given = conditions.get(key)
            wanted += given if isinstance(given, list) else [given] if given else []
        return not wanted or any(matches(session.subject(), str(target)) for target in wanted)

    return allowed


def _disabled(patterns: object) -> Callable[[Chunk], bool] | None:
    if not isinstance(patterns, list) or not patterns:
        return None
    from fnmatch import fnmatchcase

    return lambda chunk: any(fnmatchcase(chunk.function, str(pattern)) for pattern in patterns)


def _only(plan: Plan, id_: str) -> Plan:
    """The chunks with this ID and whatever they need."""
    from saltern.plan.subset import subset

    places = [place for place, chunk in enumerate(plan.chunks) if chunk.id == id_]
    if not places:
        raise OperationError(
            Diagnostic(
                code="id-unknown",
                what=f"no state of this run has the ID {id_!r}",
                fix=did_you_mean(id_, {chunk.id for chunk in plan.chunks}),
            )
        )
    return subset(plan, places)


def _reason(plan: Plan, place: int) -> str:
    chunk = plan.chunks[place]
    if place in plan.pulled_by:
        puller = plan.chunks[plan.pulled_by[place]]
        return f"pulled forward by {puller.function} {puller.id!r}"
    if "order" in chunk.words:
        return f"order: {chunk.order}"
    return "definition order"


def high_data(high: High) -> dict[str, object]:
    """High in the seed's shape."""
    data: dict[str, dict[str, object]] = {}
    for one in high.declarations:
        body = data.setdefault(one.id, {})
        body[one.state] = [*one.items, {"order": one.order}] if one.order is not None else list(one.items)
    for one in high.declarations:
        body = data[one.id]
        body["__sls__"], body["__env__"] = one.ref.name, one.ref.env
        if one.included_from:
            body["__sls_included_from__"] = list(one.included_from)
    result: dict[str, object] = dict(data)
    if high.extensions:
        result["__extend__"] = [
            {
                one.id: {
                    **{key.partition(".")[0]: _extended(key, items) for key, items in one.bodies.items()},
                    "__sls__": one.ref.name,
                    "__env__": one.ref.env,
                }
            }
            for one in high.extensions
        ]
    if high.exclusions:
        result["__exclude__"] = [rule.raw for rule in high.exclusions]
    return result


def _extended(key: str, items: object) -> object:
    fun = key.partition(".")[2]
    return [*items, fun] if fun and isinstance(items, list) else items


def _no_states() -> Report:
    """Salt's own way of saying that no top file matched: one failed result."""
    declared = Declaration(
        id="states", state="no", key="states", items=[], ref=SlsRef("base", ""), origin=_CommandLine("top.sls")
    )
    chunk = Chunk(state="no", fun="None", id="states", name="states", order=0, args={}, declared=declared)
    return Report(answers=[Answer(chunk=chunk, result=failed(NO_TOP), number=0, timed=False)])
