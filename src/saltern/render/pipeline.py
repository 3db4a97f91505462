"""The ``#!`` line of a file, as a row of renderers run in turn: text → text → data."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from importlib import import_module

from msgspec import Struct

from saltern.language import numbers
from saltern.language.delayed import MARKER, NO_BLOCKS, Block, BlockScope
from saltern.language.diagnostics import CompileError, Diagnostic, did_you_mean
from saltern.language.source import Mark, Path, SlsRef
from saltern.render.document import Document, Harvest, Job, Rendered, find_word
from saltern.render.document import place as place_in
from saltern.render.jinja.door import Jinja
from saltern.render.jinja.header import header_line
from saltern.render.values import sls_names
from saltern.render.yaml_cache import MISSING, YamlCache
from saltern.render.yaml_limits import USUAL, Limits, YamlProblem
from saltern.sources.tree import SlsSource, check_text
from saltern.system import log

FILE_RENDERERS = "file"
SPELT_OUT = ("yaml", "json", "toml")  # whose data is in the text, word for word


Others = Callable[[str], Callable[..., object] | None]


class Stage(Struct, frozen=True):
    """One part of a pipe, with what stands behind its name."""

    name: str
    argline: str = ""


class Home(Struct, frozen=True):
    """What a delayed block needs of the file it stands in."""

    source: SlsSource
    stages: tuple[Stage, ...]


class Kind(Struct, frozen=True, kw_only=True):
    """One renderer. ``code`` is ``module:function``; ``extra`` is what to install for it; ``runs``: what it
    renders is a program, which can do whatever saltern can."""

    code: str
    makes: str  # "text" or "data"
    doc: str
    extra: str = ""
    runs: bool = False


RENDERERS: dict[str, Kind] = {
    "jinja": Kind(code="", makes="text", doc="Jinja templates, with everything Salt adds to them."),
    "mako": Kind(code="saltern.render.engines:mako", makes="text", doc="Mako templates.", runs=True),
    "genshi": Kind(
        code="saltern.render.engines:genshi",
        makes="text",
        doc="Genshi templates (`-text` for plain text).",
        extra="saltern[renderers]",
        runs=True,
    ),
    "cheetah": Kind(
        code="saltern.render.engines:cheetah",
        makes="text",
        doc="Cheetah templates.",
        extra="saltern[renderers]",
        runs=True,
    ),
    "yaml": Kind(code="", makes="data", doc="YAML as Salt reads it."),
    "json": Kind(code="saltern.render.formats:json", makes="data", doc="JSON."),
    "toml": Kind(code="saltern.render.formats:toml", makes="data", doc="TOML."),
    "msgpack": Kind(
        code="saltern.render.formats:msgpack", makes="data", doc="MessagePack, base64 or as it is."
    ),
    "py": Kind(
        code="saltern.render.python:py",
        makes="data",
        doc="A Python file whose `run()` returns the data.",
        runs=True,
    ),
}


class Renderers:
    """All renderers of a run, with what every template sees."""

    def __init__(
        self,
        jinja: Jinja,
        shared: Mapping[str, object],
        *,
        pipe: str = "jinja|yaml",
        blacklist: Collection[str] = (),
        whitelist: Collection[str] = (),
        code: bool = True,
        limits: Limits = USUAL,
        seconds: float = 30.0,
        others: Others = lambda _: None,
        delays: bool = True,
        keeps_order: bool = False,
        cache: YamlCache | None = None,
    ) -> None:
        self._cache = cache  # of what files without a template mean
        self._keeps_order = keeps_order  # of keys, whoever writes the data
        self._delays = delays  # whether files may have delayed blocks
        self._others = others  # renderers by name that are not ours
        self._jinja = jinja
        self._shared = shared
        self._default = parse_pipe(pipe)
        self._blacklist = frozenset(blacklist)
        self._whitelist = frozenset(whitelist)
        self._code = code  # whether renderers that run what they render may do so
        self._limits = limits
        self._seconds = seconds
        self.rendered: set[str] = set()  # `rendered_sls` in templates

    # -- state files -----------------------------------------------------------------------

    def sls(self, source: SlsSource, extra: Mapping[str, object] | None = None) -> Document:
        """A state file, by its own pipe or the configured one. Raises ``CompileError``."""
        values = self._values(source)
        if extra:
            values = {**extra, **values}
        job = self._job(source, values, source.path)
        log.debug("render %s", source.path)
        document = self._document(source.text, job, home=source)
        self.rendered.add(source.ref.name)
        return document

    def block(self, block: Block, scope: BlockScope, values: Mapping[str, object]) -> Document:
        """A delayed block, by the pipe of its file; names that every template has win over ``values``."""
        home = scope.home
        assert isinstance(home, Home)
        source = home.source
        given = {**self.allowed(values), **self._values(source)}
        head = header_line(source.text)
        # Only YAML looks up its lines in the template; for others the blank lines above have to stay.
        alone = not head and [stage.name for stage in home.stages] == ["jinja", "yaml"]
        job = self._job(source, given, block.file, part=">".join(block.definition[1:]) if alone else "")
        text = head + block.text
        return self._document(text, job, default=home.stages, home=source, block=block, outer=scope)

    def compiles(self, source: SlsSource, block: Block | None = None, scope: BlockScope = NO_BLOCKS) -> None:
        """Whether the template of a file or a block can be read at all; it is not rendered.

        Raises ``CompileError``. Of renderers beside Jinja nothing is known before they render.
        """
        default = scope.home.stages if isinstance(scope.home, Home) else None
        job = self._job(source, {}, block.file if block else source.path)
        text, _ = _cut(block.text if block else source.text, job, block)
        stages, text = self._stages(text, job, default)
        if stages and stages[0].name == "jinja":
            self._jinja.compiles(text, env=job.env, name=job.name, file=job.file)

    def check_template(self, text: str, env: str, name: str, file: str) -> None:
        """Raise ``CompileError`` if the text of a file is no Jinja template; it is not rendered."""
        self._jinja.compiles(text, env=env, name=name, file=file)

    def ahead(self, sources: Iterable[SlsSource]) -> None:
        """Compile the templates of many files at once, for they are rendered soon. Mistakes are not told."""
        texts: list[tuple[str, str, str, str]] = []
        for source in sources:
            job = self._job(source, {}, source.path)
            try:
                text = _cut(source.text, job)[0] if MARKER in source.text else source.text
                stages, text = self._stages(text, job)
            except CompileError:
                continue
            if stages and stages[0].name == "jinja":
                texts.append((text, job.env, job.name, job.file))
        self._jinja.ahead(texts)

    def allowed(self, values: Mapping[str, object]) -> dict[str, object]:
        """Without the names that every template has."""
        special = {*self._shared, "saltenv"}
        return {name: value for name, value in values.items() if name not in special}

    def _job(self, source: SlsSource, values: Mapping[str, object], file: str, *, part: str = "") -> Job:
        ref = source.ref
        return Job(
            env=ref.env,
            sls=ref.name,
            name=source.name,
            file=file,
            values=values,
            harvest=Harvest() if self._delays else None,
            part=part,
        )

    def shown(self, source: SlsSource) -> str:
        """The text that the last text renderer made: what ``show rendered`` prints."""
        values = self._values(source)
        job = self._job(source, values, source.path)
        text = source.text
        if MARKER in text:
            text, _ = _cut(text, job)
        stages, text = self._stages(text, job)
        made = Rendered(text)
        for stage in stages:
            if stage.name in RENDERERS and RENDERERS[stage.name].makes == "text":
                made = self._text(stage, made, job)
        return made.text

    def _values(self, source: SlsSource) -> dict[str, object]:
        values = sls_names(source.ref.name, source.name)
        values.update(rendered_sls=self.rendered, tplpath=source.path)
        return values

    # -- for modules -------------------------------------------------------------------------

    def text(
        self,
        text: str,
        *,
        engine: str,
        env: str,
        path: str = "",
        sls: str = "",
        values: Mapping[str, object] | None = None,
        file: str = "",
    ) -> str:
        self._permit(engine, Mark(path) if path else None)
        known = RENDERERS.get(engine)
        if known is None or known.makes != "text":
            names = [name for name, kind in RENDERERS.items() if kind.makes == "text"]
            raise CompileError(
                Diagnostic(
                    code="unknown-renderer",
                    what=f"no template engine is called {engine!r}",
                    fix=did_you_mean(engine, names) or f"there are {', '.join(names)}",
                )
            )
        names_ = sls_names(sls, path if file else f"{sls.replace('.', '/')}.sls") if sls else {}
        job = Job(
            env=env,
            sls=sls,
            name=path,
            file=file or path or "<text>",
            values={**names_, **(values or {})},
            purpose=FILE_RENDERERS,
        )
        return self._text(Stage(engine), Rendered(text), job).text

    def data(
        self,
        text: str,
        *,
        pipe: str = "",
        env: str,
        path: str = "",
        sls: str = "",
        values: Mapping[str, object] | None = None,
        file: str = "",
    ) -> object:
        names = sls_names(sls, path) if sls else {}
        job = Job(
            env=env,
            sls=sls,
            name=path,
            file=file or path or "<text>",
            values={**names, **(values or {})},
            keeps_order=True,
        )
        return self._document(text, job, default=parse_pipe(pipe) if pipe else None).data

    # -- the pipe ------------------------------------------------------------------------------

    def _document(
        self,
        text: str,
        job: Job,
        *,
        default: tuple[Stage, ...] | None = None,
        home: SlsSource | None = None,
        block: Block | None = None,
        outer: BlockScope | None = None,
    ) -> Document:
        source = text
        own: tuple[Block, ...] = ()
        if MARKER in text or block is not None:
            text, own = _cut(text, job, block)
        stages, text = self._stages(text, job, default)
        made = Rendered(text)
        data: object = None
        last = ""
        for stage in stages:
            last = stage.name
            if stage.name not in RENDERERS:
                data = self._other(stage, made, job)
                made = Rendered(data) if isinstance(data, str) else made
            elif RENDERERS[stage.name].makes == "text":
                made = self._text(stage, made, job)
                data = made.text
            elif block is not None and block.call is not None:
                from saltern.render.python import called

                data = called(block, job)
            else:
                data = self._data(stage, made, source, job)
        scope = NO_BLOCKS
        unread = last not in SPELT_OUT  # such data need not say in its text what it holds
        if job.harvest is not None and (MARKER in made.text or job.harvest.blocks or own or unread):
            assert home is not None
            scope = _scope(own, job.harvest, outer, Home(home, stages))
        above = block.line if block is not None and job.part else 0
        document = Document(
            SlsRef(job.env, job.sls),
            data,
            file=job.file,
            source=source[above:],
            text=made.text if made.lines else made.text[above:],
            lines=made.lines,
            above=above,
            find=_locate if last in ("yaml", "json") else find_word,
            is_init=home is not None and home.is_init,
            blocks=scope,
        )
        if unread or last == "toml":  # readers of text have looked already, but for TOML's other bases
            _check_numbers(document)
        return document

    def _stages(
        self, text: str, job: Job, default: tuple[Stage, ...] | None = None
    ) -> tuple[tuple[Stage, ...], str]:
        """The pipe of a file, and its text; the ``#!`` line becomes a blank one, so lines stay right.

        Every way to render comes through here or through ``text``: both ask whether the renderer is allowed.
        """
        first, newline, rest = text.partition("\n") if text.startswith("#!") else ("", "", text)
        own = first and not first.startswith(("#!/", "#!delayed_", "#!end_delayed_"))
        stages = (parse_pipe(first[2:]) if own else ()) or default or self._default
        for stage in stages:
            self._check(stage, job, first if own else "")
        return stages, newline + rest if own else text

    def _check(self, stage: Stage, job: Job, line: str) -> None:
        where = Mark(job.file, 1, line.find(stage.name) + 1)
        self._permit(stage.name, where)  # first: to look for a renderer of the user's is to run its code
        if stage.name not in RENDERERS and self._others(stage.name) is None:
            raise CompileError(
                Diagnostic(
                    code="unknown-renderer",
                    what=f"no renderer is called {stage.name!r}",
                    where=where,
                    fix=did_you_mean(stage.name, RENDERERS) or f"there are {', '.join(RENDERERS)}",
                )
            )

    def _permit(self, name: str, where: Mark | None) -> None:
        if name in self._blacklist or (self._whitelist and name not in self._whitelist):
            raise CompileError(
                Diagnostic(
                    code="renderer-refused",
                    what=f"the renderer {name!r} is not allowed here",
                    where=where,
                    fix="see renderer_blacklist and renderer_whitelist in the configuration",
                )
            )
        if not self._code and (name not in RENDERERS or RENDERERS[name].runs):
            from saltern.system.guard import REFUSED

            what = f"{REFUSED}: the renderer {name!r} runs code"
            raise CompileError(Diagnostic(code="renderer-refused", what=what, where=where))

    def _other(self, stage: Stage, made: Rendered, job: Job) -> object:
        """By a renderer of the user's own, or of Salt: code, trusted as much as a module is."""
        render = self._others(stage.name)
        assert render is not None
        values = {**self._shared, "saltenv": job.env, **job.values}
        try:
            return render(
                made.text, env=job.env, sls=job.sls, path=job.file, argline=stage.argline, values=values
            )
        except Exception as problem:
            what = f"the renderer {stage.name!r} failed: {type(problem).__name__}: {problem}"
            raise CompileError(
                Diagnostic(code="renderer-failed", what=what, where=Mark(job.file, 1))
            ) from None

    def _text(self, stage: Stage, made: Rendered, job: Job) -> Rendered:
        if stage.name == "jinja":
            return self._jinja.render(
                made.text,
                job.values,
                env=job.env,
                name=job.name,
                file=job.file,
                purpose=job.purpose,
                before=made.lines,
                harvest=job.harvest,
                part=job.part,
            )
        render = _load(stage.name, job)
        shared = {**self._shared, "saltenv": job.env, **job.values}
        return Rendered(str(render(made.text, _job(job, shared, stage, self._seconds))))

    def _yaml(self, made: Rendered, source: str) -> object:
        """What the text means; from the cache, where no template made it."""
        keeps = made.lines is None and made.text == source and "no_log" not in source
        cache = self._cache if keeps else None
        if cache is not None and (kept := cache.get(source, self._limits)) is not MISSING:
            return kept
        from saltern.render.yaml import read

        data = read(made.text, self._limits)
        if cache is not None:
            cache.put(source, self._limits, data)
        return data

    def _data(self, stage: Stage, made: Rendered, source: str, job: Job) -> object:
        if stage.name == "yaml":
            try:
                data = self._yaml(made, source)
            except YamlProblem as problem:
                raise CompileError(_yaml_diagnostic(problem, made, source, job)) from None
            if not (job.keeps_order or self._keeps_order):
                return data
            from saltern.language.ordered import ordered

            return ordered(data)
        shared = {**self._shared, "saltenv": job.env, **job.values}
        if not made.text.strip() and stage.name != "py":
            return None
        try:
            return _load(stage.name, job)(made.text, _job(job, shared, stage, self._seconds))
        except CompileError as problem:
            if made.text == source or made.lines is None:
                raise
            raise CompileError(*(_from_data(one, source) for one in problem.diagnostics)) from None


