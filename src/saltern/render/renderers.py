"""All renderers of a run: state files, delayed blocks, and texts for modules."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from saltern.language.delayed import MARKER, NO_BLOCKS, Block, BlockScope, Target
from saltern.language.diagnostics import CompileError, Diagnostic
from saltern.language.source import Mark
from saltern.render.document import Document, Harvest, Job
from saltern.render.jinja.door import Jinja
from saltern.render.jinja.header import header_line
from saltern.render.pipe import Others, PipeChooser, parse_pipe
from saltern.render.pipeline import Home, Pipeline, cut_blocks
from saltern.render.remote_port import Remote, RemoteHome
from saltern.render.stages import StageRunner
from saltern.render.values import sls_names
from saltern.render.yaml_cache import YamlCache
from saltern.render.yaml_limits import USUAL, Limits
from saltern.sources.stub import STUB
from saltern.sources.tree import SlsSource
from saltern.system import log

FILE_RENDERERS = "file"


class Renderers:
    """All renderers of a run, and the names that every template sees."""

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
        self._pipeline = Pipeline(
            PipeChooser(pipe, blacklist=blacklist, whitelist=whitelist, code=code, others=others),
            StageRunner(
                jinja,
                shared,
                limits=limits,
                seconds=seconds,
                others=others,
                keeps_order=keeps_order,
                cache=cache,
                decrypted={} if decrypted is None else decrypted,
            ),
        )
        self.rendered: set[str] = set()  # `rendered_sls` in templates
        self.remote: Remote | None = None  # renders files that are only stubs here

    # -- state files -----------------------------------------------------------------------

    def sls(self, source: SlsSource, extra: Mapping[str, object] | None = None) -> Document:
        """Render a state file, with its own pipe or the configured one. Raises ``CompileError``."""
        if source.text.startswith(STUB):
            document = _elsewhere(self.remote, source).sls(source, extra or {}, sorted(self.rendered))
            self.rendered.add(source.ref.name)
            return document
        values = _values(source, self.rendered)
        if extra:
            values = {**extra, **values}
        job = self._job(source, values, source.path)
        log.debug("render %s", source.path)
        document = self._pipeline.document(source.text, job, home=source)
        self.rendered.add(source.ref.name)
        return document

    def frame(self, target: Target, previous: Mapping[str, object], parent: str) -> Document | None:
        """Render a delayed target elsewhere; None if its text is here. Raises ``CompileError``."""
        home, source = target.scope.home, target.source
        stub = source if isinstance(source, SlsSource) and source.text.startswith(STUB) else None
        if target.block is not None and isinstance(home, RemoteHome):
            stub = home.source
        elif target.block is not None or stub is None:
            return None
        return _elsewhere(self.remote, stub).frame(target, previous, parent, sorted(self.rendered))

    def block(self, block: Block, scope: BlockScope, values: Mapping[str, object]) -> Document:
        """Render a delayed block with the pipe of its file; global names win over ``values``."""
        home = scope.home
        assert isinstance(home, Home)
        source = home.source
        given = {**self.without_globals(values), **_values(source, self.rendered)}
        head = header_line(source.text)
        # Only YAML looks up its lines in the template; other renderers need the blank lines above.
        alone = not head and [stage.name for stage in home.stages] == ["jinja", "yaml"]
        job = self._job(source, given, block.file, part=">".join(block.definition[1:]) if alone else "")
        text = head + block.text
        return self._pipeline.document(text, job, default=home.stages, home=source, block=block, outer=scope)

    def compiles(self, source: SlsSource, block: Block | None = None, scope: BlockScope = NO_BLOCKS) -> None:
        """Check that the template of a file or block can be compiled, without rendering it.

        Raises ``CompileError``. Renderers other than Jinja are not checked.
        """
        default = scope.home.stages if isinstance(scope.home, Home) else None
        job = self._job(source, {}, block.file if block else source.path)
        text, _ = cut_blocks(block.text if block else source.text, job, block)
        template = self._pipeline.opening_template(text, job, default)
        if template is not None:
            self._jinja.compiles(template, env=job.env, name=job.name, file=job.file)

    def check_template(self, text: str, env: str, name: str, file: str) -> None:
        """Raise ``CompileError`` if the text of a file is not a valid Jinja template; it is not rendered."""
        self._jinja.compiles(text, env=env, name=name, file=file)

    def ahead(self, sources: Iterable[SlsSource]) -> None:
        """Compile the templates of many files at once, to be rendered soon. Mistakes are not reported."""
        texts: list[tuple[str, str, str, str]] = []
        for source in sources:
            if source.text.startswith(STUB):
                continue
            job = self._job(source, {}, source.path)
            try:
                text = cut_blocks(source.text, job)[0] if MARKER in source.text else source.text
                template = self._pipeline.opening_template(text, job)
            except CompileError:
                continue
            if template is not None:
                texts.append((template, job.env, job.name, job.file))
        self._jinja.ahead(texts)

    def without_globals(self, values: Mapping[str, object]) -> dict[str, object]:
        """The values without global names."""
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

    def rendered_text(self, source: SlsSource) -> str:
        """The output of the last text renderer: what ``show rendered`` prints."""
        self.require_text(source)
        values = _values(source, self.rendered)
        job = self._job(source, values, source.path)
        text = source.text
        if MARKER in text:
            text, _ = cut_blocks(text, job)
        return self._pipeline.last_text(text, job)

    def require_text(self, source: SlsSource) -> None:
        """Raise ``CompileError`` if only the controller has the text of a file."""
        if source.text.startswith(STUB):
            raise _hidden_error(source)

    @property
    def warnings(self) -> list[Diagnostic]:
        """The warnings of renderers."""
        return self._pipeline.warnings

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
        names = sls_names(sls, path if file else f"{sls.replace('.', '/')}.sls") if sls else {}
        job = _text_job(env, sls, path, file, {**names, **(values or {})}, purpose=FILE_RENDERERS)
        return self._pipeline.text(text, engine, job)

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
        job = _text_job(env, sls, path, file, {**names, **(values or {})}, keeps_order=True)
        return self._pipeline.document(text, job, default=parse_pipe(pipe) if pipe else None).data


def _text_job(
    env: str,
    sls: str,
    path: str,
    file: str,
    values: dict[str, object],
    *,
    purpose: str = "sls",
    keeps_order: bool = False,
) -> Job:
    """The job of a text that a module hands over; ``file`` is what problems name."""
    return Job(
        env=env,
        sls=sls,
        name=path,
        file=file or path or "<text>",
        values=values,
        purpose=purpose,
        keeps_order=keeps_order,
    )


def _values(source: SlsSource, rendered: set[str]) -> dict[str, object]:
    """What the template of a file knows about itself."""
    values = sls_names(source.ref.name, source.name)
    values.update(rendered_sls=rendered, tplpath=source.path)
    return values


def _elsewhere(remote: Remote | None, stub: SlsSource) -> Remote:
    """The renderer of a stub's text. Raises ``CompileError`` if it is unknown here."""
    if remote is not None:
        return remote
    raise CompileError(
        Diagnostic(
            code="controller-needed",
            what="the text of this file is on the controller, which renders it; this is only its stub",
            where=Mark(stub.path, 1),
            fix="apply it through the controller: saltern apply … --on TARGET",
        )
    )


def _hidden_error(source: SlsSource) -> CompileError:
    return CompileError(
        Diagnostic(
            code="file-hidden",
            what="this file is rendered on the controller, and its text stays there",
            where=Mark(source.path, 1),
            fix="saltern show sls shows what it becomes",
        )
    )
