"""Accounts of the controller's host: PAM checks the password and whether the account may be used."""

from __future__ import annotations

import grp
import os
import pwd
import re

from saltern.fleet.access.policy import Pam
from saltern.language.diagnostics import Diagnostic, OperationError

FOLDERS = ("/etc/pam.d", "/usr/lib/pam.d")
USER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,31}\$?")


def pam_groups(settings: Pam, name: str, password: str) -> tuple[str, ...] | None:
    """The groups of a user, as ``pam:NAME``, if the password is right; None if they may not log in.

    PAM is asked first, even for a name that does not exist, so that the answer takes the same time.
    """
    from pam import PamAuthenticator

    check_service(settings.service)
    if not USER.fullmatch(name) or "\0" in password:
        return None
    asked = PamAuthenticator()
    is_right = asked.authenticate(name, password, service=settings.service, resetcreds=False)
    groups = unix_groups(name)
    if not is_right or not password or groups is None:
        return None
    if settings.groups and not groups & frozenset(settings.groups):
        return None
    return tuple(sorted(f"pam:{group}" for group in groups))


def check_service(service: str) -> None:
    """Refuse a service without a file: PAM would fall back to ``other``, which may let everyone in."""
    if not any(os.path.isfile(os.path.join(folder, service)) for folder in FOLDERS):
        what = f"there is no PAM service {service!r} on the controller"
        fix = f"write {FOLDERS[0]}/{service}, with '@include common-auth' and '@include common-account'"
        raise OperationError(Diagnostic(code="pam-service", what=what, fix=fix))


def unix_groups(name: str) -> frozenset[str] | None:
    """The names of a user's groups; None if there is no such user."""
    try:
        user = pwd.getpwnam(name)
    except KeyError:
        return None
    return frozenset(filter(None, map(_group_name, os.getgrouplist(name, user.pw_gid))))


def _group_name(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return ""