def _check_numbers(document: Document) -> None:
    path = numbers.path_to_long(document.data)
    if path is not None:
        where = document.mark(path)
        what, fix = numbers.what(), "make it text"
        raise CompileError(Diagnostic(code="number-too-long", what=what, where=where, fix=fix))


def _locate(text: str, path: Path) -> tuple[int, int]:
    """Asked only for a problem; a parser is needed then."""
    from saltern.render.yaml_places import locate

    return locate(text, path)


def parse_pipe(text: str) -> tuple[Stage, ...]:
    """``jinja | yaml -x`` → stages. Salt's old ``yaml_jinja`` is ``jinja|yaml``."""
    parts = [part.strip() for part in text.strip().split("|") if part.strip()]
    if len(parts) == 1 and "_" in parts[0] and parts[0] not in RENDERERS:
        data, _, template = parts[0].partition("_")
        if data in RENDERERS and template in RENDERERS:
            parts = [template, data]
    stages = []
    for part in parts:
        name, _, argline = part.partition(" ")
        stages.append(Stage(name, argline.strip()))
    return tuple(stages)


def _job(job: Job, values: Mapping[str, object], stage: Stage, seconds: float) -> Job:
    return Job(
        env=job.env,
        sls=job.sls,
        name=job.name,
        file=job.file,
        values=values,
        purpose=job.purpose,
        argline=stage.argline,
        seconds=seconds,
        harvest=job.harvest,
    )


