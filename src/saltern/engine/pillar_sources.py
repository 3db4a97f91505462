"""What ``ext_pillar`` sources can use from a run: templates, renderers, the compiler of pillar files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from saltern.compat.pillars.ports import Asked
from saltern.config.files import option_place
from saltern.config.settings import cache_directory

if TYPE_CHECKING:
    from saltern.compat.library import Library
    from saltern.config.settings import Settings
    from saltern.engine.renderer_factory import RendererFactory
    from saltern.facts.grains import Grains
    from saltern.facts.tops import TopReader
    from saltern.language.diagnostics import Diagnostic
    from saltern.modules.api.salt import Salt
    from saltern.render.renderers import Renderers
    from saltern.sources.tree import Tree
    from saltern.targeting.match import Subject

CompileRoots = Callable[[Mapping[str, Sequence[str]], Mapping[str, object]], dict[str, object]]


class PillarRun(Protocol):
    """The session that compiles its pillar, as sources see it."""

    settings: Settings
    trust: bool
    salt: Salt
    opts: dict[str, object]
    grains: Grains
    factory: RendererFactory

    @property
    def library(self) -> Library: ...

    def subject(self) -> Subject: ...

    def make_tree(self, roots: Mapping[str, Sequence[str]]) -> Tree: ...

    def tops(self, tree: Tree, renderers: Renderers) -> TopReader: ...


def add_sources(
    session: PillarRun,
    compiled: dict[str, object],
    compile_roots: CompileRoots,
    *,
    warnings: list[Diagnostic],
    commits: dict[str, str],
) -> dict[str, object]:
    """The pillar with the additions of the ``ext_pillar`` sources; fills ``warnings`` and ``commits``."""
    from saltern.compat.pillar import ext_pillar

    settings = session.settings
    entries = session.opts["ext_pillar"]  # with addresses replaced by their values
    asked = _make_asked(session, compiled, compile_roots)
    return ext_pillar(
        session.library,
        entries if isinstance(entries, list) else [entries],
        compiled,
        asked=replace(asked, warnings=warnings, commits=commits),
        strategy=settings.pillar_source_merging_strategy,
        merge_lists=settings.pillar_merge_lists,
        place=lambda index: option_place(settings.files, ("ext_pillar", index)),
    )


def _make_asked(session: PillarRun, pillar: dict[str, object], compile_roots: CompileRoots) -> Asked:
    settings, factory, make_tree = session.settings, session.factory, session.make_tree

    def template(path: str, values: Mapping[str, object]) -> str:
        """Render a file as a Jinja template; includes are looked for beside it."""
        tree = make_tree({"base": [os.path.dirname(path)]})
        renderers = factory.make(tree, dict(pillar), for_pillar=True)
        name = os.path.basename(path)
        text = tree.text(path) or ""
        given = {**values, "__salt__": session.salt}
        return renderers.text(text, engine="jinja", env="base", path=name, values=given, file=path)

    def data(text: str, pipe: str) -> object:
        renderers = factory.make(make_tree({}), dict(pillar), for_pillar=True)
        return renderers.data(text, pipe=pipe, env="base")

    def compile_pillar(roots: Mapping[str, list[str]]) -> dict[str, object]:
        return compile_roots(roots, pillar)

    def is_in(group: str) -> bool:
        from saltern.targeting.match import matches

        return group in settings.nodegroups and matches(session.subject(), group, "nodegroup")

    return Asked(
        id=settings.id,
        pillar=pillar,
        opts=session.opts,
        grains=session.grains,
        template=template,
        data=data,
        compiled=compile_pillar,
        groups=is_in,
        cache=os.path.join(cache_directory(settings), "git"),
    )
