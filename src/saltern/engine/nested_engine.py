"""The functions of ``state``: the engine, called by a function within a run.

Each call gets its own session, so that it changes nothing in the calling run. The engine is
imported with the first call; most runs make none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from saltern.config.settings import Settings
from saltern.engine.request import Request
from saltern.engine.session import Session
from saltern.language.diagnostics import Diagnostic, Diagnostics, OperationError
from saltern.report.salt import to_dict

DEEPEST = 4  # a file that calls itself would never end


def make_session(
    settings: Settings,
    pillar: Mapping[str, object] | None = None,
    *,
    depth: int = 0,
    grains: Mapping[str, object] | None = None,
    texts: Mapping[str, str] | None = None,
    trust: bool = True,
) -> Session:
    """A session whose functions can call the engine. ``grains``, ``texts``, ``trust``: as for ``Session``."""
    session = Session(settings, grains=grains, pillar=pillar, texts=texts, trust=trust)
    settings = session.settings  # with roots resolved to directories
    if not trust:
        return session

    def fresh(other: Mapping[str, object], more: Mapping[str, object]) -> Session:
        if depth == DEEPEST:
            what = f"functions of 'state' call each other through files, {DEEPEST} deep"
            raise OperationError(Diagnostic(code="states-too-deep", what=what))
        given = {**(pillar or {}), **more}
        made = make_session(replace(settings, **other), given, depth=depth + 1, grains=grains, texts=texts)
        made.run.programs = session.run.programs  # its programs belong to the calling state
        made.run.orchestration = session.run.orchestration
        return made

    session.run.states = NestedEngine(fresh)
    return session


class NestedEngine:
    """Implements ``modules.context.States``."""

    def __init__(self, fresh: Callable[[Mapping[str, object], Mapping[str, object]], Session]) -> None:
        self._fresh = fresh

    def high(self, sls: Sequence[str], options: Mapping[str, object]) -> dict[str, object]:
        from saltern.engine.show import show_high

        found = Diagnostics()
        shown = show_high(self._session(options), _request(sls, options), found)
        found.check()
        return shown

    def low(self, sls: Sequence[str], options: Mapping[str, object]) -> list[dict[str, object]]:
        from saltern.engine.show import show_low

        found = Diagnostics()
        shown = show_low(self._session(options), _request(sls, options), found)
        found.check()
        return shown

    def top(self, options: Mapping[str, object]) -> dict[str, list[str]]:
        from saltern.engine.show import show_top

        found = Diagnostics()
        shown = show_top(self._session(options), _request((), options), found)
        found.check()
        return shown

    def apply(
        self,
        sls: Sequence[str],
        options: Mapping[str, object],
        *,
        test: bool | None = None,
        id_: str | None = None,
    ) -> dict[str, dict[str, object]]:
        from saltern.engine.apply import apply

        session = self._session(options, test)
        return to_dict(apply(session, replace(_request(sls, options), id=id_)))

    def single(
        self,
        fun: str,
        name: str,
        args: Mapping[str, object],
        options: Mapping[str, object],
        *,
        test: bool | None = None,
    ) -> dict[str, dict[str, object]]:
        from saltern.engine.single import single

        return to_dict(single(self._session(options, test), fun, name, args))

    def _session(self, options: Mapping[str, object], test: bool | None = None) -> Session:
        pillar = options.get("pillar")
        other = {key: options[key] for key in ("pillarenv", "state_top") if options.get(key) is not None}
        if test is not None:
            other["test"] = test
        return self._fresh(other, pillar if isinstance(pillar, Mapping) else {})


def _request(sls: Sequence[str], options: Mapping[str, object]) -> Request:
    env, exclude, template = options.get("saltenv"), options.get("exclude"), options.get("template")
    return Request(
        sls=tuple(sls),
        saltenv=str(env) if env else None,
        exclude=tuple(exclude) if isinstance(exclude, list) else (exclude,) if exclude else (),
        template=str(template) if template else None,
        text=str(text) if isinstance(text := options.get("text"), str) else None,
    )
