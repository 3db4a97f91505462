"""The answer to a request that fails: ``{"code", "what", "fix"}`` and a status."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from saltern.fleet.access.ports import ACTIONS, Decision, Principal
from saltern.language.diagnostics import CompileError, Diagnostic, SalternError

# A code → the status of its answer. A trailing ``*`` stands for all codes with that prefix.
STATUSES: dict[str, int] = {
    "api-*": 400,
    "database-*": 503,
    "fleet-broker-*": 503,
    "*-unknown": 404,
    "*-invalid": 422,
    "*-weak": 422,
    "login-failed": 401,
    "login-throttled": 429,
    "approvals-too-many": 429,
    "login-refused": 401,
    "oidc-provider": 502,
    "pam-service": 503,
    "policy-file": 422,
    "chain-edited": 409,
    "chain-archived": 409,
    "approval-own": 403,
    "login-way": 403,
    "not-allowed": 403,
    "outside-scope": 403,
    "needs-approval": 403,
    "token-refused": 403,
    "token-life": 422,
    "fleet-target*": 422,
    "fleet-submission": 422,
    "fleet-group": 422,
    "fleet-token-limits": 422,
}
OF_STATES = 422  # the request is understood, and what it names does not compile
OF_OPERATIONS = 409  # the current state does not allow it


class Problem(Struct, frozen=True, kw_only=True):
    """What is wrong, and what to do. ``code`` has a page: ``saltern explain CODE``."""

    code: str
    what: str
    fix: str = ""


class ApiError(SalternError):
    """The request is refused with this status."""

    def __init__(self, status: int, problem: Diagnostic, headers: dict[str, str] | None = None) -> None:
        super().__init__(problem)
        self.status = status
        self.headers = headers or {}


def answer_of(error: SalternError) -> tuple[int, Problem]:
    """The status and the body for an error. Further problems of the same error follow in ``what``."""
    first = error.diagnostics[0]
    what = "; ".join(f"{one.where}: {one.what}" if one.where else one.what for one in error.diagnostics)
    return status_of(error), Problem(code=first.code, what=what, fix=first.fix)


def status_of(error: SalternError) -> int:
    if isinstance(error, ApiError):
        return error.status
    code = error.diagnostics[0].code
    found = (status for pattern, status in STATUSES.items() if _matches(pattern, code))
    return next(found, OF_STATES if isinstance(error, CompileError) else OF_OPERATIONS)


def _matches(pattern: str, code: str) -> bool:
    if pattern.startswith("*"):
        return code.endswith(pattern[1:])
    return code.startswith(pattern[:-1]) if pattern.endswith("*") else code == pattern


def denial(who: Principal, action: str, decision: Decision) -> ApiError:
    """The error for a request that the policy does not allow."""
    what = decision.why or f"{who.name} may not {ACTIONS[action].what}"
    fix = decision.fix or "ask an admin of the fleet for a role, or for a rule of the policy that allows it"
    found = Diagnostic(code="not-allowed", what=what, fix=fix)
    return ApiError(403, replace(found, code=decision.code or found.code))


# The commands that list what exists.
LISTS = {
    "job": "saltern jobs",
    "system": "saltern fleet systems",
    "system with facts": "saltern fleet systems",
    "operator": "saltern operators",
    "run": "saltern chain runs",
    "request for approval": "saltern approvals",
}


def unknown(kind: str, name: str) -> ApiError:
    """The error for something that does not exist."""
    listed = f"`{LISTS[kind]}` lists them" if kind in LISTS else "check the spelling, or list what exists"
    return ApiError(404, Diagnostic(code="api-not-found", what=f"there is no {kind} {name!r}", fix=listed))
