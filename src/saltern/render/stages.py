"""Run one stage of a pipe: text → text, or text → data."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from io import StringIO

from msgspec.structs import replace

from saltern.language.diagnostics import CompileError, Diagnostic
from saltern.language.source import Mark
from saltern.render.document import Job, Rendered
from saltern.render.document import place as place_in
from saltern.render.jinja.door import Jinja
from saltern.render.pipe import RENDERERS, Others, Stage
from saltern.render.yaml_cache import MISSING, YamlCache
from saltern.render.yaml_limits import Limits, YamlProblem


class StageRunner:
    """Runs single stages, with the names that every template sees."""

    def __init__(
        self,
        jinja: Jinja,
        shared: Mapping[str, object],
        *,
        limits: Limits,
        seconds: float,
        others: Others,
        keeps_order: bool,
        cache: YamlCache | None,
        decrypted: dict[str, str | bytes],
    ) -> None:
        self._jinja = jinja
        self._shared = shared
        self._limits = limits
        self._seconds = seconds
        self._others = others  # renderers by name that are not ours
        self._keeps_order = keeps_order  # of keys
        self._cache = cache  # of the data of files without a template
        self._decrypted = decrypted  # decrypted in this run, by encrypted text
        self.warnings: list[Diagnostic] = []

    def other(self, stage: Stage, given: object, made: Rendered, job: Job) -> object:
        """Run a renderer of the user or of Salt: code, trusted like a module. ``given`` is the
        text, or the data already parsed from it."""
        render = self._others(stage.name)
        assert render is not None
        values = {**self._shared, "saltenv": job.env, **job.values}
        try:
            return render(
                given,
                env=job.env,
                sls=job.sls,
                path=job.file,
                argline=stage.argline,
                values=values,
                renderers=InnerRenderers(self, job),
            )
        except Exception as problem:
            from saltern.render.redact import redact

            said = redact(str(problem), made.text, pillar=values.get("pillar"), grains=values.get("grains"))
            what = f"the renderer {stage.name!r} failed: {type(problem).__name__}: {said}"
            raise CompileError(
                Diagnostic(code="renderer-failed", what=what, where=Mark(job.file, 1))
            ) from None

    def text(self, stage: Stage, made: Rendered, job: Job) -> Rendered:
        """Run a renderer that makes another text."""
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

    def values(self, stage: Stage, value: object, source: str, job: Job) -> object:
        """Decrypt the data of the previous stage; ``Rendered`` if there was only text so far."""
        shared = {**self._shared, "saltenv": job.env, **job.values}
        given = _job(job, shared, stage, self._seconds)
        given = replace(given, source=source, decrypted=self._decrypted, warnings=self.warnings)
        if isinstance(value, Rendered):
            return _load(stage.name, job, "_text")(value, given)
        return _load(stage.name, job)(value, given)

    def _yaml(self, made: Rendered, source: str) -> object:
        """Parse YAML; from the cache if no template made the text."""
        keeps = made.lines is None and made.text == source and "no_log" not in source
        cache = self._cache if keeps else None
        if cache is not None and (kept := cache.get(source, self._limits)) is not MISSING:
            return kept
        from saltern.render.yaml import read

        data = read(made.text, self._limits)
        if cache is not None:
            cache.put(source, self._limits, data)
        return data

    def data(self, stage: Stage, made: Rendered, source: str, job: Job) -> object:
        """Run a renderer that parses text into data."""
        if stage.name == "yaml":
            try:
                data = self._yaml(made, source)
            except YamlProblem as problem:
                raise CompileError(_yaml_diagnostic(problem, made, source, job)) from None
            if not (job.keeps_order or self._keeps_order):
                return data
            from saltern.language.ordered import order_mappings

            return order_mappings(data)
        shared = {**self._shared, "saltenv": job.env, **job.values}
        if not made.text.strip() and stage.name != "py":
            return None
        try:
            return _load(stage.name, job)(made.text, _job(job, shared, stage, self._seconds))
        except CompileError as problem:
            if made.text == source or made.lines is None:
                raise
            raise CompileError(*(_from_data(one, source) for one in problem.diagnostics)) from None


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


def _load(name: str, job: Job, suffix: str = "") -> Callable[[object, Job], object]:
    kind = RENDERERS[name]
    module, _, function = kind.code.partition(":")
    try:
        render: Callable[[object, Job], object] = getattr(import_module(module), function + suffix)
    except ImportError as problem:
        raise missing_package(name, problem, job) from None
    return render


def missing_package(name: str, problem: ImportError, job: Job) -> CompileError:
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
    # A line that a template made may contain a password: show the template line instead.
    detail = f"a template made this line; to see it: saltern show rendered {job.sls}" if job.sls else ""
    what, fix = (_without(text, source) for text in (problem.what, problem.fix))
    return Diagnostic(code=problem.code, what=what, where=where, fix=fix, detail=detail)


def _from_data(problem: Diagnostic, source: str) -> Diagnostic:
    """A problem in the output of a template; it must not quote pillar values."""
    what, fix = (_without(text, source) for text in (problem.what, problem.fix))
    return replace(problem, what=what, fix=fix)


_QUOTED = r"'((?:[^'\\]|\\.)+)'|\"((?:[^\"\\]|\\.)+)\""


def _without(text: str, source: str) -> str:
    """A message without quoted words that are not in the file, since they come from data."""
    import re

    def hide(found: re.Match[str]) -> str:
        word = found[1] or found[2]
        return found[0] if word in source or len(word) <= 2 else "'•••'"

    return re.sub(_QUOTED, hide, text)


class InnerRenderers(Mapping[str, Callable[..., object]]):
    """Our renderers for Salt renderers that use others, such as ``stateconf``: with Salt's calling
    convention.
    """

    def __init__(self, run: StageRunner, job: Job) -> None:
        self._run = run
        self._job = job

    def __getitem__(self, name: str) -> Callable[..., object]:
        if name not in RENDERERS or RENDERERS[name].makes == "values":
            raise KeyError(name)

        def render(
            given: object,
            _saltenv: str = "base",
            _sls: str = "",
            *,
            argline: str = "",
            context: Mapping[str, object] | None = None,
            **_more: object,
        ) -> object:
            text = str(given.read() if hasattr(given, "read") else given)
            stage = Stage(name, argline)
            job = replace(self._job, values={**self._job.values, **(context or {})}, harvest=None)
            if RENDERERS[name].makes == "text":
                return StringIO(self._run.text(stage, Rendered(text), job).text)
            return self._run.data(stage, Rendered(text), text, job)

        return render

    def __iter__(self) -> Iterator[str]:
        return (name for name, kind in RENDERERS.items() if kind.makes != "values")

    def __len__(self) -> int:
        return sum(1 for _ in self)
