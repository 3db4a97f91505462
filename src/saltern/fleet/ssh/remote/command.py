"""The command line for ssh: a shell that finds a Python, which reads its program from the channel.

It contains no apostrophe, exclamation mark or line break, so that any shell accepts it in apostrophes, the
only quotes that csh has for this.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from saltern.fleet.ssh.roster.host import Host

MARK = b"saltern-ssh-1\n"
PROMPT = "saltern-password:"
NAMES = ("python3", "python3.14", "python3.13", "python3.12", "python3.11", "/usr/local/bin/python3")
OLDER, NONE = 84, 83
USAGE = 2  # what Pythons before 3.4 say to -I
_START = "; ".join(
    (
        "import sys",
        f"sys.version_info < (3, 11) and sys.exit({OLDER})",
        # libraries are compiled for the usual build: PyPy and builds without a global lock cannot load them
        f'sys.implementation.name == "cpython" and "t" not in sys.abiflags or sys.exit({OLDER})',
        "i, o = sys.stdin.buffer, sys.stdout.buffer",
        'o.write(b"' + MARK.decode().replace("\n", "\\n") + '")',
        "o.flush()",
        "n = int(i.readline() or 0)",
        'exec(compile(i.read(n), "bootstrap", "exec"))',
        "main(i, o, sys.argv[1])",
    )
)
_LOOP = (
    'for p in {names}; do if command -v "$p" >/dev/null 2>&1; then "$p" -I -c {start} {directory}; r=$?;'
    " [ $r -eq {older} ] || [ $r -eq {usage} ] || exit $r;"
    ' found="$found$p is $("$p" --version 2>&1); "; fi; done;'
    ' echo "${{found:-none of {names} is there}}" >&2; exit {none}'
)


def script(host: Host) -> str:
    """The text for the shell on the host."""
    names = (host.python,) if host.python else NAMES
    text = _LOOP.format(
        names=" ".join(map(_quote, names)),
        usage=USAGE,
        start=_double_quote(_START),
        directory=_quote(host.directory or ""),
        older=OLDER,
        none=NONE,
    )
    return f"stty raw -echo 2>/dev/null; {text}" if host.terminal else text


def command(host: Host) -> str:
    """The command line for ssh, with the program that changes the user before it."""
    inner = f"exec /bin/sh -c {shlex.quote(script(host))}"
    if not host.become:
        return inner
    return BECOME[host.become](host, f"/bin/sh -c {shlex.quote(script(host))}")


def _sudo(host: Host, inner: str) -> str:
    ask = f"-S -p {PROMPT}" if host.become_password else "-n"
    return f"exec sudo {ask} -H -u {shlex.quote(host.become_user)} -- {inner}"


def _doas(host: Host, inner: str) -> str:
    ask = "" if host.become_password else "-n "
    return f"exec doas {ask}-u {shlex.quote(host.become_user)} -- {inner}"


def _su(host: Host, inner: str) -> str:
    return f"exec su {shlex.quote(host.become_user)} -s /bin/sh -c {shlex.quote(inner)}"


BECOME = {"sudo": _sudo, "doas": _doas, "su": _su}


def _double_quote(text: str) -> str:
    """A word in double quotes of a shell."""
    escaped = "".join(f"\\{one}" if one in '"\\$`' else one for one in text)
    return f'"{escaped}"'


def _quote(text: str) -> str:
    return _double_quote(text)


def program() -> bytes:
    """What the remote Python reads first: the length of a program, and the program."""
    text = (Path(__file__).parent / "bootstrap.py").read_bytes()
    return f"{len(text)}\n".encode() + text
