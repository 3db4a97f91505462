"""Files and texts through the renderers of their pipe, run in turn: text → text → data."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct

from saltern.language import numbers
from saltern.language.delayed import MARKER, NO_BLOCKS, Block, BlockScope, Target
from saltern.language.diagnostics import CompileError, Diagnostic, did_you_mean
from saltern.language.source import Mark, Path, SlsRef
from saltern.render.document import Document, Harvest, Job, Rendered, find_word
from saltern.render.jinja.door import Jinja
from saltern.render.jinja.header import header_line
from saltern.render.pipe import RENDERERS, Others, PipeChooser, Stage, parse_pipe
from saltern.render.remote import Remote, RemoteHome
from saltern.render.stages import StageRunner
from saltern.render.values import sls_names
from saltern.render.yaml_cache import YamlCache
from saltern.render.yaml_limits import USUAL, Limits
from saltern.sources.stub import STUB
from saltern.sources.tree import SlsSource, check_text
from saltern.system import log

FILE_RENDERERS = "file"
TEXTUAL = frozenset({"", *(name for name, kind in RENDERERS.items() if kind.makes == "text")})
SPELT_OUT = ("yaml", "json", "toml")  # whose data is in the text, word for word


class Home(Struct, frozen=True):
    """What a delayed block needs of the file it stands in."""

    source: SlsSource
    stages: tuple[Stage, ...]


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
        decrypted: dict[str, str | bytes] | None = None,
    ) -> None:
        self._delays = delays  # whether files may have delayed blocks
        self._jinja = jinja
        self._shared = shared
        self._pipes = PipeChooser(pipe, blacklist=blacklist, whitelist=whitelist, code=code, others=others)
        self._run = StageRunner(
            jinja,
            shared,
            limits=limits,
            seconds=seconds,
            others=others,
            keeps_order=keeps_order,
            cache=cache,
            decrypted={} if decrypted is None else decrypted,
        )
        self.rendered: set[str] = set()  # `rendered_sls` in templates
        self.remote: Remote | None = None  # renders the files of which there are only stubs here

    # -- state files -----------------------------------------------------------------------

    def sls(self, source: SlsSource, extra: Mapping[str, object] | None = None) -> Document:
        """A state file, by its own pipe or the configured one. Raises ``CompileError``."""
        if source.text.startswith(STUB):
            document = self._elsewhere(source).sls(source, extra or {}, sorted(self.rendered))
            self.rendered.add(source.ref.name)
            return document
        values = self._values(source)
        if extra:
            values = {**extra, **values}
        job = self._job(source, values, source.path)
        log.debug("render %s", source.path)
        document = self._document(source.text, job, home=source)
        self.rendered.add(source.ref.name)
        return document

    def frame(self, target: Target, previous: Mapping[str, object], parent: str) -> Document | None:
        """A delayed target that is rendered elsewhere; None if its text is here. Raises ``CompileError``."""
        home, source = target.scope.home, target.source
        stub = source if isinstance(source, SlsSource) and source.text.startswith(STUB) else None
        if target.block is not None and isinstance(home, RemoteHome):
            stub = home.source
        elif target.block is not None or stub is None:
            return None
        return self._elsewhere(stub).frame(target, previous, parent, sorted(self.rendered))

    def _elsewhere(self, stub: SlsSource) -> Remote:
        if self.remote is not None:
            return self.remote
        raise CompileError(
            Diagnostic(
                code="controller-needed",
                what="the text of this file is on the controller, which renders it; here is only its stub",
                where=Mark(stub.path, 1),
                fix="apply it through the controller: saltern apply … --on TARGET",
            )
        )

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
        stages, text = self._pipes.stages(text, job.file, default)
        if stages and stages[0].name == "jinja":
            self._jinja.compiles(text, env=job.env, name=job.name, file=job.file)

    def check_template(self, text: str, env: str, name: str, file: str) -> None:
        """Raise ``CompileError`` if the text of a file is no Jinja template; it is not rendered."""
        self._jinja.compiles(text, env=env, name=name, file=file)

    def ahead(self, sources: Iterable[SlsSource]) -> None:
        """Compile the templates of many files at once, to be rendered soon. Mistakes are not reported."""
        texts: list[tuple[str, str, str, str]] = []
        for source in sources:
            if source.text.startswith(STUB):
                continue
            job = self._job(source, {}, source.path)
            try:
                text = _cut(source.text, job)[0] if MARKER in source.text else source.text
                stages, text = self._pipes.stages(text, job.file)
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
        self.require_text(source)
        values = self._values(source)
        job = self._job(source, values, source.path)
        text = source.text
        if MARKER in text:
            text, _ = _cut(text, job)
        stages, text = self._pipes.stages(text, job.file)
        made = Rendered(text)
        for stage in stages:
            if stage.name in RENDERERS and RENDERERS[stage.name].makes == "text":
                made = self._run.text(stage, made, job)
        return made.text

    def require_text(self, source: SlsSource) -> None:
        """Raise ``CompileError`` if only the controller has the text of a file."""
        if source.text.startswith(STUB):
            raise _hidden(source)

    def _values(self, source: SlsSource) -> dict[str, object]:
        values = sls_names(source.ref.name, source.name)
        values.update(rendered_sls=self.rendered, tplpath=source.path)
        return values

    @property
    def warnings(self) -> list[Diagnostic]:
        """What renderers have found that is no error."""
        return self._run.warnings

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
        self._pipes.permit(engine, Mark(path) if path else None)
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
        return self._run.text(Stage(engine), Rendered(text), job).text

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
        stages, text = self._pipes.stages(text, job.file, default)
        made, data, last = self._run_stages(stages, text, source, job, block)
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

    def _run_stages(
        self, stages: Iterable[Stage], text: str, source: str, job: Job, block: Block | None
    ) -> tuple[Rendered, object, str]:
        """The last text, the data that was read in it, and the renderer that has read it."""
        made, data, last = Rendered(text), None, ""
        secret: tuple[str, ...] = ()
        for stage in stages:
            makes = RENDERERS[stage.name].makes if stage.name in RENDERERS else "anything"
            if makes == "anything":
                data = self._run.other(stage, made.text if last in TEXTUAL else data, made, job)
                made = Rendered(data) if isinstance(data, str) else made
            elif makes == "text":
                made = self._run.text(stage, made, job)
                data = made.text
            elif makes == "values":
                found = self._run.values(stage, made if last in TEXTUAL else data, source, job)
                made, data = (found, found.text) if isinstance(found, Rendered) else (made, found)
                secret += made.secrets
            elif block is not None and block.call is not None:
                from saltern.render.python import called

                data = called(block, job)
            else:
                data = self._run.data(stage, made, source, job)
            last = stage.name if makes != "values" else last
        if secret:
            from saltern.render.encrypted import keep_secret

            keep_secret(data, secret)
        return made, data, last


def _hidden(source: SlsSource) -> CompileError:
    return CompileError(
        Diagnostic(
            code="file-hidden",
            what="this file is rendered on the controller, and its text stays there",
            where=Mark(source.path, 1),
            fix="saltern show sls shows what it becomes",
        )
    )


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
