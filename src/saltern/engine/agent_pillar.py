"""The pillar of a run that an agent started: compiled on the controller, passed on by the agent."""

from __future__ import annotations

import base64
from collections.abc import Mapping

import msgspec

from saltern.config.settings import Settings
from saltern.language.diagnostics import Diagnostic, PillarError, Severity
from saltern.language.secret_pillar import unpack_secrets
from saltern.sources.agent_socket import MOST_WAIT, ask


def ask_pillar(
    settings: Settings, overrides: Mapping[str, object]
) -> tuple[dict[str, object], list[Diagnostic]]:
    """The pillar, and warnings about it. ``overrides`` is the pillar that its templates see."""
    environment = settings.pillarenv or ""
    if not environment and settings.extra.get("pillarenv_from_saltenv"):
        environment = settings.saltenv or ""
    given = base64.b64encode(msgspec.msgpack.encode(dict(overrides), enc_hook=str)).decode()
    question: dict[str, object] = {"ask": "pillar", "environment": environment, "overrides": given}
    answer = ask(settings.agent_socket, question, most=MOST_WAIT)
    if problem := answer.get("problem"):
        raise PillarError(
            Diagnostic(
                code="pillar-not-compiled",
                what=f"there is no pillar for this system: {problem}",
                fix=answer.get("fix") or "correct it on the controller; no state was run",
            )
        )
    warnings = [
        Diagnostic(severity=Severity.WARNING, code="pillar", what=str(one))
        for one in answer.get("warnings") or ()
    ]
    found = msgspec.msgpack.decode(base64.b64decode(answer["pillar"]), strict=False)
    return unpack_secrets(found), warnings
