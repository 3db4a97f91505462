"""Problems between this machine and a controller, each with what, where and what to do."""

from __future__ import annotations

import socket
import sys

from saltern.fleet.client.address import Address
from saltern.language.diagnostics import Diagnostic, OperationError


class ControllerError(OperationError):
    """The controller refuses; ``status`` is the HTTP status, 0 if it could not be reached."""

    def __init__(self, problem: Diagnostic, status: int = 0, request_id: str = "") -> None:
        super().__init__(problem)
        self.status = status
        self.request_id = request_id

    @property
    def code(self) -> str:
        return self.diagnostics[0].code


class Unreachable(ControllerError):
    """No answer came from the controller."""


START = "start it with `saltern controller`, or name another one with --controller or SALTERN_CONTROLLER"
REACH = "check that it runs, and that its address is right (--controller, SALTERN_CONTROLLER)"


def unreachable(address: Address, problem: Exception) -> Unreachable:
    """Why no connection was made, or why it broke."""
    reason, fix = _reason(address, problem)
    what = f"the controller at {address} cannot be reached: {reason}"
    return Unreachable(Diagnostic(code="controller-unreachable", what=what, fix=fix))


def _reason(address: Address, problem: Exception) -> tuple[str, str]:
    if found := _tls_reason(problem):
        return found
    if isinstance(problem, socket.gaierror):
        return f"the name {address.host!r} is not known", "check the spelling of the address, and DNS"
    if isinstance(problem, FileNotFoundError):
        return "there is no such socket", START
    if isinstance(problem, PermissionError):
        return (
            "this user may not use its socket",
            "use sudo, or log in with `saltern login --controller https://HOST:PORT`",
        )
    if isinstance(problem, ConnectionRefusedError):
        return "nothing listens there", START if address.socket else REACH
    if isinstance(problem, TimeoutError):
        return "it does not answer in time", REACH
    return getattr(problem, "strerror", "") or str(problem) or type(problem).__name__, REACH


def _tls_reason(problem: Exception) -> tuple[str, str] | None:
    """What is wrong with TLS; None if the problem is another one."""
    if "ssl" not in sys.modules:
        return None
    import ssl

    if isinstance(problem, ssl.SSLCertVerificationError):
        fix = "run `saltern login` with the fingerprint that the controller printed, or name its CA"
        return f"its certificate is not trusted here: {problem.verify_message}", fix
    if isinstance(problem, ssl.SSLError):
        fix = "check that the address begins with https:// and the port"
        return f"TLS failed: {problem.reason or problem}", fix
    return None


def foreign(address: Address, status: int, text: str) -> ControllerError:
    """The problem of an answer that is not from saltern, but from another server or a proxy."""
    what = f"what answers at {address} is not a saltern controller (status {status}): {text[:120]!r}"
    fix = "check the address, its port, and the path below which a proxy serves it"
    return ControllerError(Diagnostic(code="controller-foreign", what=what, fix=fix), status)
