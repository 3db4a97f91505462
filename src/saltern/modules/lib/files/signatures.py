"""Verify signatures of sources with ``gpg``, or with public keys (``sig_backend: asymmetric``)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.api.programs import missing_program
from saltern.modules.api.refused import Refused
from saltern.system.process import NOT_FOUND
from saltern.system.temporary import private_directory

CLEAR_BEGIN, CLEAR_END = b"-----BEGIN PGP SIGNED MESSAGE-----", b"-----END PGP SIGNATURE-----"
BAD = ("BADSIG", "REVKEYSIG", "EXPKEYSIG", "EXPSIG")


class Signing(Struct, frozen=True, kw_only=True):
    """The requirements. A signature is True if it is part of the file, else the location of its file."""

    signature: object = None
    hash_signature: object = None
    any: tuple[str, ...] = ()
    all: tuple[str, ...] = ()
    keyring: str = ""
    home: str = ""
    backend: str = "gpg"

    def __bool__(self) -> bool:
        return bool(self.signature or self.hash_signature)


NONE = Signing()


def read_signing(
    signature: object = None,
    source_hash_sig: object = None,
    signed_by_any: object = None,
    signed_by_all: object = None,
    keyring: object = None,
    gnupghome: object = None,
    sig_backend: str = "gpg",
) -> Signing:
    """The requirements from the arguments. Raises for signers without a signature, which would not be
    checked.
    """
    if not (signature or source_hash_sig):
        if signed_by_any or signed_by_all:
            raise Refused("signed_by_any and signed_by_all need signature or source_hash_sig")
        return NONE
    if sig_backend not in BACKENDS:
        raise Refused(f"no sig_backend is called {sig_backend!r}; use one of {', '.join(BACKENDS)}")
    return Signing(
        signature=signature,
        hash_signature=source_hash_sig,
        any=tuple(map(str, _as_list(signed_by_any))),
        all=tuple(map(str, _as_list(signed_by_all))),
        keyring=str(keyring or ""),
        home=str(gnupghome or ""),
        backend=sig_backend,
    )


def _as_list(value: object) -> list[object]:
    if not value:
        return []
    return value if isinstance(value, list) else [value]


Read = Callable[[str], bytes]


def verify(ctx: Context, data: bytes, signature: object, how: Signing, read: Read) -> bytes:
    """The signed data. Raises unless it is signed by the required signers. ``read`` fetches signatures."""
    places = [] if signature is True else [str(one) for one in _as_list(signature)]
    signatures = [read(place) for place in places]
    return BACKENDS[how.backend](ctx, data, signatures, how)


def _refusal(why: str) -> Refused:
    return Refused(f"The signature could not be verified: {why}")


def check_signers(how: Signing, signed: Callable[[str], bool]) -> None:
    if how.any and not any(map(signed, how.any)):
        raise _refusal("none of the keys in signed_by_any has signed it")
    for signer in how.all:
        if not signed(signer):
            raise _refusal(f"{signer[:60]!r} of signed_by_all has not signed it")


# -- gpg ---------------------------------------------------------------------------------------


def _gpg(ctx: Context, data: bytes, signatures: Sequence[bytes], how: Signing) -> bytes:
    """Verify every signature; only valid ones by keys that are neither expired nor revoked count."""
    said: list[str] = []
    signed = data
    with _files(data, signatures) as (path, places):
        if not places:
            signed, status = _inline(ctx, how, path, data)
            said += status
        for place in places:
            said += _status(ctx, [*_words(how), "--verify", place, path])
    good = _good(said)
    bad = sorted({word for line in said if (word := line.split(" ")[0]) in BAD})
    if not good or ("BADSIG" in bad and not (how.any or how.all)):
        raise _refusal(", ".join(bad) or "no valid signature by a known key")
    check_signers(how, lambda signer: "".join(signer.split()).upper() in good)
    return signed


def _words(how: Signing) -> list[str]:
    words = ["gpg", "--no-batch", "--no-tty", "--status-fd", "1", "--no-auto-key-retrieve"]
    words += ["--homedir", how.home] if how.home else []
    return words + (["--no-default-keyring", "--keyring", how.keyring] if how.keyring else [])


def _inline(ctx: Context, how: Signing, path: str, data: bytes) -> tuple[bytes, list[str]]:
    """The signed part of a file: text around it is not signed."""
    stripped = data.strip()
    if stripped.startswith(CLEAR_BEGIN) and not (
        stripped.endswith(CLEAR_END) and stripped.count(CLEAR_BEGIN) == 1
    ):
        raise _refusal("there is text after the signed text")
    if not stripped.startswith(CLEAR_BEGIN) and CLEAR_BEGIN in stripped:
        raise _refusal("there is text before the signed text")
    out = f"{path}.signed"
    status = _status(ctx, [*_words(how), "--output", out, "--decrypt", path])
    try:
        with open(out, "rb") as file:
            return file.read(), status
    except FileNotFoundError:
        return b"", status


def _status(ctx: Context, argv: list[str]) -> list[str]:
    ran = ctx.host.run(argv, cwd="/", env={"LC_ALL": "C.UTF-8"})
    if ran.code == NOT_FOUND and not ran.pid:
        raise Refused(f"cannot verify a signature: {missing_program('gpg', 'it first')}")
    mark = "[GNUPG:] "
    return [line.removeprefix(mark) for line in ran.out.splitlines() if line.startswith(mark)]


def _good(said: Sequence[str]) -> set[str]:
    """The fingerprints of the keys with valid signatures, and of their main keys."""
    found: set[str] = set()
    good = False
    for line in said:
        words = line.split(" ")
        if words[0] in ("NEWSIG", "GOODSIG", *BAD, "ERRSIG"):
            good = words[0] == "GOODSIG"
        elif words[0] == "VALIDSIG" and good:
            found |= {words[1].upper(), words[-1].upper()}
    return found


@contextmanager
def _files(data: bytes, signatures: Sequence[bytes]) -> Iterator[tuple[str, list[str]]]:
    with private_directory("signature") as scratch:
        places = [os.path.join(scratch, f"signature{number}") for number in range(len(signatures))]
        path = os.path.join(scratch, "source")
        for place, content in ((path, data), *zip(places, signatures, strict=True)):
            with open(place, "wb") as file:
                file.write(content)
        yield path, places


# -- public keys -------------------------------------------------------------------------------


def _asymmetric(_: Context, data: bytes, signatures: Sequence[bytes], how: Signing) -> bytes:
    from saltern.modules.lib.files.public_keys import has_signed

    if not signatures:
        raise Refused("sig_backend: asymmetric needs a signature in a separate file")
    if not (how.any or how.all):
        raise Refused("sig_backend: asymmetric needs signed_by_any or signed_by_all: the public keys")
    check_signers(how, lambda key: any(has_signed(key, one, data) for one in signatures))
    return data


BACKENDS: dict[str, Callable[[Context, bytes, Sequence[bytes], Signing], bytes]] = {
    "gpg": _gpg,
    "asymmetric": _asymmetric,
}
