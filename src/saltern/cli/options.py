"""Options that several commands share, and what becomes of them: a session."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

from saltern.cli.arguments import Row
from saltern.config.load import load
from saltern.language.diagnostics import Diagnostic, OperationError, did_you_mean

if TYPE_CHECKING:
    from saltern.config.settings import Settings
    from saltern.engine.session import Session
    from saltern.report.outputs import OutputOptions

OUTPUT_NAMES = ("highstate", "json", "tree", "jsonl", "yaml", "junit", "quiet", "nested", "pprint")
LOGGED = frozenset({"info", "profile", "debug", "trace", "garbage", "all"})
LEVELS = ("critical", "error", "warning", "info", "debug", "trace")
STATE_OUTPUTS = ("full", "terse", "mixed", "changes", "filter")


FROM = "where things come from"
LOG = "log"
LOG_ROWS: tuple[Row, ...] = (
    Row(
        flag="-v",
        dest="verbose",
        kind="on",
        default=False,
        group=LOG,
        help="say what happens: --log-level info",
    ),
    Row(
        flag="--debug",
        dest="debug",
        kind="on",
        default=False,
        group=LOG,
        help="say why, with the tracebacks of modules: --log-level debug",
    ),
    Row(
        flag="--log-level",
        dest="log_level",
        metavar="LEVEL",
        choices=LEVELS,
        group=LOG,
        help=f"write a log to stderr: {', '.join(LEVELS)}",
    ),
    Row(
        flag="-l",
        dest="log_level",
        metavar="LEVEL",
        choices=LEVELS,
        group=LOG,
        help="the same as --log-level",
    ),
)
TREE_ROWS: tuple[Row, ...] = (
    Row(
        flag="--file-root",
        dest="file_root",
        kind="list",
        metavar="[ENV=]DIR",
        group=FROM,
        help="a directory with state files; may be given again, earlier ones win",
    ),
    Row(
        flag="--pillar-root",
        dest="pillar_root",
        kind="list",
        metavar="[ENV=]DIR",
        group=FROM,
        help="a directory with pillar files",
    ),
    Row(
        flag="--pillar",
        dest="pillar",
        metavar="YAML|FILE",
        group=FROM,
        help="pillar data that wins over the compiled pillar: '{key: value}', or a YAML file",
    ),
    Row(
        flag="--grains",
        dest="grains",
        metavar="FILE",
        group=FROM,
        help="a YAML file of grains that win over the detected ones",
    ),
    Row(
        flag="--config",
        dest="config",
        metavar="FILE",
        group=FROM,
        help="the configuration file (a Salt minion's will do)",
    ),
    Row(flag="--saltenv", dest="saltenv", metavar="ENV", group=FROM, help="only this environment"),
    Row(flag="--pillarenv", dest="pillarenv", metavar="ENV", group=FROM, help="only this pillar environment"),
    Row(
        flag="--id",
        dest="minion_id",
        metavar="ID",
        group=FROM,
        help="the name of this machine, for targeting",
    ),
    *LOG_ROWS,
)


def output_rows(default: str) -> tuple[Row, ...]:
    return (
        Row(
            flag="--out",
            dest="out",
            metavar="FORMAT",
            group="output",
            choices=OUTPUT_NAMES,
            default=default,
            help=f"{', '.join(OUTPUT_NAMES)} (default: {default})",
        ),
        Row(
            flag="--color",
            dest="color",
            kind="on",
            group="output",
            help="colours even where there is no terminal",
        ),
        Row(flag="--no-color", dest="color", kind="off", group="output", help="no colours"),
    )


SECRETS_ROW = Row(
    flag="--show-secrets",
    dest="show_secrets",
    kind="on",
    default=False,
    group="output",
    help="print values that were decrypted or fetched from a secret store as they are, not as ***",
)

PROFILE_ROW = Row(
    flag="--profile",
    dest="profile",
    kind="on",
    default=False,
    group="output",
    help="say on stderr where the time went: phases, files, states",
)

OVER_SSH = "systems over SSH, without a controller"
MANY = "many systems"
CONTROLLER_ROW = Row(
    flag="--controller",
    dest="controller",
    metavar="URL|PATH",
    group=MANY,
    help="the controller to ask: https://HOST:PORT, or its socket (default: SALTERN_CONTROLLER, the"
    " configuration, the controller on this machine)",
)
# Where a command acts or asks, if that is not this machine.
SSH_ROWS: tuple[Row, ...] = (
    Row(
        flag="--roster",
        dest="roster",
        kind="list",
        metavar="FILE",
        group=OVER_SSH,
        help="a roster of Salt, an inventory of Ansible, an ssh configuration, a directory of those,"
        " or addresses: user@web1:22,web2; may be given again",
    ),
    Row(
        flag="--resume",
        dest="resume_job",
        kind="on",
        default=False,
        group=OVER_SSH,
        help="find the last job of the same command again: follow what runs, fetch what has ended, begin"
        " where it was not begun",
    ),
    Row(
        flag="--refresh-grains",
        dest="refresh_grains",
        kind="on",
        default=False,
        group=OVER_SSH,
        help="ask the systems for their grains again if the target uses grains",
    ),
    Row(
        flag="--ask-password",
        dest="ask_password",
        kind="on",
        default=False,
        group=OVER_SSH,
        help="ask for the password of ssh, once for all systems",
    ),
    Row(
        flag="--ask-become-password",
        dest="ask_become_password",
        kind="on",
        default=False,
        group=OVER_SSH,
        help="ask for the password of sudo, doas or su, once for all systems",
    ),
    Row(
        flag="--accept-new-keys",
        dest="accept_new_keys",
        kind="on",
        default=False,
        group=OVER_SSH,
        help="accept host keys of systems that are not known yet; changed ones are refused",
    ),
    Row(
        flag="--known-hosts",
        dest="known_hosts",
        metavar="FILE",
        group=OVER_SSH,
        help="the file of known host keys, instead of the user's",
    ),
    Row(
        flag="--transport",
        dest="transport",
        metavar="NAME",
        choices=("openssh", "asyncssh"),
        default="openssh",
        group=OVER_SSH,
        help="openssh: the system's ssh; asyncssh: the library, without a process for each system"
        " (needs saltern[ssh])",
    ),
    Row(
        flag="--connect-timeout",
        dest="connect_timeout",
        metavar="SECONDS",
        default="15",
        group=OVER_SSH,
        help="how long to wait for a system to answer",
    ),
    Row(
        flag="--connections",
        dest="connections",
        metavar="N",
        default="50",
        group=OVER_SSH,
        help="connections at the same time",
    ),
)

ON_ROWS: tuple[Row, ...] = (
    Row(
        flag="--on",
        dest="on",
        metavar="TARGET",
        group=MANY,
        help="on the systems of the fleet that match: 'web*', 'G@os:Debian and not db1', @GROUP",
    ),
    CONTROLLER_ROW,
    Row(
        flag="--wait",
        dest="wait",
        metavar="SECONDS",
        group=MANY,
        help="wait at most SECONDS for systems that are away; 0 leaves them out (default: the job is queued"
        " for them, and not waited for)",
    ),
    Row(
        flag="--expires",
        dest="expires",
        metavar="SECONDS",
        group=MANY,
        help="how long the job is offered to systems that are away (default: a day; for questions 5 minutes)",
    ),
    Row(
        flag="--batch",
        dest="batch",
        metavar="AMOUNT",
        group=MANY,
        help="on at most AMOUNT systems at a time (a number or a percentage)",
    ),
    Row(flag="-b", dest="batch", metavar="AMOUNT", group=MANY, help="the same as --batch"),
    Row(
        flag="--batch-wait",
        dest="batch_wait",
        metavar="SECONDS",
        group=MANY,
        help="wait SECONDS after the end on one system before the next one begins",
    ),
    Row(
        flag="--batch-failures",
        dest="batch_failures",
        metavar="AMOUNT",
        group=MANY,
        help="leave out the rest of a batch if more than AMOUNT systems fail; 0: after the first failure",
    ),
    Row(
        flag="--detach",
        dest="detach",
        kind="on",
        default=False,
        group=MANY,
        help="print the number of the job and do not wait; `saltern job JID --follow` does",
    ),
    *SSH_ROWS,
)

# How the report of a run is laid out.
STATE_ROWS: tuple[Row, ...] = (
    Row(
        flag="--state-output",
        dest="state_output",
        metavar="HOW",
        group="output",
        help=f"{', '.join(STATE_OUTPUTS)}; with _id: IDs instead of names",
    ),
    Row(
        flag="--state-verbose",
        dest="state_verbose",
        kind="flag",
        metavar="BOOL",
        group="output",
        help="false: leave out what is fine and unchanged",
    ),
    Row(
        flag="--output-diff",
        dest="state_output_diff",
        kind="on",
        group="output",
        help="only what changed or failed",
    ),
)


# What of a report is shown at all.
REPORT_ROWS: tuple[Row, ...] = (
    Row(
        flag="--sub-states",
        dest="sub_states",
        choices=("full", "changes", "failed", "count"),
        default="full",
        help="which steps of an external engine to show; the others are counted",
        group="output",
    ),
    Row(
        flag="--expand",
        dest="expand",
        kind="on",
        group="output",
        default=False,
        help="show every state that a failure kept from running, and the data of each",
    ),
)


def settings_of(args: SimpleNamespace, **overrides: object) -> Settings:
    """The configuration, with what was typed over it. Raises ``OperationError``.

    A worker of an agent gives ``args.overrides``: options that no command line has.
    """
    settings, warnings = load(
        args.config,
        {
            "file_roots": roots(args.file_root),
            "pillar_roots": roots(args.pillar_root),
            "pillarenv": args.pillarenv,
            "id": args.minion_id,
            "grains_file": existing(args.grains),
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
        log.info("configuration: %s", ", ".join(settings.files) or "none, the defaults hold")
    if args.color is None and isinstance(settings.color, bool):
        args.color = settings.color
    if warnings:
        from saltern.report.colours import wanted
        from saltern.report.diagnostics import show

        show(warnings, sys.stderr, colour=wanted(sys.stderr, args.color))
    return settings


def session(args: SimpleNamespace, **overrides: object) -> Session:
    """Everything a command needs, from what was typed. Raises ``OperationError``."""
    from saltern.engine.nested_engine import make_session

    return make_session(settings_of(args, **overrides), mapping_value("--pillar", args.pillar))


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
    if how.removesuffix("_color").removesuffix("_id") not in STATE_OUTPUTS:
        raise OperationError(
            Diagnostic(
                code="option-choice",
                what=f"no state_output is called {how!r}",
                fix=did_you_mean(how, STATE_OUTPUTS) or f"there are {', '.join(STATE_OUTPUTS)}",
            )
        )
    return options_for(sys.stdout, colour=args.color, **chosen)


def roots(given: list[str] | None) -> dict[str, list[str]] | None:
    """``DIR`` is of base, ``ENV=DIR`` of that environment; a git repository is as good as a directory."""
    if not given:
        return None
    roots: dict[str, list[str]] = {}
    for text in given:
        env, equals, folder = text.partition("=")
        if not equals or os.sep in env:
            env, folder = "base", text
        whole = folder if folder.startswith("git+") else os.path.abspath(os.path.expanduser(folder))
        roots.setdefault(env, []).append(whole)
    return roots


def existing(path: str | None) -> str | None:
    if path is not None and not os.path.isfile(path):
        raise OperationError(Diagnostic(code="grains-missing", what=f"there is no grains file {path!r}"))
    return os.path.abspath(path) if path else None


def mapping_value(option: str, text: str | None) -> dict[str, object]:
    if not text:
        return {}
    value = yaml_value(option, text)
    if isinstance(value, str):
        return mapping_file(option, value)
    if not isinstance(value, dict):
        raise OperationError(
            Diagnostic(
                code="option-shape",
                what=f"{option} needs a mapping, such as '{{key: value}}', or a file that holds one",
                fix="quote the whole of it for your shell",
            )
        )
    return value


def mapping_file(option: str, path: str) -> dict[str, object]:
    """The mapping that a YAML file holds."""
    from saltern.config.files import mapping

    found = os.path.abspath(os.path.expanduser(path))
    if not os.path.isfile(found):
        raise OperationError(
            Diagnostic(
                code="option-path",
                what=f"{option}: {path!r} is no mapping, and there is no file of that name",
                fix="write '{key: value}', quoted for your shell, or name a YAML file",
            )
        )
    return mapping(found)


def yaml_value(option: str, text: str) -> object:
    from saltern.render.yaml import read
    from saltern.render.yaml_limits import YamlProblem

    try:
        return read(text)
    except YamlProblem as problem:
        raise OperationError(
            Diagnostic(
                code="option-yaml",
                what=f"{option}: {problem.what} (column {problem.column})",
                fix=problem.fix,
            )
        ) from None


def call_arguments(words: list[str]) -> tuple[list[object], dict[str, object]]:
    """``a b k=v`` as a call's arguments; each value is read as YAML, or taken as it is if it is none.

    ``a==b`` is no keyword, as in Salt: a requirement of pip, or base64.
    """
    args: list[object] = []
    kwargs: dict[str, object] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if equals and _is_keyword(name) and not value.startswith("="):
            kwargs[name] = _typed(value)
        else:
            args.append(_typed(word))
    return args, kwargs


def _is_keyword(name: str) -> bool:
    """Some arguments have a dash or a dot in their names, as ``read-ahead``."""
    return name.replace("-", "_").replace(".", "_").isidentifier() and name[0] not in "-."


def _typed(text: str) -> object:
    """A value as Salt's command line reads it: YAML, but text that only looks like YAML stays text."""
    from saltern.render.yaml import read
    from saltern.render.yaml_limits import YamlProblem

    if not text.strip() or any(letter in text for letter in "\t\r\n"):
        return text
    if "_" in text and not text.strip("0123456789_ "):
        return text
    try:
        found = None if text == "None" else read(text)
    except YamlProblem:
        return text
    return found if _is_meant(text, found) else text


def _is_meant(text: str, found: object) -> bool:
    """A mapping and a list need their brackets; what a # would cut off, or a lone sign swallow, is kept."""
    if isinstance(found, dict):
        return text.startswith("{")
    if isinstance(found, list):
        return text.startswith("[")
    if "#" in text:
        return isinstance(found, int | float)
    if found is None:
        return text in ("None", "null", "Null", "NULL", "~")
    return isinstance(found, str | int | float) and not (found == "" and text in ("|", "!"))
