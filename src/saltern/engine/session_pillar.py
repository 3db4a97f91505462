"""The pillar of a session: from its roots or its agent, with external sources and given data."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from saltern.config.settings import commits_of
from saltern.engine.addresses import without_addresses

if TYPE_CHECKING:
    from saltern.engine.pillar_sources import PillarRun
    from saltern.language.diagnostics import Diagnostic
    from saltern.targeting.top import Assigned


class SessionPillar:
    """Compiles the pillar of a session. ``override`` wins over the compiled pillar, and its templates see it.

    Also collects ``warnings``, what the pillar top files assign to this machine (``assigned``), and the
    commits of repositories that are sources (``commits``).
    """

    def __init__(self, session: PillarRun, override: Mapping[str, object]) -> None:
        self._session = session
        self._override = dict(override)
        self.warnings: list[Diagnostic] = []
        self.assigned: dict[str, list[Assigned]] = {}
        self.commits = commits_of(session.settings.extra)
        self.compiled: dict[str, object] | None = None  # by the run that this one belongs to

    def compile(self) -> dict[str, object]:
        """The whole pillar. Raises ``PillarError`` if it is wrong."""
        self.warnings = []
        if self.compiled is not None:
            return self._override_values(self.compiled)
        compiled = self._with_sources(self._own())
        if self._session.trust:
            roots = self._session.settings.pillar_roots
            compiled = without_addresses(compiled, self._session.opts, roots)
        return self._override_values(compiled)

    def _own(self) -> dict[str, object]:
        """The pillar of the pillar roots; an agent gets it from its controller."""
        settings = self._session.settings
        if settings.agent_socket:
            from saltern.engine.agent_pillar import ask_pillar

            compiled, warnings = ask_pillar(settings, self._override)
            self.warnings += warnings
            return compiled
        if any(os.path.isdir(root) for roots in settings.pillar_roots.values() for root in roots):
            return self.compile_roots(settings.pillar_roots, self._override)
        return {}

    def compile_roots(
        self, roots: Mapping[str, Sequence[str]], known: Mapping[str, object]
    ) -> dict[str, object]:
        """The pillar of these roots; ``known`` is the pillar that their templates see."""
        from saltern.facts.pillar import PillarCompiler, pillar_environments

        session, settings = self._session, self._session.settings
        tree = session.make_tree(roots)
        renderers = session.factory.make(tree, dict(known), for_pillar=True)
        compiler = PillarCompiler(
            tree,
            renderers,
            session.tops(tree, renderers),
            strategy=settings.pillar_source_merging_strategy,
            merge_lists=settings.pillar_merge_lists,
            order=settings.env_order,
        )
        compiled = compiler.compile(session.subject(), pillar_environments(settings, tree))
        self.warnings += compiler.warnings
        self.assigned = {**self.assigned, **compiler.given}
        return compiled

    def _with_sources(self, compiled: dict[str, object]) -> dict[str, object]:
        """The pillar with the additions of the ``ext_pillar`` sources."""
        settings = self._session.settings
        if not self._session.trust or settings.agent_socket or not settings.extra.get("ext_pillar"):
            return compiled
        from saltern.engine.pillar_sources import add_sources

        return add_sources(
            self._session, compiled, self.compile_roots, warnings=self.warnings, commits=self.commits
        )

    def _override_values(self, compiled: dict[str, object]) -> dict[str, object]:
        if not self._override:
            return compiled
        from saltern.language.merge import merge

        lists = self._session.settings.pillar_merge_lists
        merged = merge(compiled, self._override, strategy="smart", merge_lists=lists)
        assert isinstance(merged, dict)
        return merged
