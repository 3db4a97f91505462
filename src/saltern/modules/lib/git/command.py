"""Run the program ``git`` as a user, with a login for remotes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TypedDict

from msgspec import Struct, field

from saltern.language.mask import mask
from saltern.modules.api.context import Context
from saltern.modules.api.params import Unused
from saltern.modules.api.programs import complaint, program
from saltern.modules.api.refused import Refused
from saltern.system.foreign import foreign_directory
from saltern.system.paths import open_directory, settle
from saltern.system.process import Ran

# Arguments do not become part of these texts: git passes them to a shell, which reads the variables.
CREDENTIALS = '!f() { printf "username=%s\\npassword=%s\\n" "$SALTERN_GIT_USER" "$SALTERN_GIT_SECRET"; }; f'
SSH = "ssh -o BatchMode=yes -o StrictHostKeyChecking=accept-new -o IdentitiesOnly=yes"


class LoginArguments(TypedDict, total=False):
    """Who runs git for a state, and the login for the remote.

    Args:
        user: the user who runs git and owns the working copy.
        identity: private key files for ssh. The remote's host key is accepted if it is new, and
            refused if it differs from the known one.
        https_user, https_pass: the login for https; it is not stored.
    """

    user: str | None
    identity: object
    https_user: str | None
    https_pass: str | None
    _: Unused


class Login(Struct, frozen=True, kw_only=True):
    """The login for the remote: key files for ssh, a name and a password for https."""

    identity: tuple[str, ...] = ()
    https_user: str | None = None
    https_pass: str | None = field(default=None)

    def __repr__(self) -> str:
        return "Login(…)"


ANONYMOUS = Login()


def login(identity: object, https_user: str | None = None, https_pass: str | None = None) -> Login:
    """The login from the arguments. Raises for a missing key file, or a password without a name."""
    if https_pass and not https_user:
        raise Refused("https_pass needs https_user")
    listed = identity if isinstance(identity, list) else [identity] if identity else []
    keys = tuple(os.path.expanduser(str(key)) for key in listed)
    for key in keys:
        if "://" in key or not os.path.isabs(key):
            raise Refused(f"identity {key!r} must be the absolute path of a private key on this machine")
        if not os.path.isfile(key):
            raise Refused(f"identity {key} does not exist", later=True)
    return Login(identity=keys, https_user=https_user, https_pass=https_pass)


class Git:
    """Runs git in one directory, as one user."""

    def __init__(
        self,
        ctx: Context,
        path: str | None = None,
        *,
        user: str | None = None,
        login: Login = ANONYMOUS,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.ctx = ctx
        self.path = path
        self.user = user
        self._login = login
        self._env = {**_environment(login), **(env or {})}

    def ran(self, *words: str, stdin: str | None = None) -> Ran:
        if self.path and self.is_exposed(self.path):
            return self._ran_by_handle(self.path, words, stdin)
        where = ["-C", self.path] if self.path else []
        return program(self.ctx, ["git", *where, *words], user=self.user, env=self._env, stdin=stdin)

    def is_exposed(self, path: str) -> bool:
        """True if git would run as root where another user can replace directories."""
        return (self.user or self.ctx.runas) in (None, "root") and foreign_directory(path) is not None

    def _ran_by_handle(self, path: str, words: Sequence[str], stdin: str | None) -> Ran:
        """Run git in a directory that is held open: it works relative to it, even if the path is replaced."""
        fd = open_directory(settle(path))
        try:
            place = f"/proc/{os.getpid()}/fd/{fd}"
            return program(self.ctx, ["git", *words], cwd=place, user=self.user, env=self._env, stdin=stdin)
        finally:
            os.close(fd)

    def out(self, *words: str, stdin: str | None = None, what: str = "") -> str:
        """The output of git. Raises with git's own message if it fails."""
        ran = self.ran(*words, stdin=stdin)
        if ran.code:
            reported = what or f"git {words[0]} failed"
            raise Refused(complaint(ran, "git", what=reported, secrets=(self._login.https_pass,)))
        return ran.out.rstrip()

    def maybe(self, *words: str) -> str:
        """The output of git; empty if it fails."""
        ran = self.ran(*words)
        return "" if ran.code else ran.out.rstrip()

    def at(self, path: str, env: Mapping[str, str] | None = None) -> Git:
        return Git(self.ctx, path, user=self.user, login=self._login, env={**self._env, **(env or {})})


def git_with(ctx: Context, given: LoginArguments) -> Git:
    """Git as the user, and with the login, of these arguments."""
    key = login(given.get("identity"), given.get("https_user"), given.get("https_pass"))
    return Git(ctx, user=given.get("user"), login=key)


def _environment(login: Login) -> dict[str, str]:
    env = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
    if login.identity:
        keys = {f"SALTERN_GIT_KEY_{number}": key for number, key in enumerate(login.identity)}
        env |= keys
        env["GIT_SSH_COMMAND"] = " ".join([SSH, *(f'-i "${name}"' for name in keys)])
    else:
        env["GIT_SSH_COMMAND"] = "ssh -o BatchMode=yes"
    if login.https_user:
        env |= {"SALTERN_GIT_USER": login.https_user, "SALTERN_GIT_SECRET": login.https_pass or ""}
        env |= {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "credential.helper"}
        env["GIT_CONFIG_VALUE_0"] = CREDENTIALS
    return env


def shown_url(url: str) -> str:
    """A URL without its password."""
    return mask(url)


def lines(text: str) -> Sequence[str]:
    return [line for line in text.splitlines() if line]
