"""Read the top files of a tree and find what they assign to a machine; for states and pillar."""

from __future__ import annotations

from collections.abc import Sequence

from saltern.language.diagnostics import CompileError, Diagnostics
from saltern.language.source import SlsRef
from saltern.render.document import Document
from saltern.render.renderers import Renderers
from saltern.sources.tree import SlsSource, Tree
from saltern.targeting.match import Subject
from saltern.targeting.top import Assigned, Sections, assign_targets, includes, parse_top


class TopReader:
    def __init__(
        self,
        tree: Tree,
        renderers: Renderers,
        *,
        name: str = "top.sls",
        strategy: str = "merge",
        default_top: str = "base",
        only_env: str | None = None,
    ) -> None:
        self._tree = tree
        self._renderers = renderers
        self._name = name
        self._strategy = strategy
        self._default_top = default_top
        self._only_env = only_env

    def assigned_sls(
        self, subject: Subject, envs: Sequence[str], found: Diagnostics, *, only: str | None = None
    ) -> dict[str, list[Assigned]]:
        """env → SLS files for this machine; a top file that cannot be read is an error, not an empty
        answer.
        """
        reads = [self._only_env] if self._only_env else list(envs)
        tops = {env: sections for env in reads if (sections := self.sections(env, found)) is not None}
        found.check()
        result = assign_targets(
            tops,
            subject,
            envs,
            found,
            strategy=self._strategy,
            default_top=self._default_top,
            only=only,
            known=self._tree,
        )
        found.check()
        return result

    def sections(self, env: str, found: Diagnostics) -> Sections | None:
        """All targets of an environment's top file; None if it has no top file."""
        document = self._document(self._name, env, found)
        if document is None:
            return None
        sections = parse_top(document, found)
        for name in includes(document, found):
            more = self._document(f"{name.replace('.', '/')}.sls", env, found)
            if more is None:
                where = document.mark(("include", name))
                found.error("sls-not-found", f"no top file is called {name!r}", where=where)
            for section, targets in (parse_top(more, found) if more else {}).items():
                known = {one.expression: one for one in sections.get(section, [])}
                known.update({one.expression: one for one in targets})
                sections[section] = list(known.values())
        return sections

    def _document(self, name: str, env: str, found: Diagnostics) -> Document | None:
        try:
            source = self._tree.source(name, env)
            if source is None:
                return None
            path, text = source
            ref = SlsRef(env, name.removesuffix(".sls").replace("/", "."))
            return self._renderers.sls(SlsSource(ref, path, name, text))
        except CompileError as problem:
            found.add(problem.diagnostics)
            return None
