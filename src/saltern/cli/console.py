"""``saltern console``: open the console of the fleet in a browser."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Row, parse
from saltern.cli.connect import address, connect
from saltern.cli.options import CONTROLLER_ROW
from saltern.fleet.client.address import parse_address
from saltern.fleet.client.client import Client
from saltern.fleet.client.problems import ControllerError
from saltern.language.diagnostics import Diagnostic, OperationError

LINE = CommandLine(
    command="console",
    about="""\
Open the console of the fleet in a browser. Root on the controller, and the user that runs the controller,
get a link that signs them in: it works once, for two minutes. Everyone else gets the sign-in page.""",
    epilog="""\
examples:
  saltern console
  saltern console --no-browser                  only print the address
  saltern console --controller https://salt.example.org:4510""",
    words=(),
    rows=(
        Row(
            flag="--no-browser",
            dest="browser",
            kind="off",
            default=True,
            help="print the address without opening it",
        ),
        Row(
            flag="--url",
            dest="url",
            metavar="URL",
            help="the address of the controller for your browser (default: its own setting)",
        ),
        CONTROLLER_ROW,
    ),
)


def main(argv: list[str]) -> int:
    args = parse(LINE, argv)
    with connect(args) as client:
        url = console_url(client, args)
    print(url)
    sys.stdout.flush()
    if args.browser:
        _open(url)
    return exits.OK


def console_url(client: Client, args: SimpleNamespace) -> str:
    """The address of the console: a sign-in link for an admin on the socket, else its first page."""
    where = parse_address(address(args))
    return link_url(_link(client), args.url) if where.socket else f"{where}/"


def link_url(link: dict[str, Any], given: str | None) -> str:
    """The page that takes the code of a sign-in link, at the address for browsers."""
    from urllib.parse import quote

    url = (given or link["url"]).rstrip("/")
    if not url:
        what = "the controller listens on its socket only, where no browser reaches it"
        fix = "set `api.host` and `api.port` in controller.yaml, or put a proxy in front of the socket"
        raise OperationError(Diagnostic(code="console-no-address", what=what, fix=fix))
    return f"{url}{link['path']}?code={quote(link['code'])}"


def _link(client: Client) -> dict[str, Any]:
    try:
        return client.own.make_link()
    except ControllerError as problem:
        if problem.status not in (401, 403):
            raise
        what = "only root on the controller, and the user that runs it, get a link to sign in"
        fix = "open the address of the controller with --controller https://HOST:PORT, and sign in there"
        raise OperationError(Diagnostic(code="console-no-link", what=what, fix=fix)) from None


def _open(url: str) -> None:
    """Open the address; without a browser, the printed address is enough."""
    import webbrowser

    try:
        webbrowser.open(url)
    except webbrowser.Error:
        pass
