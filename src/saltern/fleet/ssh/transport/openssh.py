"""The ssh of the system: it knows the user's configuration, keys, agents and jump hosts.

The first channel to a host leaves a connection behind for a while, which the next ones use.
"""

from __future__ import annotations

import hashlib
import os
import stat

from msgspec import Struct

from saltern.fleet.ssh.problems import Unreached
from saltern.fleet.ssh.roster.host import Host
from saltern.fleet.ssh.transport.ports import Channel, Secrets
from saltern.fleet.ssh.transport.process import start
from saltern.fleet.ssh.transport.secret import lend, path_of
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system import atomic
from saltern.system.private import make_private

# ssh asks a program for passwords. It must not answer other questions, such as that about a host key.
ASKPASS = '#!/bin/sh\ncase "$1" in *assword*) exec cat "$SALTERN_SECRET";; *) exit 1;; esac\n'
LONGEST_DIRECTORY = 40  # ssh adds a digest and a suffix, and a socket's path has 108 characters in all


class SshOptions(Struct, frozen=True, kw_only=True):
    """How connections are made. ``keep``: for how many seconds one without channels stays."""

    program: str = "ssh"
    config: str = ""
    known_hosts: str = ""
    accept_new: bool = False
    connect_limit: float = 15.0
    alive_interval: int = 15
    keep: int = 60
    directory: str = ""


class OpenSsh:
    """Starts one ``ssh`` for each channel. ``secrets`` gives the password of a host that has one."""

    def __init__(self, options: SshOptions, secrets: Secrets) -> None:
        self._options = options
        self._secrets = secrets
        self._directory = socket_directory(options.directory)

    async def open(self, host: Host, command: str) -> Channel:
        argv = [*arguments(host, self._options, self._directory), command]
        try:
            if not host.password:
                return await start(argv, os.environ)
            handle = lend(await self._secrets(host, "login"))
            return await start(argv, self._password_environment(handle), handle)
        except FileNotFoundError:
            raise Unreached("no-ssh", self._options.program) from None

    def _password_environment(self, handle: int) -> dict[str, str]:
        """The environment of an ssh that asks our program for the password."""
        return {
            **os.environ,
            "SSH_ASKPASS": self._askpass(),
            "SSH_ASKPASS_REQUIRE": "force",
            "SALTERN_SECRET": path_of(handle),
        }

    def _askpass(self) -> str:
        path = os.path.join(self._directory, "askpass")
        if not os.path.exists(path):
            atomic.write(path, ASKPASS.encode(), mode=0o700, durable=False)
        return path

    async def close(self) -> None:
        """Nothing to do: connections end by themselves."""


def arguments(host: Host, options: SshOptions, directory: str) -> list[str]:
    """The command line of ssh up to the command. No value of a roster can become an option."""
    limit = host.connect_limit or options.connect_limit
    settings = [
        f"BatchMode={'no' if host.password else 'yes'}",
        "NumberOfPasswordPrompts=1",
        f"ConnectTimeout={max(1, round(limit))}",
        f"ServerAliveInterval={options.alive_interval}",
        "ServerAliveCountMax=3",
        "ForwardX11=no",
        "ClearAllForwardings=yes",
        "PermitLocalCommand=no",
        "ControlMaster=auto",
        f"ControlPath={directory}/{_tag(host, options)}%C",
        f"ControlPersist={options.keep}",
        *host.settings,
    ]
    if options.known_hosts:
        settings.append(f"UserKnownHostsFile={_quote(options.known_hosts)}")
    if options.accept_new:
        settings.append("StrictHostKeyChecking=accept-new")
    config = host.config or options.config
    argv = [options.program, *(["-F", config] if config else [])]
    argv += [word for setting in settings for word in ("-o", setting)]
    argv += [word for key in host.keys for word in ("-i", os.path.expanduser(key))]
    argv += ["-J", host.jump] if host.jump else []
    argv += ["-l", host.user] if host.user else []
    argv += ["-p", str(host.port)] if host.port else []
    return [*argv, "-tt" if host.terminal else "-T", "--", host.address]


def _tag(host: Host, options: SshOptions) -> str:
    """A tag that separates connections made in different ways: a reused connection checks no key."""
    made = repr((host.keys, host.settings, options.known_hosts, host.config or options.config))
    return hashlib.sha256(made.encode()).hexdigest()[:4]


def _quote(path: str) -> str:
    escaped = path.replace('"', '\\"')
    return f'"{escaped}"'


def socket_directory(wanted: str = "") -> str:
    """A directory of this user alone, with a short path, for the connections that are kept."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    base = wanted or (os.path.join(runtime, "saltern-ssh") if runtime and os.path.isdir(runtime) else "")
    if not base or len(base) > LONGEST_DIRECTORY:
        base = f"/tmp/saltern-ssh-{os.getuid()}"
    make_private(base)
    status = os.lstat(base)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        what = f"the directory {base} for connections is not this user's alone"
        raise OperationError(Diagnostic(code="ssh-directory", what=what, fix=f"remove it: rm -r {base}"))
    return base
