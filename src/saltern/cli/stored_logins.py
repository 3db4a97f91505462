"""Stored logins: for each controller a token, and the certificate authority that is trusted for it.

One JSON file of the user, readable by no other user. ``SALTERN_TOKEN`` takes precedence.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

import msgspec
from msgspec import Struct

from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system.private import make_private

FILE = "saltern/logins.json"


class Login(Struct, frozen=True, kw_only=True):
    """The stored data for one controller; ``ca`` is PEM, empty for the authorities that the machine
    trusts.
    """

    token: str = ""
    name: str = ""
    expires: float = 0.0
    ca: str = ""


def path_of(environ: Mapping[str, str]) -> str:
    home = environ.get("XDG_CONFIG_HOME") or os.path.join(environ.get("HOME") or "~", ".config")
    return os.path.join(os.path.expanduser(home), FILE)


def stored_login(address: str, environ: Mapping[str, str], now: float | None = None) -> Login:
    """The login for a controller; without a token if there is none, or if it has expired."""
    found = _read(path_of(environ)).get(address, Login())
    if found.expires and found.expires <= (time.time() if now is None else now):
        found = Login(ca=found.ca, name=found.name)
    token = environ.get("SALTERN_TOKEN", "")
    return Login(token=token, ca=found.ca) if token else found


def store_login(address: str, login: Login | None, environ: Mapping[str, str]) -> None:
    """Store a login; None deletes it."""
    path = path_of(environ)
    known = _read(path)
    known.pop(address, None)
    if login is not None:
        known[address] = login
    import json

    from saltern.system import atomic

    make_private(os.path.dirname(path))
    data = {name: {key: getattr(one, key) for key in Login.__struct_fields__} for name, one in known.items()}
    atomic.write(path, json.dumps(data, indent=1).encode())


def _read(path: str) -> dict[str, Login]:
    try:
        with open(path, encoding="utf-8") as file:
            _check_private(path, os.fstat(file.fileno()))
            data = msgspec.json.decode(file.read())
        return {
            name: Login(**{key: one[key] for key in Login.__struct_fields__}) for name, one in data.items()
        }
    except FileNotFoundError:
        return {}
    except (msgspec.DecodeError, ValueError, TypeError, KeyError, AttributeError):
        raise _problem(
            f"the file of logins {path} is damaged", f"remove it and log in again: rm {path}"
        ) from None


def _check_private(path: str, status: os.stat_result) -> None:
    if status.st_uid not in (os.geteuid(), 0) or status.st_mode & 0o077:
        raise _problem(f"other users can read the logins in {path}", f"chmod 600 {path}, and log in again")


def _problem(what: str, fix: str) -> OperationError:
    return OperationError(Diagnostic(code="login-file", what=what, fix=fix))
