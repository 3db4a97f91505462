"""Options that several commands share, and their conversion into a session."""

from __future__ import annotations

from saltern.cli.arguments import Row

OUTPUT_NAMES = ("highstate", "json", "tree", "jsonl", "yaml", "junit", "quiet", "nested", "pprint")
LOGGED = frozenset({"info", "profile", "debug", "trace", "garbage", "all"})
LEVELS = ("critical", "error", "warning", "info", "debug", "trace")
STATE_OUTPUTS = ("full", "terse", "mixed", "changes", "filter")


# Options of several commands, each written once.
TEST_ROW = Row(flag="--test", dest="test", kind="on", help="say what would change, and change nothing")
EXCLUDE_ROW = Row(
    flag="--exclude",
    dest="exclude",
    metavar="YAML",
    help="SLS names or {id: NAME} to leave out; a list is allowed",
)
FAILHARD_ROW = Row(flag="--failhard", dest="failhard", kind="on", help="end the run at the first failure")
STRICT_ROW = Row(flag="--strict", dest="strict", kind="on", help="unknown states and arguments are errors")
COLOR_ROW = Row(
    flag="--color", dest="color", kind="on", group="output", help="use colours even without a terminal"
)
NO_COLOR_ROW = Row(flag="--no-color", dest="color", kind="off", group="output", help="no colours")
OUTPUT_FILE_ROW = Row(
    flag="--output", dest="output", metavar="FILE", help="where to write it (default: print it)"
)
OUTPUT_FILE_SHORT_ROW = Row(flag="-o", dest="output", metavar="FILE", help="the same")
HUMAN_OR_JSON_ROW = Row(
    flag="--out",
    dest="out",
    metavar="FORMAT",
    group="output",
    choices=("human", "json"),
    default="human",
    help="human, json (default: human)",
)
DISK_ROOT_ROW = Row(
    flag="--root", dest="root", metavar="DIR", default="/", help="the root of another machine's disk"
)
FROM = "where things come from"
LOG = "log"
LOG_ROWS: tuple[Row, ...] = (
    Row(
        flag="-v",
        dest="verbose",
        kind="on",
        default=False,
        group=LOG,
        help="log what happens: --log-level info",
    ),
    Row(
        flag="--debug",
        dest="debug",
        kind="on",
        default=False,
        group=LOG,
        help="log details, with tracebacks of modules: --log-level debug",
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
        help="a directory with state files; repeatable; earlier ones win",
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
        help="the configuration file (a Salt minion's works, too)",
    ),
    Row(flag="--saltenv", dest="saltenv", metavar="ENV", group=FROM, help="only this environment"),
    Row(flag="--pillarenv", dest="pillarenv", metavar="ENV", group=FROM, help="only this pillar environment"),
    Row(
        flag="--id",
        dest="minion_id",
        metavar="ID",
        group=FROM,
        help="the id of this machine, for targeting",
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
        COLOR_ROW,
        NO_COLOR_ROW,
    )


SECRETS_ROW = Row(
    flag="--show-secrets",
    dest="show_secrets",
    kind="on",
    default=False,
    group="output",
    help="print decrypted values and values from secret stores instead of ***",
)

PROFILE_ROW = Row(
    flag="--profile",
    dest="profile",
    kind="on",
    default=False,
    group="output",
    help="report on stderr where the time went: phases, files, states",
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
# Where a command acts or asks, if not on this machine.
SSH_ROWS: tuple[Row, ...] = (
    Row(
        flag="--roster",
        dest="roster",
        kind="list",
        metavar="FILE",
        group=OVER_SSH,
        help="a roster of Salt, an inventory of Ansible, an ssh configuration, a directory of these,"
        " or addresses: user@web1:22,web2; repeatable",
    ),
    Row(
        flag="--resume",
        dest="resume_job",
        kind="on",
        default=False,
        group=OVER_SSH,
        help="return to the last job of the same command: follow what runs, fetch what has ended, begin"
        " where nothing was begun",
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
        help="accept unknown host keys; changed keys are refused",
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
        help="on the systems of the fleet that match: 'web*', 'G@os:Debian', @GROUP; local is this machine",
    ),
    CONTROLLER_ROW,
    Row(
        flag="--wait",
        dest="wait",
        metavar="SECONDS",
        group=MANY,
        help="wait at most SECONDS for systems that are away; 0 leaves them out (default: queue the job"
        " for them, and do not wait)",
    ),
    Row(
        flag="--expires",
        dest="expires",
        metavar="SECONDS",
        group=MANY,
        help="how long the job is offered to systems that are away (default: a day; 5 minutes for queries)",
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
        help="wait SECONDS after one system ends before the next begins",
    ),
    Row(
        flag="--batch-failures",
        dest="batch_failures",
        metavar="AMOUNT",
        group=MANY,
        help="leave out the rest of a batch if more than AMOUNT systems fail; 0: after the first failure",
    ),
    Row(
        flag="--return",
        dest="returners",
        metavar="NAMES",
        group=MANY,
        help="each system calls these returners with what it returns (names with commas)",
    ),
    Row(
        flag="--return-config",
        dest="return_config",
        metavar="NAME",
        group=MANY,
        help="the settings of these returners are below NAME in the configuration of a system",
    ),
    Row(
        flag="--return-kwargs",
        dest="return_kwargs",
        metavar="YAML|FILE",
        group=MANY,
        help="settings of these returners that win over those of a system: '{key: value}', or a YAML file",
    ),
    Row(
        flag="--detach",
        dest="detach",
        kind="on",
        default=False,
        group=MANY,
        help="print the number of the job without waiting; follow it with `saltern job JID --follow`",
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


# Which parts of a report are shown.
REPORT_ROWS: tuple[Row, ...] = (
    Row(
        flag="--sub-states",
        dest="sub_states",
        choices=("full", "changes", "failed", "count"),
        default="full",
        help="which steps of an external engine to show; the others are only counted",
        group="output",
    ),
    Row(
        flag="--expand",
        dest="expand",
        kind="on",
        group="output",
        default=False,
        help="show every state that was not run because of a failure, with its data",
    ),
)
