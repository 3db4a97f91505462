"""This process: user, paths, Python, language."""

from __future__ import annotations

import os
import sys
import time

from saltern import __version__
from saltern.config.settings import Settings

# The Salt release whose language we implement; states read it to decide which features to use.
SALT = (3008, 0)


def user(_: Settings) -> dict[str, object]:
    import grp
    import pwd

    uid, gid = os.geteuid(), os.getegid()
    found: dict[str, object] = {"uid": uid, "gid": gid, "pid": os.getpid(), "username": "", "groupname": ""}
    try:
        found["username"] = pwd.getpwuid(uid).pw_name
        found["groupname"] = grp.getgrgid(gid).gr_name
    except KeyError:
        pass  # a container may run as a number without a name
    return found


def paths(_: Settings) -> dict[str, object]:
    path = os.environ.get("PATH", os.defpath)
    return {
        "path": path,
        "systempath": path.split(os.pathsep),
        "shell": os.environ.get("SHELL", "/bin/sh"),
        "cwd": os.getcwd(),
    }


def python(_: Settings) -> dict[str, object]:
    return {
        "pythonexecutable": sys.executable,
        "pythonpath": list(sys.path),
        "pythonversion": list(sys.version_info),
        "saltversion": ".".join(map(str, SALT)),
        "saltversioninfo": list(SALT),
        "saltpath": os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
        "salternversion": __version__,
    }


def identity(settings: Settings) -> dict[str, object]:
    return {"id": settings.id, "master": str(settings.extra.get("master") or "salt")}


def server_id(settings: Settings) -> dict[str, object]:
    """A number of 31 bits derived from the id, as MySQL replication needs."""
    import hashlib

    digest = hashlib.sha256(settings.id.encode()).hexdigest()
    return {"server_id": int(digest, 16) % 2**31}


def machine_id(_: Settings) -> dict[str, object]:
    from saltern.facts import probe

    return {"machine_id": probe.line("/etc/machine-id") or probe.line("/var/lib/dbus/machine-id")}


def language(_: Settings) -> dict[str, object]:
    variables = ("LC_ALL", "LC_CTYPE", "LANG", "LANGUAGE")
    setting = next((os.environ[name] for name in variables if os.environ.get(name)), "")
    name, encoding = locale(setting)
    zone = time.tzname[1 if time.localtime().tm_isdst > 0 else 0]
    return {
        "locale_info": {
            "defaultlanguage": name,
            "defaultencoding": encoding,
            "detectedencoding": sys.getfilesystemencoding(),
            "timezone": zone,
        }
    }


def locale(text: str) -> tuple[str, str]:
    """Language and encoding of ``en_GB.UTF-8@euro``; ``C`` is American English."""
    name, _, encoding = text.partition("@")[0].partition(":")[0].partition(".")
    if encoding.lower().replace("-", "") == "utf8":
        encoding = "UTF-8"
    if name in ("C", "POSIX", ""):
        name = "en_US" if encoding else "unknown"
    return name, encoding or "unknown"
