"""The agent as a service of the machine: a systemd unit, and an init script for machines without systemd."""

from __future__ import annotations

import os

from saltern.system import own_program, services
from saltern.system.services import Piece, boot_pieces

NAME = "saltern-agent"
LINKS = (
    *(f"rc{level}.d/S99" for level in (2, 3, 4, 5)),
    *(f"rc{level}.d/K01" for level in (0, 1, 6)),
)

UNIT = """\
[Unit]
Description=saltern agent
Documentation=man:saltern-agent(1)
After=local-fs.target network-online.target time-sync.target
Wants=network-online.target
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart={command}
Environment=MALLOC_ARENA_MAX=1
Restart=always
RestartSec=5
# Workers have control groups of their own; one that could not get one must not end with the agent either.
KillMode=process
TimeoutStopSec=15
OOMPolicy=continue
TasksMax=infinity
RuntimeDirectory=saltern
RuntimeDirectoryMode=0755
RuntimeDirectoryPreserve=yes
StateDirectory=saltern/agent
StateDirectoryMode=0700
UMask=0077
LimitCORE=0
KeyringMode=private
# No restriction that children inherit (ProtectSystem=, NoNewPrivileges=, …): a worker applies states, and
# must be able to change all of the machine.

[Install]
WantedBy=multi-user.target
"""

SCRIPT = """\
#!/bin/sh
### BEGIN INIT INFO
# Provides:          {name}
# Required-Start:    $local_fs $remote_fs
# Required-Stop:     $local_fs $remote_fs
# Should-Start:      $network $time $syslog
# Should-Stop:       $network
# Default-Start:     2 3 4 5
# Default-Stop:      0 1 6
# Short-Description: saltern agent
### END INIT INFO

pid=/run/{name}.pid

# A process id may belong to another program by now.
running() {{
    [ -s "$pid" ] && tr '\\0' ' ' 2>/dev/null <"/proc/$(cat "$pid")/cmdline" | grep -q ' saltern agent run '
}}

case "$1" in
    start|'')
        running && exit 0
        umask 077
        mkdir -p /run/saltern && chmod 755 /run/saltern
        setsid sh -c 'echo $$ > "$0"; exec "$@"' "$pid" {command} </dev/null >/dev/null 2>&1 &
        ;;
    stop)
        # Only the agent: its workers continue. It is gone when this returns.
        if running; then
            kill "$(cat "$pid")"
            tries=0
            while running; do
                tries=$((tries + 1))
                [ "$tries" -lt 75 ] || kill -9 "$(cat "$pid")"
                sleep 0.2
            done
        fi
        rm -f "$pid"
        ;;
    restart|force-reload)
        "$0" stop
        "$0" start
        ;;
    status)
        if running; then echo "{name} runs"; else echo "{name} does not run"; exit 3; fi
        ;;
    *)
        echo "usage: $0 {{start|stop|restart|status}}" >&2
        exit 3
        ;;
esac
"""


def pieces(directory: str = "", python: str = "") -> list[Piece]:
    """All files that are installed for the service."""
    words = ("agent", "run", *(("--directory", directory) if directory else ()))
    program, *rest = own_program.command("saltern", words, python=python)
    command = [program, "-OO", *rest]
    return boot_pieces(NAME, UNIT, SCRIPT, command, LINKS)


def install(root: str = "/", *, directory: str = "", python: str = "") -> list[str]:
    """Write missing files below ``root``; return those that were written."""
    written = [piece.place for piece in pieces(directory, python) if services.put(root, piece)]
    if written and root == "/":
        services.reload_units()
    return written


def remove(root: str = "/") -> list[str]:
    """Remove what ``install`` has written; return the files that existed."""
    found = [piece.place for piece in pieces() if os.path.lexists(services.below(root, piece.place))]
    for place in found:
        os.remove(services.below(root, place))
    if found and root == "/":
        services.reload_units()
    return found
