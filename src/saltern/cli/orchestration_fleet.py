"""Where an orchestration gets its files, pillar and systems."""

from __future__ import annotations

import os
import socket
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from saltern.cli.from_options import settings_of

if TYPE_CHECKING:
    from saltern.config.settings import Settings
    from saltern.engine.session import Session
    from saltern.fleet.orchestration.folder import Note
    from saltern.fleet.orchestration.ports import Fleet

# Options that nested orchestrations inherit.
INHERITED = {
    "config": "--config",
    "file_root": "--file-root",
    "pillar_root": "--pillar-root",
    "directory": "--directory",
}


def orchestration_settings(args: SimpleNamespace) -> Settings:
    """The configuration of this machine, with the roots of the controller if it runs here."""
    typed = {name: getattr(args, name, None) for name in ("test", "failhard", "strict")}
    own: dict[str, object] = {} if args.roster else _controller_options(args)
    own["id"] = f"{socket.gethostname()}_master"  # the id of a Salt master in its own pillar
    given = {"file_roots": args.file_root, "pillar_roots": args.pillar_root, "id": args.minion_id}
    return settings_of(args, **{name: one for name, one in own.items() if not given.get(name)}, **typed)


def _controller_options(args: SimpleNamespace) -> dict[str, object]:
    """Files, pillar and groups from the configuration of the controller on this machine."""
    from saltern.fleet.controller.paths import controller_paths
    from saltern.fleet.controller.settings import load_settings

    paths = controller_paths(args.directory or _directory_of(controller_address(args)))
    if not os.path.isfile(paths.config):
        return {}
    own = load_settings(paths)
    return {
        "file_roots": own.file_roots or {"base": [paths.root("salt")]},
        "pillar_roots": own.pillar_roots or {"base": [paths.root("pillar")]},
        "nodegroups": own.nodegroups,
        **({"ext_pillar": own.ext_pillar} if own.ext_pillar else {}),
    }


def _directory_of(where: str) -> str | None:
    """The directory of a controller, found by its socket, which is beside the configuration."""
    directory, name = os.path.split(os.path.abspath(where.removeprefix("unix://")))
    is_own = name == "controller.sock" and os.path.isfile(os.path.join(directory, "controller.yaml"))
    return directory if is_own else None


def controller_address(args: SimpleNamespace) -> str:
    """The address of the controller, from option, directory, variable or configuration."""
    from saltern.cli.connect import address
    from saltern.fleet.controller.paths import controller_paths

    if args.directory and not args.controller:
        return controller_paths(args.directory).socket
    return address(args)


def check_controller(args: SimpleNamespace) -> None:
    """Raise if no controller answers. Later, a controller that has answered once is waited for."""
    from saltern.cli.connect import connect

    with connect(SimpleNamespace(controller=controller_address(args))) as client:
        client.health()


def make_fleet(args: SimpleNamespace, note: Note, session: Session) -> Fleet:
    """The connection to the systems of an orchestration."""
    session.opts["__orchestration_jid__"] = note.jid  # Salt's name for templates and modules
    return _ssh_fleet(args, note, session) if note.ssh else _controller_fleet(args, note, session)


def _ssh_fleet(args: SimpleNamespace, note: Note, session: Session) -> Fleet:
    from saltern.cli.orchestration_ssh import job_maker
    from saltern.fleet.client.client import Client
    from saltern.fleet.orchestration.local import SessionLocal
    from saltern.fleet.orchestration.ssh_fleet import NoController, SshFleet

    def connect_client() -> Client:
        return cast("Client", NoController())

    words = [word for one in args.roster for word in ("--roster", os.path.abspath(one))]
    local = SessionLocal(session, connect_client, note.jid, [*words, *inherited_words(args)])
    return SshFleet(note.jid, job_maker(args, session.settings), local)


def _controller_fleet(args: SimpleNamespace, note: Note, session: Session) -> Fleet:
    from saltern.cli.connect import connect
    from saltern.fleet.client.client import Client
    from saltern.fleet.orchestration.controller_fleet import ControllerFleet
    from saltern.fleet.orchestration.folder import CursorFile
    from saltern.fleet.orchestration.local import SessionLocal

    where = args.controller or note.controller

    def connect_client() -> Client:
        return connect(SimpleNamespace(controller=where))

    words = ["--controller", where, *inherited_words(args)]
    local = SessionLocal(session, connect_client, note.jid, words)
    return ControllerFleet(connect_client, note.jid, local, CursorFile(session.settings.state_dir))


def inherited_words(args: SimpleNamespace) -> list[str]:
    """The options for an orchestration that this one starts."""
    words: list[str] = []
    for name, flag in INHERITED.items():
        value = getattr(args, name, None)
        values = value if isinstance(value, list) else [value] if value else []
        words += [word for one in values for word in (flag, os.path.abspath(one) if "=" not in one else one)]
    return words
