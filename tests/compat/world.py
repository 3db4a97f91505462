"""The files that a case may change: read, compared, and put back before the next one."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

APART = ("/etc", "/home", "/var/spool", "/var/mail", "/var/lib/dpkg/alternatives", "/usr/lib/locale")
ETC = (
    "adduser.conf",
    "alternatives",
    "debian_version",
    "default",
    "deluser.conf",
    "environment",
    "host.conf",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "locale.gen",
    "login.defs",
    "localtime",
    "nsswitch.conf",
    "os-release",
    "pam.conf",
    "pam.d",
    "profile",
    "security",
    "shells",
    "skel",
    "subgid",
    "subuid",
    "timezone",
)
STATIC = {"ld.so.cache", "ld.so.conf.d", "pam.d", "security", "skel", "locale.alias"}
PASSING = ("-", ".lock", ".old", ".bak")  # what programs leave behind: /etc/passwd-, /etc/.pwd.lock
LONG_AGO = 1_500_000_000  # states of cases set such times
FILES = {
    "passwd": "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"
    "mail:x:8:8:mail:/var/mail:/usr/sbin/nologin\nnobody:x:65534:65534:nobody:/none:/usr/sbin/nologin\n"
    "ann:x:1001:1001:Ann,1,2,3,4:/home/ann:/bin/sh\nbob:x:1002:100::/home/bob:/bin/bash\n",
    "shadow": "root:*:19000:0:99999:7:::\ndaemon:*:19000:0:99999:7:::\nmail:*:19000:0:99999:7:::\n"
    "nobody:*:19000:0:99999:7:::\nann:$6$x$y:19000:0:99999:7:::\nbob:!:19000:1:90:5:10:20000:\n",
    "group": "root:x:0:\ndaemon:x:1:\ntty:x:5:\ndisk:x:6:\nmail:x:8:ann\nutmp:x:43:\nshadow:x:42:\n"
    "crontab:x:101:\nusers:x:100:\nnogroup:x:65534:\nann:x:1001:\nwheel:x:2000:ann,bob\nempty:x:2001:\n",
    "gshadow": "root:*::\ndaemon:*::\ntty:*::\ndisk:*::\nmail:*::ann\nutmp:*::\nshadow:*::\ncrontab:!::\n"
    "users:*::\nnogroup:*::\nann:!::\nwheel:!::ann,bob\nempty:!::\n",
    "adjtime": "0.0 0 0.0\n0\nUTC\n",
    "modules": "",
    "hosts": "127.0.0.1\tlocalhost\n",
    "fstab": "# what is mounted\n",
    "at.deny": "",
}


@dataclass(frozen=True)
class Entry:
    """A file, a directory or a link, with all that a state may change of it; a time only if long ago."""

    mode: int
    owner: tuple[int, int]
    data: bytes = b""
    names: int = 1
    time: int = 0

    def text(self) -> str:
        more = f" {self.names} names" * (self.names > 1) + f" at {self.time}" * bool(self.time)
        return f"{self.mode:o} {self.owner[0]}:{self.owner[1]} {self.data.decode('latin-1')}{more}"


def entry(path: str) -> Entry:
    seen = os.lstat(path)
    kind = stat.S_IFMT(seen.st_mode)
    data = b""
    if kind == stat.S_IFLNK:
        data = os.readlink(path).encode()
    elif kind == stat.S_IFREG:
        with open(path, "rb") as file:
            data = file.read()
    elif kind in (stat.S_IFCHR, stat.S_IFBLK):
        data = str(seen.st_rdev).encode()
    names = seen.st_nlink if kind == stat.S_IFREG else 1
    time = int(seen.st_mtime) if seen.st_mtime < LONG_AGO else 0
    return Entry(seen.st_mode, (seen.st_uid, seen.st_gid), data, names, time)


def read(roots: list[str]) -> dict[str, Entry]:
    """Everything below the roots but what no case changes."""
    found: dict[str, Entry] = {}
    for root in roots:
        machines = root.startswith(("/etc", "/var", "/home"))
        for folder, folders, files in os.walk(root):
            folders[:] = [one for one in folders if not (machines and one in STATIC)]
            names = [
                one
                for one in (*folders, *files)
                if not (machines and (one in STATIC or one.endswith(PASSING)))
            ]
            if folder.endswith("alternatives"):
                names = [one for one in names if one.startswith("zz")]
            found |= {path: entry(path) for path in (os.path.join(folder, one) for one in names)}
    return found


def restore(roots: list[str], kept: dict[str, Entry]) -> None:
    """Makes everything below the roots what it was."""
    now = read(roots)
    for path in sorted((one for one in now if now[one] != kept.get(one)), reverse=True):
        if os.path.isdir(path) and not os.path.islink(path):
            if path not in kept or kept[path].mode >> 12 != now[path].mode >> 12:
                shutil.rmtree(path)
        else:
            os.unlink(path)
    for path in sorted(one for one in kept if now.get(one) != kept[one]):
        write(path, kept[path])


def write(path: str, kept: Entry) -> None:
    kind = kept.mode >> 12
    if kind == 0o12:
        os.symlink(kept.data, path)
    elif kind == 0o4:
        os.makedirs(path, exist_ok=True)
    else:
        Path(path).write_bytes(kept.data)
    os.lchown(path, *kept.owner)
    if kind != 0o12:
        os.chmod(path, kept.mode & 0o7777)


def set_apart(work: Path) -> list[str]:
    """Directories of the machine become ours in this mount namespace, with few files in them."""
    for place in APART:
        own = work / "apart" / place.strip("/").replace("/", "-")
        shutil.rmtree(own, ignore_errors=True)
        own.mkdir(parents=True)
        if place == "/etc":
            furnish(own)
        elif place in ("/usr/lib/locale", "/var/lib/dpkg/alternatives"):
            shutil.copytree(place, own, symlinks=True, dirs_exist_ok=True)
        subprocess.run(["mount", "--bind", str(own), place], check=True)
    for program in ("/usr/bin/timedatectl", "/usr/bin/localectl"):  # no service answers them
        if os.path.exists(program):
            subprocess.run(["mount", "--bind", "/etc/hosts", program], check=True)
    for queue in ("atjobs", "atspool"):
        os.makedirs(f"/var/spool/cron/{queue}")
        os.chown(f"/var/spool/cron/{queue}", 1, 1)
        os.chmod(f"/var/spool/cron/{queue}", 0o1770)
    write("/var/spool/cron/atjobs/.SEQ", Entry(0o100600, (1, 1)))
    tables = "/var/spool/cron/crontabs"
    os.makedirs(tables)
    if os.path.exists("/usr/bin/crontab"):  # which is that of a group
        os.chown(tables, 0, os.stat("/usr/bin/crontab").st_gid)
    os.chmod(tables, 0o1730)
    for name, user, group in (("ann", 1001, 1001), ("bob", 1002, 100)):
        os.makedirs(f"/home/{name}")
        os.chown(f"/home/{name}", user, group)
    return ["/etc", "/home", "/var/spool/cron", "/var/lib/dpkg/alternatives"]


def furnish(own: Path) -> None:
    for name in ETC:
        there = Path("/etc", name)
        if there.is_dir() and not there.is_symlink():
            shutil.copytree(there, own / name, symlinks=True)
        elif there.exists():
            shutil.copy2(there, own / name, follow_symlinks=False)
    (own / "apt" / "sources.list.d").mkdir(parents=True)
    (own / "apt" / "sources.list").write_text("deb http://none.invalid/debian stable main\n")
    for name, text in FILES.items():
        (own / name).write_text(text)
        (own / name).chmod(0o640 if "shadow" in name else 0o644)


def difference(before: dict[str, Entry], now: dict[str, Entry]) -> dict[str, str]:
    """What came, changed and went."""
    differ = sorted(path for path in before | now if before.get(path) != now.get(path))
    return {path: now[path].text() if path in now else "gone" for path in differ}


def mounted(place: str) -> dict[str, str]:
    """What is mounted below the place."""
    found = {}
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        words = line.split()
        if words[4].startswith(place):
            found[f"mount {words[4]}"] = " ".join([words[5], *words[words.index("-") + 1 :]])
    return found


def unmount(place: str) -> None:
    for name in reversed(mounted(place)):
        subprocess.run(["umount", name.partition(" ")[2]], check=True)
