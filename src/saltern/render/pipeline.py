"""Run the renderers of a pipe in turn: text → text → data."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from saltern.language import numbers
from saltern.language.delayed import MARKER, NO_BLOCKS, Block, BlockScope
from saltern.language.diagnostics import CompileError, Diagnostic, did_you_mean
from saltern.language.source import Mark, Path, SlsRef
from saltern.render.document import Document, Harvest, Job, Rendered, find_word
from saltern.render.pipe import RENDERERS, PipeChooser, Stage
from saltern.render.stages import StageRunner
from saltern.sources.text_file import check_text
from saltern.sources.tree import SlsSource

TEXTUAL = frozenset({"", *(name for name, kind in RENDERERS.items() if kind.makes == "text")})
SPELT_OUT = ("yaml", "json", "toml")  # formats whose data is literally in the text


class Home(Struct, frozen=True):
    """What a delayed block needs from its file."""

    source: SlsSource
    stages: tuple[Stage, ...]


class Pipeline:
    """Runs the stages of texts; ``pipes`` selects them, ``runner`` runs one."""

    def __init__(self, pipes: PipeChooser, runner: StageRunner) -> None:
        self.pipes = pipes
        self._runner = runner

    @property
    def warnings(self) -> list[Diagnostic]:
        """The warnings of renderers."""
        return self._runner.warnings

    def document(
        self,
        text: str,
        job: Job,
        *,
        default: tuple[Stage, ...] | None = None,
        home: SlsSource | None = None,
        block: Block | None = None,
        outer: BlockScope | None = None,
    ) -> Document:
        """The data of a text. ``home``: the file that it belongs to; ``block``: the delayed block of it
        to render, in the scope ``outer``."""
        source = text
        own: tuple[Block, ...] = ()
        if MARKER in text or block is not None:
            text, own = cut_blocks(text, job, block)
        stages, text = self.pipes.stages(text, job.file, default)
        made, data, last = self._run_stages(stages, text, source, job, block)
        scope = NO_BLOCKS
        unread = last not in SPELT_OUT  # the text may not contain such data literally
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
        if unread or last == "toml":  # text formats are already checked, except TOML's other number bases
            _check_numbers(document)
        return document

    def opening_template(self, text: str, job: Job, default: tuple[Stage, ...] | None = None) -> str | None:
        """The template at the start of the pipe of a text; None if the pipe does not start with Jinja."""
        stages, text = self.pipes.stages(text, job.file, default)
        return text if stages and stages[0].name == "jinja" else None

    def last_text(self, text: str, job: Job) -> str:
        """The output of the last text renderer of the pipe."""
        stages, text = self.pipes.stages(text, job.file)
        made = Rendered(text)
        for stage in stages:
            if stage.name in RENDERERS and RENDERERS[stage.name].makes == "text":
                made = self._runner.text(stage, made, job)
        return made.text

    def text(self, text: str, engine: str, job: Job) -> str:
        """The output of a template engine for a text."""
        self.pipes.permit(engine, Mark(job.name) if job.name else None)
        names = [name for name, kind in RENDERERS.items() if kind.makes == "text"]
        if engine not in names:
            raise CompileError(
                Diagnostic(
                    code="unknown-renderer",
                    what=f"no template engine is called {engine!r}",
                    fix=did_you_mean(engine, names) or f"there are {', '.join(names)}",
                )
            )
        return self._runner.text(Stage(engine), Rendered(text), job).text

    def _run_stages(
        self, stages: Iterable[Stage], text: str, source: str, job: Job, block: Block | None
    ) -> tuple[Rendered, object, str]:
        """The last text, its data, and the renderer that parsed it."""
        made, data, last = Rendered(text), None, ""
        secret: tuple[str, ...] = ()
        for stage in stages:
            makes = RENDERERS[stage.name].makes if stage.name in RENDERERS else "anything"
            if makes == "anything":
                data = self._runner.other(stage, made.text if last in TEXTUAL else data, made, job)
                made = Rendered(data) if isinstance(data, str) else made
            elif makes == "text":
                made = self._runner.text(stage, made, job)
                data = made.text
            elif makes == "values":
                found = self._runner.values(stage, made if last in TEXTUAL else data, source, job)
                made, data = (found, found.text) if isinstance(found, Rendered) else (made, found)
                secret += made.secrets
            elif block is not None and block.call is not None:
                from saltern.render.python import call_block

                data = call_block(block, job)
            else:
                data = self._runner.data(stage, made, source, job)
            last = stage.name if makes != "values" else last
        if secret:
            from saltern.render.encrypted import keep_secret

            keep_secret(data, secret)
        return made, data, last


def _check_numbers(document: Document) -> None:
    path = numbers.path_to_long(document.data)
    if path is not None:
        where = document.mark(path)
        what, fix = numbers.what(), "make it text"
        raise CompileError(Diagnostic(code="number-too-long", what=what, where=where, fix=fix))


def _locate(text: str, path: Path) -> tuple[int, int]:
    """Find a place; called only for a problem, since it needs a parser."""
    from saltern.render.yaml_places import locate

    return locate(text, path)


def cut_blocks(text: str, job: Job, block: Block | None = None) -> tuple[str, tuple[Block, ...]]:
    """The text without its delayed blocks; by now it is known to be text."""
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
