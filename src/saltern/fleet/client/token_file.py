"""What ``saltern login`` keeps: for each controller a token, and the CA that it is trusted by."""

from __future__ import annotations

import json
import os
import stat
from typing import Any

from msgspec import Struct

from saltern.language.diagnostics import Diagnostic, OperationError

NAME = "login.json"


class Login(Struct, frozen=True, kw_only=True):
    """A session or an API token of one controller, and its CA (PEM), or nothing."""

    address: str
    token: str
    name: str = ""
    expires: float | None = None
    ca: str = ""


def default_path(environment: dict[str, str] | os._Environ[str] = os.environ) -> str:
    """Where logins are kept: ``SALTERN_LOGIN``, or a file of the user's configuration."""
    if given := environment.get("SALTERN_LOGIN"):
        return given
    base = environment.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "saltern", NAME)


def load_login(path: str, address: str) -> Login | None:
    """What is kept for this controller; None if nothing is."""
    found = _read(path).get(address)
    return Login(address=address, **found) if found is not None else None


def logins(path: str) -> list[Login]:
    return [Login(address=address, **found) for address, found in sorted(_read(path).items())]


def save_login(path: str, login: Login) -> None:
    """Keep it, readable by its owner alone."""
    kept = {"token": login.token, "name": login.name, "expires": login.expires, "ca": login.ca}
    _write(path, {**_read(path), login.address: kept})


def remove_login(path: str, address: str) -> bool:
    """Forget what is kept for this controller; False if nothing was."""
    found = _read(path)
    if address not in found:
        return False
    _write(path, {name: one for name, one in found.items() if name != address})
    return True


def _read(path: str) -> dict[str, dict[str, Any]]:
    try:
        with open(path, encoding="utf-8") as file:
            _check_private(path, os.fstat(file.fileno()))
            found = json.load(file)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as problem:
        raise _unreadable(path, str(problem)) from None
    if not isinstance(found, dict) or not all(_is_login(one) for one in found.values()):
        raise _unreadable(path, "it has another shape")
    return found


def _is_login(one: object) -> bool:
    """True for what ``save_login`` writes."""
    return (
        isinstance(one, dict)
        and one.keys() <= {"token", "name", "expires", "ca"}
        and all(isinstance(one.get(name, ""), str) for name in ("token", "name", "ca"))
        and "token" in one
    )


def _write(path: str, logins: dict[str, dict[str, Any]]) -> None:
    """Replace the file as a whole, so that a reader never sees a part of it."""
    os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
    new = f"{path}.{os.getpid()}"
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o600)
        json.dump(logins, file, indent=1, sort_keys=True)
    os.replace(new, path)


def _check_private(path: str, found: os.stat_result) -> None:
    if stat.S_IMODE(found.st_mode) & 0o077:
        what = f"others can read the tokens in {path}"
        fix = f"chmod 600 {path}; then log out and in again, because the tokens may be known"
        raise OperationError(Diagnostic(code="login-exposed", what=what, fix=fix))


def _unreadable(path: str, why: str) -> OperationError:
    what = f"the file of logins {path} cannot be read: {why}"
    return OperationError(Diagnostic(code="login-unreadable", what=what, fix="remove it, and log in again"))