def _cut(text: str, job: Job, block: Block | None = None) -> tuple[str, tuple[Block, ...]]:
    """The text without its delayed blocks. Only now it is known to be text."""
    own: tuple[Block, ...] = ()
    if job.harvest is not None:
        from saltern.render.blocks import cut

        text, own = cut(text, job.file, outer=(*block.outer, block.name) if block else ())
    check_text(text, job.file)
    return text, own


def _scope(own: tuple[Block, ...], harvest: Harvest, outer: BlockScope | None, home: Home) -> BlockScope:
    """All blocks of one render: of its own text, of a Python file, of the templates it includes."""
    found: dict[str, Block] = {}
    for block in (*own, *harvest.blocks):
        first = found.setdefault(block.name, block)
        if (first.file, first.line) != (block.file, block.line):
            from saltern.render.blocks import twice

            raise CompileError(twice(block, first))
    imported = {block.name: block.mark for block in harvest.imported}
    return BlockScope(blocks=found, imported=imported, variables=harvest.variables, outer=outer, home=home)


def _load(name: str, job: Job) -> Callable[[str, Job], object]:
    kind = RENDERERS[name]
    module, _, function = kind.code.partition(":")
    try:
        render: Callable[[str, Job], object] = getattr(import_module(module), function)
    except ImportError as problem:
        raise missing(name, problem, job) from None
    return render


