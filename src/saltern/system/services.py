"""Installs what makes a machine resume its runs at boot: a systemd unit and an init script."""

from __future__ import annotations

import os
from collections.abc import Sequence

from msgspec import Struct

from saltern.system import atomic, own_program

NAME = "saltern-resume"
LINKS = tuple(f"rc{level}.d/S99" for level in (2, 3, 4, 5))

UNIT = """\
[Unit]
Description=Resume the saltern runs that a reboot or a crash has broken
After=local-fs.target network-online.target
Wants=network-online.target

[Service]
Type=exec
ExecStart={command}
# A run ends in order when it is asked to; what it has started must not be killed before that.
KillMode=mixed
TimeoutStopSec=90
# 2: a state has failed, 6: it reboots once more, 130: the machine goes down. None is a fault of the service.
SuccessExitStatus=2 6 130

[Install]
WantedBy=multi-user.target
"""

SCRIPT = """\
#!/bin/sh
### BEGIN INIT INFO
# Provides:          {name}
# Required-Start:    $local_fs $remote_fs
# Required-Stop:
# Should-Start:      $network $time $syslog
# Default-Start:     2 3 4 5
# Default-Stop:
# Short-Description: resume the saltern runs that a reboot or a crash has broken
### END INIT INFO

case "$1" in
    start|'')
        {command} </dev/null >/dev/null 2>&1 &
        ;;
    stop|status|restart|force-reload)
        ;;
    *)
        echo "usage: $0 start" >&2
        exit 3
        ;;
esac
"""

# For an update that was in progress when the machine went down: a build that does not start is replaced by
# the old one.
LAUNCHER = """\
#!/bin/sh
if [ -f {slots}/updating ] && ! {slots}/current/bin/python -P -m saltern --version >/dev/null 2>&1; then
    old=$(readlink {slots}/previous)
    if [ -n "$old" ] && [ "$old" != "$(readlink {slots}/current)" ]; then
        cp {slots}/updating {slots}/rolled-back
        ln -s "$old" {slots}/current.boot && mv -T {slots}/current.boot {slots}/current
    fi
fi
exec {slots}/current/bin/python -P -m saltern resume --boot{options}
"""


class Piece(Struct, frozen=True):
    """One file, or a link if it has a ``target``."""

    place: str
    text: str = ""
    mode: int = 0o644
    target: str = ""


def pieces(slots: str = "", python: str = "", config: str = "") -> list[Piece]:
    """The files to install. With ``slots``, they start the current build there; otherwise this one."""
    words = own_program.command("saltern", ("resume", "--boot"), python=python)
    options = ["--config", config] if config else []
    launcher = []
    if slots:
        text = LAUNCHER.format(slots=slots, options="".join(f" {shell_word(word)}" for word in options))
        words, options = [os.path.join(slots, "at-boot")], []
        launcher = [Piece(words[0], text, 0o755)]
    command = [*words, *options]
    return [*launcher, *boot_pieces(NAME, UNIT, SCRIPT, command, LINKS)]


def boot_pieces(
    name: str, unit: str, script: str, command: Sequence[str], links: Sequence[str]
) -> list[Piece]:
    """A systemd unit and an init script that start ``command`` at boot; ``links`` are those to the script."""
    unit_place = f"/etc/systemd/system/{name}.service"
    return [
        Piece(unit_place, unit.format(command=" ".join(map(unit_word, command)))),
        Piece(f"/etc/systemd/system/multi-user.target.wants/{name}.service", target=unit_place),
        Piece(
            f"/etc/init.d/{name}", script.format(name=name, command=" ".join(map(shell_word, command))), 0o755
        ),
        *(Piece(f"/etc/{link}{name}", target=f"../init.d/{name}") for link in links),
    ]


def shell_word(word: str) -> str:
    """A word of a command for sh."""
    from shlex import quote

    return quote(word)


def unit_word(word: str) -> str:
    """A word of a command in a systemd unit, where ``%`` and ``$`` have a meaning even in quotes."""
    text = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return text if text == word and not any(letter in word for letter in " \t;'") else f'"{text}"'


def install(root: str = "/", *, slots: str = "", python: str = "", config: str = "") -> list[str]:
    """Write the missing files below ``root``, and return them."""
    written = [piece.place for piece in pieces(slots, python, config) if put(root, piece)]
    if written and root == "/":
        reload_units()
    return written


def reload_units() -> None:
    """Let a running systemd read its units again."""
    if os.path.isdir("/run/systemd/system"):
        import subprocess

        subprocess.run(["systemctl", "daemon-reload"], check=False)


def remove(root: str = "/", *, slots: str = "") -> list[str]:
    """Remove the files of ``install``; return those that existed."""
    found = [piece.place for piece in pieces(slots) if os.path.lexists(below(root, piece.place))]
    for place in found:
        os.remove(below(root, place))
    return found


def is_installed(root: str = "/") -> bool:
    """True if a link starts the service at boot."""
    return any(os.path.lexists(below(root, piece.place)) for piece in pieces() if piece.target)


def put(root: str, piece: Piece) -> bool:
    place = below(root, piece.place)
    if _is_so(place, piece):
        return False
    os.makedirs(os.path.dirname(place), exist_ok=True)
    if piece.target:
        atomic.link(place, piece.target)
    else:
        atomic.write(place, piece.text.encode(), mode=piece.mode)
    return True


def _is_so(place: str, piece: Piece) -> bool:
    if piece.target or os.path.islink(place):
        return os.path.islink(place) and os.readlink(place) == piece.target
    try:
        with open(place, encoding="utf-8", errors="replace") as file:
            return file.read() == piece.text and os.stat(place).st_mode & 0o777 == piece.mode
    except OSError:
        return False


def below(root: str, place: str) -> str:
    return os.path.join(root, place.lstrip("/"))
