"""Request → its SLS files: named by the request, or assigned by the top files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from saltern.engine.loaders import TemplateLoader, TreeLoader
from saltern.engine.request import Request, environment_of
from saltern.engine.session import Session
from saltern.language.diagnostics import Diagnostics
from saltern.language.source import SlsRef

if TYPE_CHECKING:
    from saltern.targeting.top import Assigned


def targets(session: Session, request: Request, found: Diagnostics) -> tuple[Sequence[SlsRef], TreeLoader]:
    """The requested files, or those of the top files, and the loader that reads them."""
    session.check_roots(needed=not request.template)
    env = set_environment(session, request) or "base"
    if request.template:
        template = TemplateLoader(session, request.template, env, request.text)
        return [template.ref], template
    if request.sls:
        return [SlsRef(env, name) for name in request.sls], TreeLoader(session)
    given = [one for some in assigned_sls(session, request, found).values() for one in some]
    loader = TreeLoader(session)
    loader.asked = {SlsRef(one.env, one.sls): one for one in given}
    return [SlsRef(one.env, one.sls) for one in given], loader


def set_environment(session: Session, request: Request) -> str | None:
    """Write the environment of the request to ``opts``, and return it. Named files have one, as in Salt."""
    env = environment_of(request, session.settings)
    named = request.sls or request.template
    session.opts["saltenv"] = env or ("base" if named else None)
    return env


def assigned_sls(session: Session, request: Request, found: Diagnostics) -> dict[str, list[Assigned]]:
    """What the top files assign to this machine, by environment."""
    only = environment_of(request, session.settings)
    envs = [only] if only else session.environments()
    reads = only or session.settings.state_top_saltenv
    reader = session.tops(session.tree, session.renderers, only_env=reads)
    given = session.with_master_tops(reader.assigned_sls(session.subject(), envs, found, only=only), found)
    found.check()
    return given
