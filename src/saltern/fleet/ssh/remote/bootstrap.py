"""The first program on a host: it is sent as text, and uses only the standard library of Python 3.11.

It describes the host, receives the bundle with saltern if the host lacks it, and hands over to
``saltern.fleet.ssh.remote.serve`` in it. Run by ``exec`` with ``stream_in`` and ``stream_out`` in its names.
"""

from __future__ import annotations

import io
import json
import os
import struct
import sys
import time
from _frozen_importlib_external import MAGIC_NUMBER
from collections.abc import Callable

SIZES, SIZE = struct.Struct(">II"), struct.Struct(">I")
OLD = 30 * 86400  # seconds after which a bundle that was not used is removed
NO_DIRECTORY, NO_SPACE = 85, 86
FRESH = ".new"  # the end of the name of a bundle that is being written
LISTING = "files.json"  # of a bundle: its files and their sizes, and the boot after which they were verified


class Ended(Exception):
    """The other side has closed the channel."""


def receive(stream: io.BufferedReader) -> tuple[dict[str, str], bytes]:
    """The next frame: its head and body."""
    sizes = stream.read(SIZES.size)
    if len(sizes) < SIZES.size:
        raise Ended
    head_size, body_size = SIZES.unpack(sizes)
    head, body = stream.read(head_size), stream.read(body_size)
    if len(head) < head_size or len(body) < body_size:
        raise Ended
    return json.loads(head), body


def send(stream: io.BufferedWriter, head: dict[str, object], body: bytes = b"") -> None:
    text = json.dumps(head).encode()
    stream.write(SIZES.pack(len(text), len(body)) + text + body)
    stream.flush()


def candidates(wanted: str) -> list[str]:
    """The directories where saltern may be put, best first."""
    if wanted:
        return [os.path.expanduser(wanted)]
    user = os.getuid()
    home = os.path.expanduser("~")
    own = [] if home == "~" or user == 0 else [os.path.join(home, ".cache", "saltern-ssh")]
    machine = ["/var/lib/saltern-ssh"] if user == 0 else []
    shared = ["/var/tmp", "/tmp", "/dev/shm"]
    return [*machine, *own, *(f"{one}/saltern-ssh-{user}" for one in shared)]


def why_not(directory: str) -> str:
    """Why this directory cannot be used; empty if it can. It is created, and accessible only to this user."""
    try:
        os.makedirs(directory, 0o700, exist_ok=True)
        status = os.lstat(directory)
        if status.st_uid != os.getuid() or not os.path.isdir(directory) or os.path.islink(directory):
            return "belongs to another user"
        os.chmod(directory, 0o700)
        trial = os.path.join(directory, f".try{os.getpid()}")
        with open(trial, "w") as stream:
            stream.write("x")
        os.remove(trial)
        found = os.statvfs(directory)
    except OSError as problem:
        return problem.strerror or str(problem)
    if found.f_flag & os.ST_NOEXEC:
        return "programs there are not executed (noexec)"
    return "" if found.f_bavail * found.f_frsize > 16_000_000 else "less than 16 MB are free"


def base_directory(wanted: str) -> str:
    reasons = []
    for directory in candidates(wanted):
        reason = why_not(directory)
        if not reason:
            return directory
        reasons.append(f"{directory}: {reason}")
    sys.stderr.write("; ".join(reasons) + "\n")
    sys.exit(NO_SPACE if all("free" in one or "space" in one for one in reasons) else NO_DIRECTORY)


def boot_id() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id") as stream:
            return stream.read().strip()
    except OSError:
        return ""


def libc() -> str:
    """The C library, as wheels name it: glibc with its version, or musl."""
    try:
        name, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").split()
        return f"{name}-{version}"
    except (ValueError, OSError, AttributeError):
        return "musl"


def bundles(base: str) -> list[str]:
    """The digests of the existing bundles, and the names of those being written."""
    try:
        return sorted(os.listdir(os.path.join(base, "bundles")))
    except FileNotFoundError:
        return []


