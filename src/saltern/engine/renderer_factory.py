"""Make the renderers of a session: what templates see, and what the configuration allows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from saltern.config.settings import Settings, cache_directory
from saltern.language.diagnostics import Diagnostic, OperationError, did_you_mean
from saltern.modules.api.salt import Salt
from saltern.render.jinja.door import JinjaDoor
from saltern.render.pipe import RENDERERS, Others, parse_pipe
from saltern.render.renderers import Renderers
from saltern.render.yaml_cache import YamlCache
from saltern.render.yaml_limits import Limits
from saltern.sources.tree import Tree

if TYPE_CHECKING:
    from saltern.facts.grains import Grains
    from saltern.modules.api.pure_functions import PureSalt
    from saltern.render.jinja.renderer import JinjaRenderer


ELSEWHERE = "refused: it would inspect the controller, which renders this file for another machine"


class RendererFactory:
    """Makes ``Renderers`` for the trees of one session, which share its functions, grains and options."""

    def __init__(
        self,
        settings: Settings,
        *,
        salt: Salt,
        grains: Grains,
        opts: Mapping[str, object],
        trust: bool,
        others: Others,
        facts_only: bool = False,
    ) -> None:
        """``others`` finds renderers that are not ours. Without ``trust``, templates get nothing that
        touches the machine. ``facts_only``: state files are those of another machine, of which only facts
        and pillar are known here."""
        self._settings = settings
        self._salt = salt
        self._grains = grains
        self._opts = opts
        self._trust = trust
        self._facts_only = facts_only
        self._others = others
        self._decrypted: dict[str, str | bytes] = {}

    def make(self, tree: Tree, pillar: dict[str, object], *, for_pillar: bool = False) -> Renderers:
        """Renderers for the files of a tree; pillar files see only the given pillar."""
        settings = self._settings
        shared: dict[str, object] = {
            "salt": self._functions(for_pillar=for_pillar),
            "grains": self._grains,
            "pillar": pillar,
            "opts": self._opts,
            "proxy": {},
            "renderers": {},
            "ifelse": self._ifelse,
        }
        older = {
            name.removeprefix("jinja_"): settings.extra[name]
            for name in ("jinja_trim_blocks", "jinja_lstrip_blocks")
            if name in settings.extra
        }
        given = {"sls": {**older, **settings.jinja_sls_env}, "file": {**older, **settings.jinja_env}}
        door = JinjaDoor(
            lambda: self._jinja(tree, shared, given),
            {purpose: "line_statement_prefix" not in own for purpose, own in given.items()},
        )
        _check_pipe(settings)
        return Renderers(
            door,
            shared,
            pipe=settings.renderer,
            blacklist=settings.renderer_blacklist,
            whitelist=settings.renderer_whitelist,
            code=self._trust,
            limits=Limits(settings.max_yaml_depth, settings.max_yaml_nodes),
            others=self._others,
            seconds=settings.render_time_limit,
            delays=not for_pillar,
            keeps_order=for_pillar,
            cache=YamlCache(cache_directory(settings)) if self._trust and not for_pillar else None,
            decrypted=self._decrypted,
        )

    def _functions(self, *, for_pillar: bool) -> Salt | PureSalt:
        """The ``salt`` object of templates."""
        if self._trust and (for_pillar or not self._facts_only):
            return self._salt
        from saltern.modules.api.pure_functions import PureSalt

        return PureSalt(self._salt, ELSEWHERE) if self._trust else PureSalt(self._salt)

    def _jinja(
        self, tree: Tree, shared: Mapping[str, object], options: Mapping[str, Mapping[str, object]]
    ) -> JinjaRenderer:
        from saltern.render.filters import OF_THE_MACHINE
        from saltern.render.jinja.renderer import JinjaRenderer

        return JinjaRenderer(
            tree,
            shared,
            cachedir=cache_directory(self._settings) if self._trust else "",
            lenient=self._settings.allow_undefined,
            options=options,
            seconds=self._settings.render_time_limit,
            memory=self._settings.render_memory_limit,
            refused=frozenset() if self._trust else OF_THE_MACHINE,
        )

    def _ifelse(self, *choices: object) -> object:
        """Jinja's ``ifelse(target, value, …, default)``."""
        return self._salt["match.ifelse"](*choices)


def _check_pipe(settings: Settings) -> None:
    """Raise if the configured renderer does not exist: once, not for every file."""
    stages = parse_pipe(settings.renderer)
    unknown = [stage.name for stage in stages if stage.name not in RENDERERS]
    if unknown or not stages:
        raise OperationError(
            Diagnostic(
                code="unknown-renderer",
                what=f"renderer: {settings.renderer!r} in the configuration names no renderer that exists",
                fix=did_you_mean(unknown[0], RENDERERS) if unknown else "the default is 'jinja|yaml'",
            )
        )
