"""The parts of one run: tree, grains, pillar, renderers, modules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from saltern.compat.places import present
from saltern.config.minion import options
from saltern.config.settings import Settings, has_repositories, with_commits
from saltern.engine.addresses import option_values
from saltern.engine.renderer_factory import RendererFactory
from saltern.engine.session_pillar import SessionPillar
from saltern.facts.grains import Grains, collect
from saltern.language.diagnostics import Diagnostic, Diagnostics, Severity
from saltern.modules.api.caller import ModuleCaller
from saltern.modules.api.context import Run
from saltern.modules.api.registry import Provider, Registry
from saltern.modules.api.salt import Salt
from saltern.modules.api.uplink import Uplink
from saltern.sources.tree import Tree
from saltern.system.clock import SystemClock
from saltern.system.output_limits import limit
from saltern.system.own_user import own_user

if TYPE_CHECKING:
    from types import ModuleType

    from saltern.compat.library import Library
    from saltern.facts.tops import TopReader
    from saltern.language.events import Event
    from saltern.render.renderers import Renderers
    from saltern.runtime.ports import EventSink, ResumeQuestion
    from saltern.system.clock import Clock
    from saltern.system.host import Host
    from saltern.targeting.match import Subject
    from saltern.targeting.top import Assigned


class _SaltStyle:
    """A lookup of Salt-style modules, built when it is first used."""

    def __init__(self, session: Session, shelf: str) -> None:
        self._session = session
        self._shelf = shelf

    def _provider(self) -> Provider:
        shelf: Provider = getattr(self._session.library, self._shelf)
        return shelf

    def module(self, kind: str, name: str) -> ModuleType | None:
        return self._provider().module(kind, name)

    def names(self, kind: str) -> list[str]:
        return self._provider().names(kind)

    def why(self, kind: str, name: str) -> str:
        return self._provider().why(kind, name)


class Session:
    """The parts of one run, each built when it is first needed. Two sessions share nothing."""

    def __init__(
        self,
        settings: Settings,
        *,
        grains: Mapping[str, object] | None = None,
        pillar: Mapping[str, object] | None = None,
        registry: Registry | None = None,
        clock: Clock | None = None,
        host: Host | None = None,
        first: Sequence[Provider] = (),
        texts: Mapping[str, str] | None = None,
        trust: bool = True,
        facts_only: bool = False,
    ) -> None:
        """``first``: modules that take precedence. With ``Grains`` as grains, no others are collected.
        ``texts``: texts by path that replace files on disk. Without ``trust``, no code of the tree
        is run, and templates get nothing that touches the machine. ``facts_only``: state
        files are rendered for another machine, with its facts and pillar.
        """
        limit(settings.output_limit, settings.output_file_limit)
        self._about_sources: list[Diagnostic] = []
        if trust and has_repositories(settings):
            from saltern.engine.git_sources import local_settings

            settings, self._about_sources = local_settings(settings)
        self.settings = settings
        self.trust = trust
        self.clock = clock or SystemClock()
        self._salt_style = present(settings) if trust else frozenset()
        self.registry = registry or self._registry(first)
        self.salt = Salt(self.registry)
        self._texts = texts
        self.tree = _published_tree(settings) if settings.file_tree else self.make_tree(settings.file_roots)
        self.grains: Grains = grains if isinstance(grains, Grains) else collect(settings, grains, trust=trust)
        self.resume_question: ResumeQuestion | None = None  # for states with ``resume: ask``
        self.pillar_compiler = SessionPillar(self, pillar or {})
        self.pillar: dict[str, object] = {}
        self.opts: dict[str, object] = {
            **options(settings, own_user() if trust else ""),
            "grains": self.grains,
            "pillar": self.pillar,
        }
        if trust:
            self.opts.update(option_values(settings, self.opts))
        self.warnings: list[Diagnostic] = []  # about grains and pillar
        self._about_grains: list[Diagnostic] = []
        self.factory = RendererFactory(
            settings,
            salt=self.salt,
            grains=self.grains,
            opts=self.opts,
            trust=trust,
            others=self._other_renderer,
            facts_only=facts_only,
        )
        self.renderers = self.factory.make(self.tree, self.pillar)
        if settings.file_tree and settings.agent_socket:
            from saltern.engine.controller_files import ControllerFiles

            self.renderers.remote = ControllerFiles(settings)
        self.run = Run(
            settings=settings,
            grains=self.grains,
            pillar=self.pillar,
            opts=self.opts,
            files=self.tree,
            templates=self.renderers,
            functions=self.salt,
            host=host,
            clock=self.clock,
        )
        self.run.agent = Uplink(settings.agent_socket, trust=trust)
        self.run.refresh = self.refresh
        self.salt.bind(self.run)
        self.caller = ModuleCaller(self.registry, self.run)
        if "grains" in self._salt_style:
            self._add_custom_grains()

    def _registry(self, first: Sequence[Provider]) -> Registry:
        if not self.trust:
            from saltern.compat.unread import Unread

            return Registry(before=(*first, Unread(self.settings)))
        return Registry(
            before=(*first, _SaltStyle(self, "own")) if self._salt_style else first,
            after=(_SaltStyle(self, "installed"),),
        )

    def make_tree(self, roots: Mapping[str, Sequence[str]]) -> Tree:
        """A tree of these roots, with the limits and texts of this session."""
        return Tree(roots, max_size=self.settings.max_sls_size, texts=self._texts, links_out=self.trust)

    @cached_property
    def library(self) -> Library:
        """Salt-style modules. Imports nothing of them until a module exists or is requested."""
        from saltern.compat.library import Library

        library = Library(self.settings)
        library.bind(self.run, self.registry)
        return library

    def with_log(self, on_event: EventSink | None) -> EventSink | None:
        """The event sink; Salt-style modules also receive events (``__running__``)."""
        if "library" not in vars(self):
            return on_event
        hear = self.library.hear

        def both(event: Event) -> None:
            hear(event)
            if on_event is not None:
                on_event(event)

        return both

    def _add_custom_grains(self) -> None:
        """Add ``_grains``: they override detected grains, and given grains override them."""
        from saltern.compat.grains import custom_grains

        given = set(dict.keys(self.grains))
        found, problems = custom_grains(self.library)
        self._about_grains = [
            Diagnostic(severity=Severity.WARNING, code="grain-failed", what=problem) for problem in problems
        ]
        self.grains.update({name: value for name, value in found.items() if name not in given})

    def load_pillar(self) -> None:
        """Compile the pillar into ``pillar``, which stays the same object. Raises if it is wrong."""
        self.warnings = [*self._about_sources, *self._about_grains]
        try:
            compiled = self.pillar_compiler.compile()
        finally:
            self.warnings += self.pillar_compiler.warnings
        self.pillar.clear()
        self.pillar.update(compiled)
        if self.pillar_compiler.commits:
            self.settings = with_commits(self.settings, self.pillar_compiler.commits)

    def refresh(self, what: frozenset[str]) -> None:
        if "grains" in what:
            self.grains.refresh()
            if "grains" in self._salt_style:
                self._add_custom_grains()
        if "modules" in what:
            if "library" in vars(self):
                self.library.forget()
            self.registry.forget()
        if "pillar" in what:
            self.load_pillar()

    def subject(self) -> Subject:
        from saltern.targeting.match import Subject

        return Subject(
            id=self.settings.id, grains=self.grains, pillar=self.pillar, nodegroups=self.settings.nodegroups
        )

    def environments(self) -> list[str]:
        known = self.tree.environments()
        if self.settings.env_order:
            return [env for env in dict.fromkeys(self.settings.env_order) if env in known]
        return known

    def check_roots(self, *, needed: bool = True) -> None:
        """Raise if a file root is not a readable directory; the default root is checked only if
        ``needed``.
        """
        if needed or self.settings.file_roots != Settings().file_roots:
            self.tree.check()

    def tops(self, tree: Tree, renderers: Renderers, *, only_env: str | None = None) -> TopReader:
        from saltern.facts.tops import TopReader

        return TopReader(
            tree,
            renderers,
            name=self.settings.state_top,
            strategy=self.settings.top_file_merging_strategy,
            default_top=self.settings.default_top,
            only_env=only_env,
        )

    def with_master_tops(
        self, given: dict[str, list[Assigned]], found: Diagnostics
    ) -> dict[str, list[Assigned]]:
        """What the top files assign to this machine, and what the ``master_tops`` sources add."""
        settings = self.settings
        if not self.trust or not (wanted := settings.extra.get("master_tops")):
            return given
        from saltern.compat.tops import Configuration, master_tops
        from saltern.targeting.top import join_assignments

        where = Configuration(settings.files[0] if settings.files else "")
        more = master_tops(self.library, wanted, settings.id, where, found)
        first = bool(settings.extra.get("master_tops_first"))
        return join_assignments(given, more, where, found, first=first, known=self.tree)

    def _other_renderer(self, name: str) -> Callable[..., object] | None:
        if not self.trust:
            return None
        from saltern.compat.renderers import renderer

        return renderer(self.library, name)


def _published_tree(settings: Settings) -> Tree:
    """The tree that an agent fetched for this run."""
    from saltern.sources.published_tree import PublishedTree

    return PublishedTree(
        settings.file_roots, settings.file_tree, settings.agent_socket, max_size=settings.max_sls_size
    )
