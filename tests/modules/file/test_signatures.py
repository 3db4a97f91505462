"""Sources that must be signed: with real keys, by the real gpg."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from saltern.modules.states.archive.extracted import extracted
from saltern.modules.states.file.managed import managed

if TYPE_CHECKING:
    from tests.modules.file.conftest import Desk

pytestmark = pytest.mark.skipif(not shutil.which("gpg"), reason="needs gpg")
VERIFIED = "signature could not be verified"


class Keys:
    """A home of gpg with the keys of ann and bob."""

    def __init__(self, home: Path) -> None:
        self.home = str(home)
        home.mkdir(mode=0o700)
        self.fingerprints = {name: self._make(name) for name in ("ann", "bob")}

    def gpg(self, *words: str) -> str:
        argv = ["gpg", "--homedir", self.home, "--batch", "--yes", "--pinentry-mode", "loopback"]
        argv += ["--passphrase", "", *words]
        return subprocess.run(argv, check=True, capture_output=True, text=True).stdout

    def _make(self, name: str) -> str:
        self.gpg("--quick-generate-key", f"{name} <{name}@example.org>", "ed25519", "sign", "never")
        told = self.gpg("--list-keys", "--with-colons", name)
        return next(line.split(":")[9] for line in told.splitlines() if line.startswith("fpr"))

    def sign(self, path: str, *names: str) -> str:
        """A detached signature of these beside the file."""
        users = [word for name in names for word in ("--local-user", name)]
        self.gpg("--armor", *users, "--output", f"{path}.asc", "--detach-sign", path)
        return f"{path}.asc"


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keys]:
    made = Keys(tmp_path_factory.mktemp("g") / "home")
    yield made
    subprocess.run(["gpgconf", "--homedir", made.home, "--kill", "all"], check=False)


def test_a_signed_source_is_managed(desk: Desk, keys: Keys) -> None:
    source = desk.source("app.conf", "port = 1\n")
    keys.sign(str(desk.states / "app.conf"), "ann")
    args = {"source": source, "signature": f"{source}.asc", "gnupghome": keys.home}
    desk.change(managed, desk.at("f"), **args)
    desk.same(managed, desk.at("f"), **args, signed_by_any=[keys.fingerprints["ann"].lower()])


def test_a_changed_source_is_refused(desk: Desk, keys: Keys) -> None:
    source = desk.source("app.conf", "port = 1\n")
    keys.sign(str(desk.states / "app.conf"), "ann")
    desk.source("app.conf", "port = 2\n")
    args = {"source": source, "signature": f"{source}.asc", "gnupghome": keys.home}
    assert VERIFIED in desk.refusal(managed, desk.at("f"), **args)


def test_those_who_must_have_signed_are_looked_for(desk: Desk, keys: Keys) -> None:
    source = desk.source("app.conf", "port = 1\n")
    path = str(desk.states / "app.conf")
    ann, bob = keys.fingerprints["ann"], keys.fingerprints["bob"]
    base = {"source": source, "signature": f"{source}.asc", "gnupghome": keys.home}
    keys.sign(path, "ann")
    for args in ({"signed_by_any": bob}, {"signed_by_all": [ann, bob]}, {"signed_by_any": ["DEADBEEF" * 5]}):
        assert VERIFIED in desk.refusal(managed, desk.at("f"), **base, **args)
    desk.change(managed, desk.at("f"), **base, signed_by_any=[bob, ann], signed_by_all=ann)
    keys.sign(path, "ann", "bob")
    desk.same(managed, desk.at("f"), **base, signed_by_all=[ann, bob])


def test_a_key_that_is_not_known_does_not_count(desk: Desk, keys: Keys, tmp_path: Path) -> None:
    source = desk.source("app.conf", "port = 1\n")
    keys.sign(str(desk.states / "app.conf"), "ann")
    (tmp_path / "empty").mkdir(mode=0o700)
    args = {"source": source, "signature": f"{source}.asc", "gnupghome": str(tmp_path / "empty")}
    assert VERIFIED in desk.refusal(managed, desk.at("f"), **args)


def test_a_keyring_holds_the_keys(desk: Desk, keys: Keys, tmp_path: Path) -> None:
    source = desk.source("app.conf", "port = 1\n")
    keys.sign(str(desk.states / "app.conf"), "ann")
    ring = str(tmp_path / "ring.gpg")
    keys.gpg("--output", ring, "--export", "bob")
    args = {"source": source, "signature": f"{source}.asc", "gnupghome": keys.home, "keyring": ring}
    assert VERIFIED in desk.refusal(managed, desk.at("f"), **args)
    keys.gpg("--output", ring, "--export", "ann")
    desk.change(managed, desk.at("f"), **args)


def test_a_file_of_checksums_is_signed(desk: Desk, keys: Keys) -> None:
    source = desk.source("app.conf", "port = 1\n")
    digest = hashlib.sha256(b"port = 1\n").hexdigest()
    sums = desk.source("sums", f"{digest}  app.conf\n")
    keys.sign(str(desk.states / "sums"), "bob")
    base = {"source": source, "source_hash": sums, "gnupghome": keys.home}
    assert VERIFIED in desk.refusal(
        managed, desk.at("f"), **base, source_hash_sig=f"{sums}.asc", signed_by_all=[keys.fingerprints["ann"]]
    )
    desk.change(managed, desk.at("f"), **base, source_hash_sig=f"{sums}.asc")
    keys.gpg(
        "--local-user", "bob", "--output", str(desk.states / "clear"), "--clear-sign", f"{desk.states}/sums"
    )
    base["source_hash"] = "salt://clear"
    desk.same(managed, desk.at("f"), **base, source_hash_sig=True)


@pytest.mark.parametrize("where", ["before", "behind"])
def test_text_around_a_signed_text_is_not_believed(desk: Desk, keys: Keys, where: str) -> None:
    evil = hashlib.sha256(b"evil\n").hexdigest()
    desk.source("app.conf", "evil\n")
    desk.source("sums", f"{'0' * 64}  app.conf\n")
    clear = str(desk.states / "clear")
    keys.gpg("--local-user", "bob", "--output", clear, "--clear-sign", f"{desk.states}/sums")
    signed = Path(clear).read_text()
    line = f"{evil}  app.conf\n"
    Path(clear).write_text(f"{line}\n{signed}" if where == "before" else f"{signed}\n{line}")
    args = {"source": "salt://app.conf", "source_hash": "salt://clear", "source_hash_sig": True}
    assert VERIFIED in desk.refusal(managed, desk.at("f"), **args, gnupghome=keys.home)


def test_an_archive_is_unpacked_only_if_it_is_signed(desk: Desk, keys: Keys) -> None:
    path = desk.at("a.tgz")
    with tarfile.open(path, "w:gz") as archive:
        archive.addfile(tarfile.TarInfo("app/file"))
    assert "does not exist" in desk.refusal(extracted, desk.at("to"), source=path, signature=f"{path}.asc")
    keys.sign(path, "ann")
    base = {"source": path, "signature": f"{path}.asc", "gnupghome": keys.home}
    assert VERIFIED in desk.refusal(extracted, desk.at("to"), **base, signed_by_any=keys.fingerprints["bob"])
    with open(path, "ab") as file:
        file.write(b"\0" * 512)
    assert VERIFIED in desk.refusal(extracted, desk.at("to"), **base)
    keys.sign(path, "ann")
    desk.change(extracted, desk.at("to"), **base)


@pytest.mark.parametrize(
    "args",
    [
        {"signed_by_any": ["A" * 40]},
        {"source_hash_sig": True},
        {"source_hash_sig": True, "source_hash": "0" * 64},
        {"signature": True, "sig_backend": "none"},
        {"signature": True, "sig_backend": "asymmetric"},
    ],
    ids=str,
)
def test_nothing_that_is_asked_for_is_passed_over(desk: Desk, args: dict[str, object]) -> None:
    source = desk.source("app.conf", "port = 1\n")
    desk.refusal(managed, desk.at("f"), source=source, **args)
    path = desk.at("a.tgz")
    with tarfile.open(path, "w:gz") as archive:
        archive.addfile(tarfile.TarInfo("app/file"))
    desk.refusal(extracted, desk.at("to"), source=path, **args)
    assert not os.path.exists(desk.at("to"))


def test_public_keys_alone_will_do(desk: Desk) -> None:
    crypto = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ec")
    hashes = pytest.importorskip("cryptography.hazmat.primitives.hashes")
    serialization = pytest.importorskip("cryptography.hazmat.primitives.serialization")
    source = desk.source("app.conf", "port = 1\n")
    private = [crypto.generate_private_key(crypto.SECP256R1()) for _ in range(2)]
    forms = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    public = [one.public_key().public_bytes(*forms).decode() for one in private]
    (desk.states / "app.conf.sig").write_bytes(private[0].sign(b"port = 1\n", crypto.ECDSA(hashes.SHA256())))
    base = {"source": source, "signature": [f"{source}.sig"], "sig_backend": "asymmetric"}
    assert VERIFIED in desk.refusal(managed, desk.at("f"), **base, signed_by_any=public[1])
    desk.change(managed, desk.at("f"), **base, signed_by_any=[public[1], public[0]])