def missing(name: str, problem: ImportError, job: Job) -> CompileError:
    return CompileError(
        Diagnostic(
            code="renderer-missing",
            what=f"the renderer {name!r} needs the Python package {problem.name!r}",
            where=Mark(job.file, 1),
            fix=f"{sys.executable} -m pip install '{RENDERERS[name].extra or problem.name}'",
        )
    )


def _yaml_diagnostic(problem: YamlProblem, made: Rendered, source: str, job: Job) -> Diagnostic:
    where = place_in(job.file, source, made.text, made.lines, problem.line, problem.column)
    row = made.text.splitlines()[problem.line - 1 : problem.line]
    written = source.splitlines()[where.line - 1 : where.line]
    if not row or row == written:
        return Diagnostic(code=problem.code, what=problem.what, where=where, fix=problem.fix)
    # What a template made of the line may be a password: the line of the template is shown, not that.
    detail = f"a template made this line; to see it: saltern show rendered {job.sls}" if job.sls else ""
    what, fix = (_without(text, source) for text in (problem.what, problem.fix))
    return Diagnostic(code=problem.code, what=what, where=where, fix=fix, detail=detail)


def _from_data(problem: Diagnostic, source: str) -> Diagnostic:
    """A problem in what a template made: what it quotes may be a value of the pillar."""
    from msgspec.structs import replace

    what, fix = (_without(text, source) for text in (problem.what, problem.fix))
    return replace(problem, what=what, fix=fix)


_QUOTED = r"'((?:[^'\\]|\\.)+)'|\"((?:[^\"\\]|\\.)+)\""


def _without(text: str, source: str) -> str:
    """A message without the words it quotes that do not stand in the file, and so come from data."""

    def hidden(found: re.Match[str]) -> str:
        word = found[1] or found[2]
        return found[0] if word in source or len(word) <= 2 else "'•••'"

    return re.sub(_QUOTED, hidden, text)