def is_whole(place: str, boot: str) -> bool:
    """True for a bundle whose files all have their sizes. They are checked once after each boot: files
    written before may have been lost in a power failure.
    """
    try:
        with open(os.path.join(place, LISTING)) as stream:
            known = json.load(stream)
        if known["boot"] == boot:
            return True
        whole = all(os.path.getsize(os.path.join(place, name)) == size for name, size in known["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return False
    if whole:
        write_listing(place, known["files"], boot)
    return whole


def write_listing(place: str, files: list[tuple[str, int]], boot: str) -> None:
    """Write to a temporary file, then rename it: another session may read it."""
    path = os.path.join(place, LISTING)
    with open(f"{path}.{os.getpid()}", "w") as stream:
        json.dump({"boot": boot, "files": files}, stream)
    os.replace(f"{path}.{os.getpid()}", path)


def usable(base: str) -> list[str]:
    """The digests of bundles that can be entered."""
    names, boot = bundles(base), boot_id()
    return [
        one for one in names if not one.endswith(FRESH) and is_whole(os.path.join(base, "bundles", one), boot)
    ]


def introduction(base: str) -> dict[str, object]:
    return {
        "python": list(sys.version_info[:3]),
        "executable": sys.executable,
        "code": MAGIC_NUMBER.hex(),
        "machine": os.uname().machine,
        "system": os.uname().sysname,
        "libc": libc(),
        "uid": os.getuid(),
        "base": base,
        "boot": boot_id(),
        "now": time.time(),
        "bundles": usable(base),
    }


def unpack(base: str, name: str, digest: str, body: bytes) -> str:
    """Install a bundle completely or not at all. ``digest`` is that of the body."""
    import hashlib
    import zlib

    if hashlib.sha256(body).hexdigest() != digest:
        return "what arrived is not what was sent"
    place = os.path.join(base, "bundles", name)
    fresh = f"{place}.{os.getpid()}{FRESH}"
    try:
        write_listing(fresh, write_files(fresh, zlib.decompress(body)), boot_id())
        if not is_whole(place, boot_id()):
            if os.path.isdir(place):
                os.rename(place, f"{fresh}.damaged{FRESH}")
            os.rename(fresh, place)
    except OSError as problem:
        return problem.strerror or str(problem)
    finally:
        remove(fresh)
    return ""


def write_files(directory: str, data: bytes) -> list[tuple[str, int]]:
    """Write the files of an archive; return their names and sizes, which are at its beginning."""
    files = memoryview(data)
    (size,) = SIZE.unpack_from(files)
    at = SIZE.size + size
    listing: list[tuple[str, int]] = json.loads(bytes(files[SIZE.size : at]))
    made = set()
    for name, length in listing:
        path = os.path.join(directory, name)
        folder = os.path.dirname(path)
        if folder not in made:
            os.makedirs(folder, 0o700, exist_ok=True)
            made.add(folder)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(files[at : at + length])
        at += length
    return listing


def prune(base: str, used: str) -> None:
    """Remove bundles that were not used for long, and what killed sessions left behind."""
    for name in bundles(base):
        path = os.path.join(base, "bundles", name)
        age = time.time() - os.lstat(path).st_mtime
        if name != used and age > (3600 if name.endswith(FRESH) else OLD):
            remove(path)


def remove(directory: str) -> None:
    if os.path.isdir(directory):
        import shutil  # it is slow to import, and seldom needed

        shutil.rmtree(directory, ignore_errors=True)


def enter(base: str, digest: str) -> Callable[[io.BufferedReader, io.BufferedWriter, str, int], None]:
    """Make the bundle the one that this process imports from."""
    place = os.path.join(base, "bundles", digest)
    os.utime(place)
    prune(base, digest)
    sys.path.insert(0, place)
    from saltern.system.lean_msgspec import import_msgspec

    import_msgspec()
    from saltern.fleet.ssh.remote.serve import serve
    from saltern.system import own_program

    own_program.run_from(place)
    return serve


def main(stream_in: io.BufferedReader, stream_out: io.BufferedWriter, wanted: str) -> None:
    umask = os.umask(0o077)
    base = base_directory(wanted)
    send(stream_out, {"is": "hello", **introduction(base)})
    while True:
        head, body = receive(stream_in)
        if head["do"] == "bundle":
            send(stream_out, {"is": "bundle", "problem": unpack(base, head["digest"], head["sum"], body)})
        elif head["do"] == "enter":
            serve = enter(base, head["digest"])
            serve(stream_in, stream_out, base, umask)
            return
        else:
            return
