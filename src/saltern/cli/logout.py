"""``saltern logout``: end the session with a controller, and delete its token."""

from __future__ import annotations

import os
import sys

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, parse
from saltern.cli.connect import address
from saltern.cli.options import CONTROLLER_ROW
from saltern.cli.stored_logins import Login, store_login, stored_login
from saltern.fleet.client.address import parse_address
from saltern.fleet.client.client import Client
from saltern.fleet.client.problems import ControllerError

LINE = CommandLine(
    command="logout",
    about="End the session with a controller, and delete its token.",
    epilog="examples:\n  saltern logout --controller https://salt.example.org:4510",
    words=(),
    rows=(CONTROLLER_ROW,),
)


def main(argv: list[str]) -> int:
    args = parse(LINE, argv)
    where = str(parse_address(address(args)))
    login = stored_login(where, {**os.environ, "SALTERN_TOKEN": ""})
    if not login.token:
        print(f"there is no login at {where}")
        return exits.OK
    store_login(where, Login(ca=login.ca) if login.ca else None, os.environ)
    with Client(where, login.token, ca=login.ca) as client:
        try:
            client.own.logout()
        except ControllerError as problem:
            if problem.status != 401:  # the session has already ended
                print(
                    f"saltern: the token is deleted here, but its session is not ended: {problem}",
                    file=sys.stderr,
                )
                return exits.SURROUNDINGS
    print(f"logged out at {where}")
    return exits.OK
