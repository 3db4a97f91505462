"""Compile the pillar of a machine from the top file and SLS files in the pillar roots.

The includes of a file come first and the file overrides them; files of one top file are merged in order,
later over earlier, by the configured strategy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from saltern.compiler.gather import expand
from saltern.compiler.parse import absolute_name
from saltern.config.settings import Settings
from saltern.facts.tops import TopReader
from saltern.language.diagnostics import CompileError, Diagnostic, Diagnostics, PillarError, did_you_mean
from saltern.language.merge import merge
from saltern.language.ordered import like
from saltern.language.source import Mark, SlsRef
from saltern.render.document import Document
from saltern.render.renderers import Renderers
from saltern.sources.tree import Tree
from saltern.targeting.match import Subject
from saltern.targeting.top import Assigned


class PillarCompiler:
    def __init__(
        self,
        tree: Tree,
        renderers: Renderers,
        tops: TopReader,
        *,
        strategy: str = "smart",
        merge_lists: bool = False,
        order: Sequence[str] = (),
    ) -> None:
        """``order`` of the environments, the last on top; environments not listed come after it."""
        self._tree = tree
        self._renderers = renderers
        self._tops = tops
        self._strategy = "smart" if strategy == "none" else strategy  # none: only one environment
        self._merge_lists = merge_lists
        self._order = order
        self._found = Diagnostics()
        self.given: dict[str, list[Assigned]] = {}  # what the top files assigned to the last machine

    def compile(self, subject: Subject, envs: Sequence[str]) -> dict[str, object]:
        """Compile the pillar. Raises ``PillarError`` with every problem."""
        self._found = Diagnostics()
        pillar: dict[str, object] = {}
        try:
            only = envs[0] if len(envs) == 1 else None
            given = self.given = self._tops.assigned_sls(subject, envs, self._found, only=only)
            for env in dict.fromkeys((*(env for env in self._order if env in given), *given)):
                for one in given[env]:
                    pillar = self._over(pillar, self._compile_line(one))
            self._found.check()
        except CompileError as problem:
            raise PillarError(*problem.diagnostics) from None
        return pillar

    @property
    def warnings(self) -> list[Diagnostic]:
        return [*self._found.warnings, *self._renderers.warnings]

    def _compile_line(self, one: Assigned) -> dict[str, object]:
        """The data of one line of the top file; a pattern stands for all its matches."""
        result: dict[str, object] = {}
        for ref in expand(SlsRef(one.env, one.sls), self._tree.sls_names):
            if one.target.ignore_missing and self._tree.read(ref) is None:
                continue
            result = self._over(result, self._file(ref, one.mark, ()))
        return result

    def _over(self, base: dict[str, object], more: Mapping[str, object]) -> dict[str, object]:
        if not base or not more:
            return like(more or base, dict(more or base))
        merged = merge(base, more, strategy=self._strategy, merge_lists=self._merge_lists)
        assert isinstance(merged, dict)
        return merged

    def _file(
        self,
        ref: SlsRef,
        where: Callable[[], Mark],
        above: tuple[SlsRef, ...],
        defaults: Mapping[str, object] | None = None,
    ) -> dict[str, object]:
        """One pillar file with its includes."""
        if ref in above:
            return {}
        document = self._load(ref, where, defaults)
        if document is None or document.data is None:
            return {}
        if not isinstance(document.data, dict):
            self._found.error(
                "sls-not-mapping", "this pillar file does not render to a mapping", where=document.mark()
            )
            return {}
        data = like(document.data, dict(document.data))
        included = data.pop("include", None) or []
        result: dict[str, object] = {}
        if not isinstance(included, list):
            self._found.error("include-not-list", "include is not a list", where=document.mark(("include",)))
            included = []
        for index, item in enumerate(included):
            result = self._over(result, self._compile_include(item, index, document, (*above, ref)))
        return self._over(result, data)

    def _compile_include(
        self, item: object, index: int, document: Document, above: tuple[SlsRef, ...]
    ) -> dict[str, object]:
        options: Mapping[str, object] = {}
        if isinstance(item, dict) and len(item) == 1:
            ((item, more),) = item.items()
            options = more if isinstance(more, dict) else {}
        if not isinstance(item, str):
            self._found.error(
                "include-shape",
                f"include has {item!r} where the name of an SLS belongs",
                where=document.mark(("include", index)),
            )
            return {}
        name = absolute_name(item, document.ref.name, is_init=document.is_init) or item
        result: dict[str, object] = {}
        for ref in expand(SlsRef(document.ref.env, name), self._tree.sls_names):
            defaults = options.get("defaults")
            one = self._file(
                ref,
                lambda: document.mark(("include", index)),
                above,
                defaults if isinstance(defaults, dict) else None,
            )
            result = self._over(result, _nest_under(one, options.get("key")))
        return result

    def _load(
        self, ref: SlsRef, where: Callable[[], Mark], defaults: Mapping[str, object] | None
    ) -> Document | None:
        try:
            source = self._tree.read(ref)
            if source is not None:
                return self._renderers.sls(source, defaults)
        except CompileError as problem:
            self._found.add(problem.diagnostics)
            return None
        self._found.error(
            "sls-not-found",
            f"no pillar SLS is called {ref.name!r} in pillarenv {ref.env!r}",
            where=where(),
            fix=did_you_mean(ref.name, self._tree.sls_names(ref.env)) or "check the pillar top file",
        )
        return None


def _nest_under(data: dict[str, object], key: object) -> dict[str, object]:
    for part in reversed(str(key).split(":")) if key else ():
        data = {part: data}
    return data


def pillar_environments(settings: Settings, tree: Tree) -> list[str]:
    """The environments to compile: one if it is named or if environments are not merged; else all."""
    if settings.pillarenv:
        return [settings.pillarenv]
    if settings.saltenv and settings.extra.get("pillarenv_from_saltenv"):
        return [settings.saltenv]
    return ["base"] if settings.pillar_source_merging_strategy == "none" else tree.environments()
