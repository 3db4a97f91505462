"""No test can take this machine down, whatever it starts.

Three locks, for each of them has a gap: saltern's own door refuses (``SALTERN_POWER``, which a test may have
left out of an environment); programs on ``PATH`` that take a machine down are replaced by one that fails
(which a full path passes by); and the kernel's permission to reboot is given away for this process and all
that it starts (which only root has, and which a request to process 1 does not need).
"""

from __future__ import annotations

import ctypes
import os
import shutil
import tempfile
from pathlib import Path

from saltern.system.power import PROGRAMS, WORDS

CAP_SYS_BOOT, PR_CAPBSET_DROP = 22, 24
REFUSES = """\
#!/bin/sh
echo "$0 $*: no test may take this machine down" >&2
exit 1
"""
LOOKS = """\
#!/bin/sh
for word in "$@"; do
    case $word in
        {words}) echo "$0 $*: no test may take this machine down" >&2; exit 1 ;;
    esac
done
exec {program} "$@"
"""


def lock_power() -> str | None:
    """Lock it, once for a process and its children. Return the directory that was made for it."""
    if os.environ.get("SALTERN_POWER") == "refuse":
        return None
    os.environ["SALTERN_POWER"] = "refuse"
    made = tempfile.mkdtemp(prefix="saltern-power-")
    os.chmod(made, 0o755)  # for programs that run as another user
    replace_programs(Path(made))
    os.environ["PATH"] = f"{made}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    drop_permission()
    return made


def replace_programs(place: Path) -> None:
    """Those that this machine has, also where only root looks: what is missing stays missing."""
    places = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])
    for name in PROGRAMS:
        if shutil.which(name, path=places):
            _program(place / name, REFUSES)
    if real := shutil.which("systemctl"):
        words = "|".join(part for word in sorted(WORDS) for part in (word, f"{word}.*"))
        _program(place / "systemctl", LOOKS.format(words=words, program=real))


def _program(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def drop_permission() -> None:
    """From the set that bounds what any program started from here can have. Only root can, and needs to."""
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_SYS_BOOT, 0, 0, 0)
