"""Serves one editor, over stdin and stdout or over a connection."""

from __future__ import annotations

import os
import sys

from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.lsp.sites import Given

INTERRUPTED = 130  # like all our commands that a signal ends


def over_stdio(given: Given) -> None:
    """Serve an editor until it disconnects. Printed output goes to stderr, which editors log."""
    stdin, stdout = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    _serve(given, stdin, stdout)


def over_tcp(given: Given, host: str, port: int) -> None:
    """Wait for one editor, serve it, and return."""
    import socket

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family)
    except OSError as problem:
        what = f"cannot listen on {host}:{port}: {problem.strerror or problem}"
        raise OperationError(Diagnostic(code="lsp-address", what=what, fix="choose another port")) from None
    with listening:
        where = listening.getsockname()
        print(f"saltern lsp: listening on {where[0]}:{where[1]}", file=sys.stderr, flush=True)
        connection, _ = listening.accept()
    with connection, connection.makefile("rb") as stdin, connection.makefile("wb") as stdout:
        _serve(given, stdin, stdout)


def _serve(given: Given, stdin: object, stdout: object) -> None:
    try:
        from saltern.lsp.features import add_features
        from saltern.lsp.server import Server
    except ImportError as problem:
        if (problem.name or "").partition(".")[0] not in ("pygls", "lsprotocol", "cattrs", "attrs"):
            raise
        raise OperationError(
            Diagnostic(
                code="lsp-missing",
                what=f"the language server needs a package that is not installed: {problem.name}",
                fix="pip install 'saltern[lsp]'",
            )
        ) from None
    from saltern.lsp.termination import ended_by_signals
    from saltern.system.garbage import collect_from_now_on

    server = add_features(Server(given))
    collect_from_now_on()
    try:
        with ended_by_signals(server.end, INTERRUPTED):
            server.start_io(stdin, stdout)  # type: ignore[arg-type]
    finally:
        server.end()
