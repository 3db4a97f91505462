"""Render and compile a delayed target when its caller has run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import StringIO

from msgspec.structs import replace

from saltern.compiler.compile import CompilerOptions
from saltern.engine.build_plan import build_plan
from saltern.engine.delays import Delays
from saltern.engine.loaders import RenderedLoader
from saltern.engine.session import Session
from saltern.language.chunk import Chunk
from saltern.language.delayed import NO_BLOCKS, PREV_RET, BlockScope, Target
from saltern.language.diagnostics import CompileError, Diagnostic, Diagnostics
from saltern.language.events import Answer
from saltern.language.late import OPEN, Literal, literal
from saltern.language.source import Origin, Path
from saltern.language.texts import texts_in
from saltern.plan.plan import Plan
from saltern.render.document import Document
from saltern.render.pipeline import Home
from saltern.render.remote_port import RemoteHome
from saltern.report.diagnostics import show
from saltern.runtime.ports import Call, Unrendered
from saltern.runtime.slots import PREFIX
from saltern.sources.tree import SlsSource

# How Jinja, Mako and Python, Genshi, and Cheetah word it.
_UNDEFINED = re.compile(
    r"'(\w+)' is undefined|'(\w+)' is not defined|^\"?(\w+)\"? not defined|cannot find '(\w+)'"
)


class FrameCompiler:
    """Implements ``runtime.ports.FrameMaker`` for one run."""

    def __init__(self, session: Session, options: CompilerOptions, delays: Delays) -> None:
        self._session = session
        self._options = options
        self._delays = delays
        self._outer: list[Sequence[Chunk]] = []  # the chunks of all scopes around the one that runs
        self._suspect: list[bool] = []  # of the same scopes: whether a return has slots or late references

    def make(self, call: Call) -> Plan:
        session, target = self._session, call.target
        caller = call.answer.chunk
        again = target.words.refresh.union(session.caller.nature(caller.state, caller.fun).refreshes)
        found = Diagnostics()
        try:
            if again:
                session.refresh(again)
            _remember(call)
            returned = previous(call)
            suspect = (
                any(self._suspect[-1:]) or call.returns.suspect or _is_suspect([returned, target.context])
            )
            returned["delayed"] = [*call.returns.returns]
            document = render_target(session, target, returned, call.answer.path)
            given = {**target.context, PREV_RET: returned}
            loader = RenderedLoader(session, document, target.name if target.block else "", given)
            plan = build_plan(
                session,
                [loader.ref],
                loader,
                self._options,
                found,
                delays=self._delays,
                mark_data=_kept_as_data(target) if suspect else None,
                elsewhere=self._elsewhere,
            )
        except CompileError as problem:
            raise Unrendered(self._problem_text(problem.diagnostics, call)) from None
        self._delays.warnings.update(dict.fromkeys(found.warnings))
        self._outer.append(session.run.chunks)
        self._suspect.append(suspect)
        session.run.chunks = plan.chunks
        return plan

    def enter(self, plan: Plan) -> None:
        self._outer.append(self._session.run.chunks)
        self._suspect.append(any(chunk.literal for chunk in plan.chunks))
        self._session.run.chunks = plan.chunks

    def leave(self) -> None:
        """End a frame that has run: only its answers are kept."""
        self._suspect.pop()
        _settle(self._session.run.chunks)
        self._session.run.chunks = self._outer.pop()

    def _elsewhere(self, id_: str) -> str:
        """Which other scope declares a missing ID: requisites stay in their scope."""
        for chunks in reversed([*self._outer, self._session.run.chunks]):
            for chunk in chunks:
                if id_ in (chunk.id, chunk.name):
                    return f"it is outside of this block ({chunk.mark()}), and requisites stay in their scope"
        return self._delays.inside(id_)

    def _problem_text(self, problems: tuple[Diagnostic, ...], call: Call) -> str:
        out = StringIO()
        show([_scoped_hint(problem, call.target) for problem in problems], out)
        target = call.target
        head = f"{target.kind} {target.name!r} ({target.place()}), called by {call.answer.path}"
        return f"{head}:\n{out.getvalue().rstrip()}"


def _settle(chunks: Iterable[Chunk]) -> None:
    """Reduce chunks that have answered to the places of their files."""
    asked: dict[Document, list[Path]] = {}
    for chunk in chunks:
        declared = chunk.declared
        places: list[tuple[Origin, Path]] = [(declared.origin, (declared.id, declared.key))]
        places += [(target.origin, target.path) for target in chunk.delayed if target.origin]
        for origin, path in places:
            if isinstance(origin, Document):
                asked.setdefault(origin, []).append(path)
        chunk.delayed = ()
    for document, paths in asked.items():
        document.settle(paths)


def render_target(
    session: Session, target: Target, returned: Mapping[str, object], parent: str = ""
) -> Document:
    """What a target renders to after such a return of ``parent``."""
    elsewhere = session.renderers.frame(target, returned, parent)
    if elsewhere is not None:
        return elsewhere
    if target.scope.partial:
        _complete(session, target.scope)
    outer = _outer_variables(session, target) if target.words.scoped else {}
    values = {**public(outer), **target.context, PREV_RET: returned}
    renderers = session.renderers
    if target.block is not None:
        block = target.scope.blocks.get(target.name, target.block)  # its function, if it is one
        document = renderers.block(block, target.scope, values)
    else:
        assert isinstance(target.source, SlsSource)
        document = renderers.sls(target.source, renderers.without_globals(values))
    if document.blocks is not NO_BLOCKS:
        inherited = public(outer) if target.words.scoped else {}
        document.blocks.variables = {**inherited, **target.context, **document.blocks.variables}
    return document


def _outer_variables(session: Session, target: Target) -> Mapping[str, object]:
    """The variables of the file that calls the target; fetched if it was rendered elsewhere."""
    remote = session.renderers.remote
    if remote is not None and isinstance(target.scope.home, RemoteHome):
        return remote.variables(target.scope)
    return target.scope.variables


def _complete(session: Session, scope: BlockScope) -> None:
    """Recreate macros, imports and functions, which a journal does not keep, from the text of the run."""
    scope.partial = False
    home = scope.home
    if not isinstance(home, Home):
        return
    try:
        fresh = session.renderers.sls(home.source).blocks
    except CompileError:
        return  # a missing name is reported where it is used
    scope.variables = {**fresh.variables, **scope.variables}
    functions = {name: block for name, block in fresh.blocks.items() if block.call is not None}
    scope.blocks = {**scope.blocks, **functions}


def previous(call: Call) -> dict[str, object]:
    """``prev_ret``: a copy of the caller's full return, without the results of its earlier targets."""
    from copy import deepcopy

    shaped = _example_return(replace(call.answer, result=call.result))
    shaped["sub_states"] = [_example_return(answer) for answer in call.steps]
    shaped["__id__"] = call.answer.chunk.id
    return deepcopy(shaped)


