"""What sources of ``ext_pillar`` may ask of a run: templates, renderers, the compiler of pillar files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from saltern.compat.pillars.ports import Asked
from saltern.config.settings import cache_directory

if TYPE_CHECKING:
    from saltern.config.settings import Settings
    from saltern.engine.renderer_factory import RendererFactory
    from saltern.sources.tree import Tree
    from saltern.targeting.match import Subject

MakeTree = Callable[[Mapping[str, Sequence[str]]], "Tree"]


class Run(Protocol):
    """What is asked of the run that compiles its pillar."""

    settings: Settings
    salt: Any
    opts: dict[str, object]
    grains: Any

    def subject(self) -> Subject: ...

    def compile_pillar_roots(
        self, roots: Mapping[str, Sequence[str]], known: Mapping[str, object]
    ) -> dict[str, object]: ...


def make_asked(
    session: Run, factory: RendererFactory, make_tree: MakeTree, pillar: dict[str, object]
) -> Asked:
    settings = session.settings

    def template(path: str, values: Mapping[str, object]) -> str:
        """A file as a Jinja template; what it includes is looked for beside it."""
        tree = make_tree({"base": [os.path.dirname(path)]})
        renderers = factory.make(tree, dict(pillar), for_pillar=True)
        name = os.path.basename(path)
        text = tree.text(path) or ""
        given = {**values, "__salt__": session.salt}
        return renderers.text(text, engine="jinja", env="base", path=name, values=given, file=path)

    def data(text: str, pipe: str) -> object:
        renderers = factory.make(make_tree({}), dict(pillar), for_pillar=True)
        return renderers.data(text, pipe=pipe, env="base")

    def compiled(roots: Mapping[str, list[str]]) -> dict[str, object]:
        return session.compile_pillar_roots(roots, pillar)

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
        compiled=compiled,
        groups=is_in,
        cache=os.path.join(cache_directory(settings), "git"),
    )
