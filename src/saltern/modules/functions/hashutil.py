"""``hashutil``: digests, base64 and signatures."""

from __future__ import annotations

from saltern.modules.api import Function, function
from saltern.modules.context import Context
from saltern.modules.params import BadArgument

# ruff: noqa: ARG001 - signatures are Salt's


@function
def digest(ctx: Context, instr: str, checksum: str = "md5") -> str:
    """The digest of a text."""
    import hashlib

    try:
        return hashlib.new(checksum, str(instr).encode()).hexdigest()
    except ValueError:
        raise BadArgument(f"no digest is called {checksum!r}") from None


@function
def digest_file(ctx: Context, infile: str, checksum: str = "md5") -> str:
    """The digest of a file."""
    import hashlib

    try:
        with open(infile, "rb") as file:
            return hashlib.file_digest(file, checksum).hexdigest()
    except OSError as problem:
        raise BadArgument(f"cannot read {infile}: {problem.strerror}") from None
    except ValueError:
        raise BadArgument(f"no digest is called {checksum!r}") from None


def _digest_by(checksum: str) -> Function[[str], str]:
    def body(ctx: Context, instr: str) -> str:
        return digest(ctx, instr, checksum)

    body.__doc__ = f"The {checksum} digest of a text."
    return Function(body, f"{checksum}_digest")


md5_digest = _digest_by("md5")
sha256_digest = _digest_by("sha256")
sha512_digest = _digest_by("sha512")


@function
def base64_b64encode(ctx: Context, instr: str) -> str:
    """A text in base64, on one line."""
    import base64

    return base64.b64encode(str(instr).encode()).decode()


@function
def base64_b64decode(ctx: Context, instr: str) -> str:
    """The text behind base64."""
    import base64

    try:
        return base64.b64decode(instr).decode("utf-8", "replace")
    except ValueError:
        raise BadArgument(f"not base64: {instr!r:.60}") from None


@function
def base64_encodestring(ctx: Context, instr: str) -> str:
    """A text in base64, in lines of 76 characters."""
    import base64

    return base64.encodebytes(str(instr).encode()).decode()


@function
def base64_decodestring(ctx: Context, instr: str) -> str:
    """The text behind base64 in lines."""
    return base64_b64decode(ctx, instr)


@function
def base64_encodefile(ctx: Context, fname: str) -> str:
    """A file in base64, in lines of 76 characters."""
    import base64

    with open(fname, "rb") as file:
        return base64.encodebytes(file.read()).decode()


@function
def base64_decodefile(ctx: Context, instr: str, outfile: str) -> bool:
    """Write the bytes behind base64 to a file."""
    import base64

    with open(outfile, "wb") as file:
        file.write(base64.b64decode(instr))
    return True


@function
def hmac_compute(ctx: Context, string: str, shared_secret: str) -> str:
    """The HMAC-SHA256 of a text."""
    import hmac

    return hmac.new(shared_secret.encode(), string.encode(), "sha256").hexdigest()


@function
def hmac_signature(ctx: Context, string: str, shared_secret: str, challenge_hmac: str) -> bool:
    """Whether this is, in base64, the HMAC-SHA256 of a text."""
    import base64
    import hmac

    valid = hmac.new(shared_secret.encode(), string.encode(), "sha256").digest()
    return hmac.compare_digest(base64.b64encode(valid).decode(), challenge_hmac)


@function
def github_signature(ctx: Context, string: str, shared_secret: str, challenge_hmac: str) -> bool:
    """Whether this is the signature GitHub puts under a message: ``sha1=…``."""
    import hmac

    kind, _, given = challenge_hmac.partition("=")
    if kind not in ("sha1", "sha256"):
        return False
    return hmac.compare_digest(hmac.new(shared_secret.encode(), string.encode(), kind).hexdigest(), given)