def _remember(call: Call) -> None:
    """Add the results of the previous target to the returns of all earlier targets."""
    from copy import deepcopy

    returns = call.returns
    fresh = deepcopy([_example_return(answer) for answer in call.earlier[len(returns.returns) :]])
    returns.returns += fresh
    returns.suspect = returns.suspect or _is_suspect(fresh)


def _example_return(answer: Answer) -> dict[str, object]:
    from saltern.report.salt import salt_return, time_of_day

    return {
        "duration": 0.0,
        "start_time": "",
        **salt_return(answer, time_of_day()),
        "__state_ran__": answer.result.ran,
        "state": answer.chunk.state,
        "fun": answer.chunk.fun,
        "data": answer.result.data,
    }


def public(variables: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in variables.items() if not name.startswith("_")}


def _is_suspect(values: object) -> bool:
    """True if anything in a return looks like a slot or a late reference."""
    return any(PREFIX in text or OPEN in text for text in texts_in(values))


def _kept_as_data(target: Target) -> Callable[[list[Chunk]], None]:
    """Mark what a return contributes as data: only literal text of a file can be more."""
    written = [target.block.text] if target.block else []
    source = target.source if target.block is None else getattr(target.scope.home, "source", None)
    if isinstance(source, SlsSource):
        written.append(source.text)

    def keep(chunks: list[Chunk]) -> None:
        for chunk in chunks:
            texts = [*written, getattr(chunk.declared.origin, "source", "")]

            def is_data(text: str, texts: list[str] = texts) -> bool:
                return (PREFIX in text or OPEN in text) and not any(text in one for one in texts)

            chunk.args = {word: literal(value, is_data) for word, value in chunk.args.items()}
            chunk.name = Literal(chunk.name) if is_data(chunk.name) else chunk.name
            chunk.literal = True

    return keep


def _scoped_hint(problem: Diagnostic, target: Target) -> Diagnostic:
    """The problem with a hint, if the file around the block has a name that the block does not see."""
    missing = _UNDEFINED.search(problem.what) if problem.code == "template-undefined" else None
    name = next(filter(None, missing.groups()), "") if missing else ""
    has_it = [name in scope.variables for scope in target.scope.outwards()] if name else []
    if not any(has_it):
        return problem
    tags = f"the tag ({target.place()})" if has_it[0] else "the tags of this block and of those around it"
    return replace(problem, fix=f"{name!r} exists in the outer scope: add 'scoped' to {tags}")
