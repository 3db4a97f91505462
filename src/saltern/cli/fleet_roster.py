"""``saltern fleet roster check``: list the systems of rosters, and report every mistake."""

from __future__ import annotations

from collections.abc import Sequence

from saltern.language.diagnostics import Diagnostic, OperationError


def check_roster(words: list[str]) -> int:
    """Check the named rosters, else those of the controller, as ``saltern ssh roster`` does."""
    from saltern.cli.ssh import main

    if not words or words[0] != "check":
        fix = "saltern fleet roster check FILE"
        raise OperationError(Diagnostic(code="option-choice", what="`saltern fleet roster` checks", fix=fix))
    sources = words[1:] or _of_the_controller()
    return main(["roster", *(word for source in sources for word in ("--roster", source))])


def _of_the_controller() -> Sequence[str]:
    from saltern.fleet.controller.paths import controller_paths
    from saltern.fleet.controller.settings import load_settings
    from saltern.fleet.controller.ssh.roster import usual_sources

    paths = controller_paths(None)
    found = load_settings(paths).roster or usual_sources(paths.config)
    if not found:
        what, fix = "the controller on this machine has no roster", "saltern fleet roster check FILE"
        raise OperationError(Diagnostic(code="roster-missing", what=what, fix=fix))
    return found
