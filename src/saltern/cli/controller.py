"""``saltern controller``: the controller of a fleet."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING

from msgspec import Struct

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.language.diagnostics import did_you_mean

if TYPE_CHECKING:
    from saltern.fleet.controller.paths import ControllerPaths
    from saltern.fleet.store.database import Database

ENOUGH = 3  # controllers, so that one may fail
ABOUT = """\
Run the controller of a fleet: broker, database and API in one.

  run              run it until it is stopped; the default
  backup FILE      write keys, configuration and database to a file; the controller may be running
  restore FILE     restore a backup; the controller must be stopped
  move-database ADDRESS
                   copy the database into an empty one, such as postgresql://user@host/name;
                   the controller must be stopped
  doctor           check keys, database, broker and configuration; change nothing
  invite NAME      make a token for a further controller; all share one PostgreSQL database
  join TOKEN       make this machine that controller; `-` reads the token from standard input
  remove NAME      remove a controller that is gone for good, so that another can replace it"""
EPILOG = """\
examples:
  saltern controller                             run it; as root with /etc/saltern/controller.yaml
  saltern controller --directory /tmp/fleet      everything below one directory, without privileges"""


def main(argv: list[str]) -> int:
    args = parse(LINE, argv)
    args.verb, *args.words = args.words or ["run"]
    if args.verb not in VERBS:
        hint = did_you_mean(args.verb, VERBS) or f"there are: {', '.join(VERBS)}"
        print(f"saltern controller: there is no verb {args.verb!r}; {hint}", file=sys.stderr)
        return exits.SURROUNDINGS
    verb = VERBS[args.verb]
    if len(args.words) != len(verb.takes):
        print(f"saltern controller {args.verb}: give {' '.join(verb.takes) or 'no words'}", file=sys.stderr)
        return exits.SURROUNDINGS
    from saltern.fleet.controller.paths import controller_paths

    return verb.run(args, controller_paths(args.directory))


def _say(text: str) -> None:
    print(f"saltern: {text}", file=sys.stderr, flush=True)


def _run(_args: SimpleNamespace, paths: ControllerPaths) -> int:
    from saltern.fleet.controller.settings import load_settings
    from saltern.fleet.process import run

    run(paths, load_settings(paths), _say)
    return exits.OK


def _backup(args: SimpleNamespace, paths: ControllerPaths) -> int:
    from saltern.fleet.controller.backup import back_up
    from saltern.fleet.controller.settings import load_settings

    made = back_up(paths, load_settings(paths), args.words[0], now=time.time())
    _say(f"{args.words[0]} has the database and all keys of fleet {made.fleet}: keep it secret")
    return exits.OK


def _restore(args: SimpleNamespace, paths: ControllerPaths) -> int:
    from saltern.fleet.controller.backup import restore
    from saltern.fleet.controller.lock import hold_lock
    from saltern.fleet.controller.settings import load_settings

    with hold_lock(paths):
        made = restore(paths, load_settings(paths), args.words[0])
    when = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(made.made_at))
    _say(f"fleet {made.fleet} is as it was at {when}; what was here has '.before-' in its name now")
    _say("start the controller: newer data is read again from the broker and the agents")
    return exits.OK


def _move_database(args: SimpleNamespace, paths: ControllerPaths) -> int:
    from saltern.fleet.controller.lock import hold_lock
    from saltern.fleet.controller.move import move_database
    from saltern.fleet.controller.settings import load_settings

    with hold_lock(paths):
        moved = move_database(paths, load_settings(paths), args.words[0], now=time.time())
    _say(f"{moved.rows} rows of {moved.tables} tables were copied; the old database is as it was")
    _say(f"write 'database:' with that address into {paths.config}, and start the controller")
    return exits.OK


def _doctor(_args: SimpleNamespace, paths: ControllerPaths) -> int:
    from saltern.fleet.controller.doctor import examine

    found = examine(paths, now=time.time())
    for one in found:
        print(f"{one.level:<8} {one.check:<14} {one.what}")
        if one.fix:
            print(f"{'':<23} fix: {one.fix}")
    return exits.SURROUNDINGS if any(one.level == "error" for one in found) else exits.OK


def _invite(args: SimpleNamespace, paths: ControllerPaths) -> int:
    from saltern.fleet.controller.identity import load_identity
    from saltern.fleet.controller.invite import invite

    with _database(paths) as database:
        token = invite(database, paths, load_identity(paths.keys), args.words[0], now=time.time())
    _say("on the other machine, with the same 'database' in controller.yaml, once, within a day:")
    print(f"saltern controller join {token}")
    return exits.OK


def _join(args: SimpleNamespace, paths: ControllerPaths) -> int:
    from saltern.fleet.controller.invite import join

    text = sys.stdin.read() if args.words[0] == "-" else args.words[0]
    from saltern.fleet.controller.settings import load_settings

    with _database(paths) as database:
        name = join(database, paths, load_settings(paths), text, now=time.time())
    _say(f"this is controller {name} now; start it, and the others find it: saltern controller")
    return exits.OK


def _remove(args: SimpleNamespace, paths: ControllerPaths) -> int:
    from saltern.fleet.controller.identity import load_identity
    from saltern.fleet.controller.removal import remove

    name = args.words[0]
    with _database(paths) as database:
        me = load_identity(paths.keys)
        left = remove(database, me, name, now=time.time())
    _say(f"{name} is no longer a controller of this fleet; remaining: {', '.join(left)}")
    if me.root is None:
        _say("agents still obey its key: run the same on the controller that has the root key")
    _say("it held keys of the fleet: if someone else may have it, see docs/guides/controller.md")
    if len(left) < ENOUGH:
        _say("invite another controller, so that one may fail again: saltern controller invite NAME")
    return exits.OK


@contextmanager
def _database(paths: ControllerPaths) -> Iterator[Database]:
    from saltern.fleet.controller.backup import database_address
    from saltern.fleet.controller.settings import load_settings
    from saltern.fleet.store.database import open_database
    from saltern.fleet.store.migrate import migrate

    database = open_database(database_address(paths, load_settings(paths)))
    try:
        migrate(database)
        yield database
    finally:
        database.close()


class Verb(Struct, frozen=True):
    """What the verb does, and the words that it takes."""

    run: Callable[[SimpleNamespace, ControllerPaths], int]
    takes: tuple[str, ...] = ()


VERBS: dict[str, Verb] = {
    "run": Verb(_run),
    "backup": Verb(_backup, ("FILE",)),
    "restore": Verb(_restore, ("FILE",)),
    "move-database": Verb(_move_database, ("ADDRESS",)),
    "doctor": Verb(_doctor),
    "invite": Verb(_invite, ("NAME",)),
    "join": Verb(_join, ("TOKEN",)),
    "remove": Verb(_remove, ("NAME",)),
}
LINE = CommandLine(
    command="controller",
    about=ABOUT,
    epilog=EPILOG,
    words=(
        Word(dest="words", metavar="VERB", many=True, help="what to do, and what it needs; run by default"),
    ),
    rows=(
        Row(
            flag="--directory",
            dest="directory",
            metavar="DIR",
            help="keep everything below this directory, including the configuration (controller.yaml)",
        ),
    ),
)
