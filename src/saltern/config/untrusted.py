"""The settings of an untrusted tree: its configuration may set the roots, and little else."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from saltern.config.settings import Roots, Settings
from saltern.language.diagnostics import Diagnostic, Severity
from saltern.language.source import Mark
from saltern.system.guard import is_within

# Options that are ignored: code loaded from elsewhere, commands, and directories that are written.
SET_ASIDE: Mapping[str, object] = {
    "cachedir": "",
    "state_dir": "",
    "reboot_command": [],
    "reboot_cancel_command": [],
    "file_tree": "",
    "agent_socket": "",
    "agent_job": "",
}
CODE = ("ext_pillar", "master_tops")  # keys that are not options but load code
# Limits may be lowered, not raised; 0 is no limit.
LIMITS = ("render_time_limit", "render_memory_limit", "max_sls_size", "max_yaml_depth", "max_yaml_nodes")


def restrict_settings(settings: Settings, places: Sequence[str]) -> tuple[Settings, list[Diagnostic]]:
    """The settings that are allowed, and a warning for each root outside of ``places``."""
    usual = Settings()
    real = [os.path.realpath(place) for place in places]
    found: list[Diagnostic] = []
    changes = dict(SET_ASIDE)
    for name in ("file_roots", "pillar_roots"):
        changes[name], refused = _inside(getattr(settings, name), real)
        found += (_outside(name, root, settings) for root in refused if os.path.exists(root))
    changes |= {name: _lower_limit(getattr(settings, name), getattr(usual, name)) for name in LIMITS}
    changes["extra"] = {key: value for key, value in settings.extra.items() if key not in CODE}
    return replace(settings, **changes), found


def _inside(roots: Roots, places: Sequence[str]) -> tuple[Roots, list[str]]:
    """The roots inside ``places``, and the others; a link is judged by its target."""
    kept: Roots = {}
    refused: list[str] = []
    for env, several in roots.items():
        kept[env] = [one for one in several if is_within(os.path.realpath(one), places)]
        refused += (one for one in several if one not in kept[env])
    return kept, refused


def _lower_limit(given: float, usual: float) -> float:
    return min(given, usual) if given > 0 else usual


def _outside(name: str, root: str, settings: Settings) -> Diagnostic:
    return Diagnostic(
        severity=Severity.WARNING,
        code="untrusted-root",
        what=f"the root {root!r} of {name} is outside of the untrusted tree and is not read",
        where=Mark(settings.files[0]) if settings.files else None,
        fix="to allow it, name it on the command line: --file-root, --pillar-root",
    )
