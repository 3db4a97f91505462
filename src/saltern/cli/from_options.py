"""Turn options into settings, a session, and an output style."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING

from saltern.cli.options import LOGGED, STATE_OUTPUTS
from saltern.cli.values import mapping_value, tree_values
from saltern.config.load import load
from saltern.config.options import OPTIONS
from saltern.language.diagnostics import Diagnostic, OperationError, did_you_mean

if TYPE_CHECKING:
    from saltern.config.settings import Settings
    from saltern.engine.session import Session
    from saltern.report.outputs import OutputOptions


def settings_of(args: SimpleNamespace, **overrides: object) -> Settings:
    """The configuration, overridden by the command line. Raises ``OperationError``.

    A worker of an agent gives ``args.overrides``: options that no command line has.
    """
    settings, warnings = load(
        args.config,
        {
            **tree_values(args),
            "log_level": args.log_level or ("debug" if args.debug else "info" if args.verbose else None),
            **overrides,
            **getattr(args, "overrides", {}),
        },
        os.environ,
    )
    if settings.log_level in LOGGED:
        from saltern.language import secrets
        from saltern.system import log

        log.start(settings.log_level, secrets.mask)
        log.info("configuration: %s", ", ".join(settings.files) or "none, defaults are used")
    if args.color is None and isinstance(settings.color, bool):
        args.color = settings.color
    show_warnings(args, warnings)
    return settings


def show_warnings(args: SimpleNamespace, warnings: Sequence[Diagnostic]) -> None:
    """Print warnings on standard error, so that they do not mix with output."""
    if warnings:
        from saltern.report.colours import wanted
        from saltern.report.diagnostics import show

        show(warnings, sys.stderr, colour=wanted(sys.stderr, args.color))


def session(args: SimpleNamespace, **overrides: object) -> Session:
    """A session for a command, from its command line. Raises ``OperationError``."""
    from saltern.engine.nested_engine import make_session

    return make_session(settings_of(args, **overrides), mapping_value("--pillar", args.pillar))


def loaded_session(args: SimpleNamespace) -> Session:
    """A session with grains and pillar, for a command that may show secrets. Its warnings are printed."""
    if args.show_secrets:
        from saltern.language import secrets

        secrets.show_all()
    engine = session(args)
    engine.load_pillar()
    show_warnings(args, engine.warnings)
    return engine


def output_options(args: SimpleNamespace, settings: object) -> OutputOptions:
    from saltern.report.outputs import OutputOptions, options_for

    names = [name for name in OutputOptions.__struct_fields__ if name.startswith("state_")]
    given = {name: getattr(args, name, None) for name in names}
    chosen = {
        name: tuple(value) if isinstance(value, list) else value
        for name in names
        if (value := given[name] if given[name] is not None else getattr(settings, name)) is not None
    }
    how = str(chosen.get("state_output", "full"))
    if not OPTIONS["state_output"].allows(how):
        raise OperationError(
            Diagnostic(
                code="option-choice",
                what=f"no state_output is called {how!r}",
                fix=did_you_mean(how, STATE_OUTPUTS) or f"there are {', '.join(STATE_OUTPUTS)}",
            )
        )
    return options_for(sys.stdout, colour=args.color, **chosen)
