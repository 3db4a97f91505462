"""``PROBLEMS``: why a host could not be used, one sentence each, and how each is recognised."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from saltern.language.diagnostics import Diagnostic


class Problem(Struct, frozen=True, kw_only=True):
    """One class of problem. ``signs`` are found in standard error, ``codes`` are exit codes of our own."""

    code: str
    what: str
    fix: str
    signs: tuple[str, ...] = ()
    codes: tuple[int, ...] = ()
    again: bool = False  # may succeed later without changes


PROBLEMS: dict[str, Problem] = {
    "host-key-changed": Problem(
        code="ssh-host-key-changed",
        what="its host key is not the one that is known",
        fix="if it was reinstalled, remove the old key: ssh-keygen -R ADDRESS; else another machine answers",
        signs=(r"REMOTE HOST IDENTIFICATION HAS CHANGED", r"host key .* has changed"),
    ),
    "host-key-unknown": Problem(
        code="ssh-host-key-unknown",
        what="its host key is not known",
        fix="connect once by hand to compare and accept it, or use --accept-new-keys",
        signs=(
            r"Host key verification failed",
            r"No \S+ host key is known for",
            r"no matching known host key",
        ),
    ),
    "auth": Problem(
        code="ssh-auth",
        what="it refuses the login",
        fix="check user, key and ssh-agent: ssh USER@ADDRESS true must work; passwords need --ask-password",
        signs=(
            r"Permission denied \(",  # messages of ssh, not of a program on the host
            r"Permission denied, please try again",
            r"Too many authentication failures",
            r"Load key .*(invalid|incorrect|Permission)",
            r"no mutual signature",
        ),
    ),
    "refused": Problem(
        code="ssh-refused",
        what="nothing listens on its port",
        fix="is sshd running there, and is the port right?",
        signs=(r"Connection refused",),
        again=True,
    ),
    "going-down": Problem(
        code="ssh-going-down",
        what="it is going down or has just come up",
        fix="wait until it lets users in again",
        signs=(
            r"System is going down",
            r"System is booting up",
            r"pam_nologin",
            r"Unprivileged users are not permitted",
        ),
        again=True,
    ),
    "timeout": Problem(
        code="ssh-timeout",
        what="it did not answer in time",
        fix="is it up, and does a firewall drop packets? --connect-timeout waits longer",
        signs=(r"Connection timed out", r"Operation timed out", r"Timeout, server .* not responding"),
        again=True,
    ),
    "unreachable": Problem(
        code="ssh-unreachable",
        what="it cannot be reached",
        fix="check its name, the network and the way through jump hosts",
        signs=(
            r"Could not resolve hostname",
            r"No route to host",
            r"Network is unreachable",
            r"Name or service not known",
            r"stdio forwarding failed",
            r"Connection closed by UNKNOWN port",
        ),
        again=True,
    ),
    "busy": Problem(
        code="ssh-busy",
        what="it accepts no more logins at the moment",
        fix="use fewer --connections, or allow more with MaxStartups in its sshd_config",
        signs=(
            r"(kex|ssh)_exchange_identification: (read: )?Connection (closed|reset)",
            r"Exceeded MaxStartups",
            r"Not allowed at this time",
        ),
        again=True,
    ),
    "no-login": Problem(
        code="ssh-no-login",
        what="the account there allows no commands",
        fix="use an account with a shell",
        signs=(
            r"This account is currently not available",
            r"account has expired",
            r"allows .* sftp connections only",
        ),
    ),
    "become-password": Problem(
        code="ssh-become-password",
        what="it asks for a password to change the user",
        fix="use --ask-become-password, or allow the user to become root without one",
        signs=(
            r"a password is required",
            r"a terminal is required",
            r"must have a tty",
            r"doas: (Authentication required|a tty is required)",
        ),
    ),
    "become": Problem(
        code="ssh-become",
        what="it does not allow the change of user",
        fix="check sudoers or doas.conf, and the password",
        signs=(
            r"is not in the sudoers file",
            r"is not allowed to run sudo",
            r"Sorry, (try again|user)",
            r"(^|\s)(sudo|doas|su): ",  # any other message of these programs
            r"(sudo|doas|su): (command )?not found",
        ),
    ),
    "no-interpreter": Problem(
        code="ssh-no-interpreter",
        what="it has no Python 3.11 or newer (CPython, not a free-threaded build)",
        fix="install one there (package python3 of a current distribution), or name one in the roster or"
        " inventory: python: /path/to/python3, ansible_python_interpreter=/path/to/python3",
        codes=(83,),
    ),
    "no-directory": Problem(
        code="ssh-no-directory",
        what="it has no directory where saltern could be put: all are full, read-only or without execution",
        fix="name one in the roster: thin_dir: /path",
        codes=(85,),
    ),
    "no-space": Problem(
        code="ssh-no-space",
        what="its disk is full",
        fix="free some space, or name another directory in the roster: thin_dir: /path",
        signs=(r"No space left on device", r"Disk quota exceeded"),
        codes=(86,),
    ),
    "no-password": Problem(
        code="ssh-no-password",
        what="its password cannot be obtained",
        fix="check the command that the roster names for it",
    ),
    "no-ssh": Problem(
        code="ssh-no-ssh",
        what="there is no ssh on this machine",
        fix="install OpenSSH's client (package openssh-client)",
    ),
    "garbage": Problem(
        code="ssh-garbage",
        what="the answer is not from saltern",
        fix="log in by hand and check what the shell prints; profile files must not start other programs",
    ),
    "cut": Problem(
        code="ssh-cut",
        what="the connection was cut",
        fix="the run continues there; find it again with the same command and --resume",
        signs=(
            r"Connection reset by peer",
            r"Broken pipe",
            r"client_loop: send disconnect",
            r"Connection closed by",
        ),
        again=True,
    ),
}
MOST_SHOWN = 300


class Unreached(Exception):
    """A host could not be used: the class of the problem, and what the host or ssh said."""

    def __init__(self, kind: str, said: str = "") -> None:
        super().__init__(kind)
        self.kind = kind
        self.said = said.strip()

    def __str__(self) -> str:
        return f"{PROBLEMS[self.kind].what}{f' ({_short(self.said)})' if self.said else ''}"

    def diagnostic(self) -> Diagnostic:
        problem = PROBLEMS[self.kind]
        return Diagnostic(code=problem.code, what=str(self), fix=problem.fix)


def classify(code: int | None, errors: str) -> str:
    """The class of problem that an exit code and standard error indicate; ``cut`` if they indicate none."""
    for kind, problem in PROBLEMS.items():
        if code in problem.codes:
            return kind
    return next(_by_signs(errors), "cut" if code in (None, 255) else "garbage")


def _by_signs(errors: str) -> Iterator[str]:
    for kind, problem in PROBLEMS.items():
        if any(re.search(sign, errors, re.IGNORECASE | re.MULTILINE) for sign in problem.signs):
            yield kind


def _short(said: str) -> str:
    """The last lines, without control characters."""
    lines = [line.strip() for line in said.splitlines() if line.strip().strip("@")]
    text = " / ".join(lines[-3:])
    return "".join(one if one.isprintable() else "?" for one in text)[-MOST_SHOWN:]
