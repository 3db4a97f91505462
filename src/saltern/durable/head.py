"""The head of a journal: the request and configuration of a run."""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec import Struct, convert, to_builtins
from msgspec.structs import asdict

from saltern import __version__
from saltern.config.settings import Settings
from saltern.engine.nested_engine import make_session
from saltern.engine.request import Request
from saltern.engine.session import Session
from saltern.journal.run_state import RunState
from saltern.system import reboot


class Head(Struct, frozen=True, kw_only=True):
    """The part of a journal's head that continuing or repeating its run needs."""

    request: Request
    settings: dict[str, object]
    pillar: dict[str, object]


def make_head(
    session: Session, request: Request, jid: str, pillar: Mapping[str, object], job: str = ""
) -> dict[str, object]:
    """The head of a new run. ``pillar`` is from the command line, ``job`` the fleet job."""
    return {
        **({"job": job} if job else {}),
        "jid": jid,
        "version": __version__,
        "request": to_builtins(request),
        "settings": to_builtins(session.settings, enc_hook=str),
        "pillar": dict(pillar),
        "started": session.clock.now(),
        **surroundings(),
    }


def surroundings() -> dict[str, object]:
    """What differs between two processes of one run: the boot and the process."""
    return {"boot": reboot.current().identity(), "pid": os.getpid()}


def head_of(state: RunState) -> Head:
    """The head of a journal, which must have one."""
    head = state.head
    return Head(
        request=convert(head["request"], Request), settings=head["settings"], pillar=head.get("pillar") or {}
    )


def restore_session(settings: Settings, kept: Mapping[str, object], pillar: Mapping[str, object]) -> Session:
    """A session with the recorded settings; ``settings`` supplies those that an older version did not
    have.
    """
    known = {name: kept[name] for name in Settings.__struct_fields__ if name in kept}
    return make_session(Settings(**{**asdict(settings), **known}), pillar)
