"""``saltern site``: locations of a fleet that have their own broker."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from types import SimpleNamespace

import msgspec

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.language.diagnostics import Diagnostic, OperationError, did_you_mean

ABOUT = """\
A site is a location of the fleet with its own broker: its agents connect to that, and one link leads to the
controller.

  add NAME         on the controller: make a site, and write the kit for its broker to a file
  run KIT          on a machine of the site: run its broker until it is stopped"""
EPILOG = """\
examples:
  saltern site add east --address broker.east.example:4222 -o east.kit
  saltern site run east.kit
  saltern fleet tokens new --site east           a token for agents of the site"""


def main(argv: list[str]) -> int:
    args = parse(LINE, argv)
    verb, *words = args.words
    if verb not in VERBS or len(words) != 1:
        hint = did_you_mean(verb, VERBS) or "use: site add NAME, site run KIT"
        print(f"saltern site: {hint}", file=sys.stderr)
        return exits.SURROUNDINGS
    return VERBS[verb](args, words[0])


def _say(text: str) -> None:
    print(f"saltern: {text}", file=sys.stderr, flush=True)


def _add(args: SimpleNamespace, name: str) -> int:
    from saltern.fleet.controller.new_site import add_site
    from saltern.fleet.controller.paths import controller_paths
    from saltern.fleet.controller.settings import load_settings
    from saltern.fleet.identity.keys import OWNER_ONLY
    from saltern.system.files import write

    if not args.address:
        what, fix = "where the broker of the site will be is not known", "use --address HOST:PORT"
        raise OperationError(Diagnostic(code="site-address", what=what, fix=fix))
    paths = controller_paths(args.directory)
    path = os.path.abspath(args.output or f"{name}.kit")
    kit = add_site(
        paths,
        load_settings(paths),
        name,
        tuple(args.address),
        through=tuple(args.through or ()),
        now=time.time(),
    )
    write(path, msgspec.json.encode(kit), OWNER_ONLY)
    _say(f"{path} holds keys of the site: copy it there securely, and run `saltern site run {path}`")
    _say(f"tokens for its agents: saltern fleet tokens new --site {name}")
    return exits.OK


def _run(args: SimpleNamespace, path: str) -> int:
    from saltern.fleet.broker.site_broker import read_kit, serve
    from saltern.fleet.identity.directories import directories_of

    kit = read_kit(os.path.abspath(path))
    folder = os.path.join(directories_of("site", args.directory)["state"], kit.site)
    serve(kit, folder, _say, keep=_kept_bytes(args.keep_files))
    return exits.OK


def _kept_bytes(text: str | None) -> int:
    from saltern.fleet.broker.site_files import KEEP, MIB

    if text is None:
        return KEEP
    if not text.isdecimal():
        what = f"--keep-files {text!r} is no number of MiB"
        fix = "for example --keep-files 2048, or 0 to keep none"
        raise OperationError(Diagnostic(code="site-keep-files", what=what, fix=fix))
    return int(text) * MIB


VERBS: dict[str, Callable[[SimpleNamespace, str], int]] = {"add": _add, "run": _run}
LINE = CommandLine(
    command="site",
    about=ABOUT,
    epilog=EPILOG,
    words=(Word(dest="words", metavar="VERB", many=True, help="add NAME, or run KIT"),),
    rows=(
        Row(
            flag="--address",
            dest="address",
            kind="list",
            metavar="HOST:PORT",
            help="where agents of the site reach its broker; repeatable",
        ),
        Row(
            flag="--through",
            dest="through",
            kind="list",
            metavar="HOST:PORT",
            help="where the site reaches the controller's broker, if not by this machine's names",
        ),
        Row(
            flag="--keep-files",
            dest="keep_files",
            metavar="MIB",
            help="with run: how much of the fleet's files the site keeps; default: 2048, 0 for none",
        ),
        Row(flag="--output", dest="output", metavar="FILE", help="write the kit there; default: NAME.kit"),
        Row(flag="-o", dest="output", metavar="FILE", help="the same as --output"),
        Row(
            flag="--directory",
            dest="directory",
            metavar="DIR",
            help="keep everything below this directory, or find the controller there",
        ),
    ),
)
