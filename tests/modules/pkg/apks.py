"""Packages of apk, made by hand: signed segments of tar, each with gzip of its own, one behind the other."""

from __future__ import annotations

import gzip
import hashlib
import io
import subprocess
import tarfile
import zlib
from collections.abc import Mapping
from pathlib import Path

SIGNATURE = ".SIGN.RSA.shop.rsa.pub"
END = b"\0" * 512


def make_key(private: Path, public: Path) -> Path:
    for path in (private, public):
        path.parent.mkdir(parents=True, exist_ok=True)
    for words in (f"genrsa -out {private} 2048", f"rsa -in {private} -pubout -out {public}"):
        subprocess.run(["openssl", *words.split()], check=True, capture_output=True)
    return private


def package(name: str, version: str, rows: Mapping[str, str], key: Path) -> bytes:
    folder = f"usr/share/{name}"
    data = _segment({"usr": None, "usr/share": None, folder: None, f"{folder}/version": version.encode()})
    fields = {"pkgname": name, "pkgver": version, "pkgdesc": "for tests", "url": "https://x.example"}
    fields |= {"size": "10", "arch": "x86_64", "origin": name, "license": "MIT", **rows}
    fields["datahash"] = hashlib.sha256(data).hexdigest()
    info = "".join(f"{field} = {value}\n" for field, value in fields.items())
    return signed(_segment({".PKGINFO": info.encode()}, more=True) + data, key)


def signed(data: bytes, key: Path) -> bytes:
    """With a signature of its first segment before it."""
    reader = zlib.decompressobj(31)
    reader.decompress(data)
    first = data[: len(data) - len(reader.unused_data)]
    argv = ["openssl", "dgst", "-sha1", "-sign", str(key)]
    signature = subprocess.run(argv, input=first, capture_output=True, check=True).stdout
    return _segment({SIGNATURE: signature}, more=True) + data


def _segment(files: Mapping[str, bytes | None], *, more: bool = False) -> bytes:
    """An archive; one that has ``more`` behind it does not end."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.uname = entry.gname = "root"
            entry.type, entry.mode = (tarfile.DIRTYPE, 0o755) if data is None else (tarfile.REGTYPE, 0o644)
            entry.size = len(data or b"")
            if data is not None and not name.startswith("."):
                entry.pax_headers = {"APK-TOOLS.checksum.SHA1": hashlib.sha1(data).hexdigest()}
            archive.addfile(entry, io.BytesIO(data or b""))
    whole = raw.getvalue()
    while more and whole.endswith(END):
        whole = whole[: -len(END)]
    return gzip.compress(whole, mtime=0)
