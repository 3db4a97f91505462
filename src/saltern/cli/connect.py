"""The controller that a command asks: its address, and the login."""

from __future__ import annotations

import os
from types import SimpleNamespace

from saltern.fleet.client.address import parse_address
from saltern.fleet.client.client import Client


def connect(args: SimpleNamespace) -> Client:
    """A client of the controller named by option, variable or configuration, or on this machine."""
    from saltern.cli.stored_logins import stored_login

    where = address(args)
    login = stored_login(str(parse_address(where)), os.environ)
    return Client(where, login.token, ca=login.ca)


def address(args: SimpleNamespace) -> str:
    from saltern.config.load import load

    if args.controller:
        return str(args.controller)
    settings, _ = load(getattr(args, "config", None), {}, os.environ)
    return settings.controller or local_socket()


def local_socket() -> str:
    """The socket of a controller on this machine: the user's own, else the system's."""
    from saltern.fleet.controller.paths import controller_paths
    from saltern.fleet.identity.directories import RUN

    mine = controller_paths(None).socket
    return mine if os.path.exists(mine) else os.path.join(RUN, "controller.sock")
