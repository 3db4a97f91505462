"""``hashutil``: digests, base64 and signatures."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import Function, function, make_docstring
from saltern.modules.api.params import BadArgument

# ruff: noqa: ARG001 - signatures are Salt's


@function
def digest(ctx: Context, instr: str, checksum: str = "md5") -> str:
    """The digest of a text.

    Example:
        ```console
        $ saltern call hashutil.digest saltern sha1
        local:
            dc4bd56ad78655041ad5a264fbbe04d6298de4a0
        ```
    """
    import hashlib

    try:
        return hashlib.new(checksum, str(instr).encode()).hexdigest()
    except ValueError:
        raise BadArgument(f"no digest is called {checksum!r}") from None


@function
def digest_file(ctx: Context, infile: str, checksum: str = "md5") -> str:
    """The digest of a file.

    Example:
        ```console
        $ saltern call hashutil.digest_file /srv/app/list.txt sha1
        local:
            98ce56098daf1a2ffe03a0d108ea841f1e4e6c69
        ```
    """
    import hashlib

    try:
        with open(infile, "rb") as file:
            return hashlib.file_digest(file, checksum).hexdigest()
    except OSError as problem:
        raise BadArgument(f"cannot read {infile}: {problem.strerror}") from None
    except ValueError:
        raise BadArgument(f"no digest is called {checksum!r}") from None


DIGESTS = {  # of "saltern", for the examples
    "md5": "d88474d6d9eee923ae63121f1f1411fe",
    "sha256": "11c0d3d1576e912040efb4cc2ee675bfbef688a0b5065c5234f3769810ef7d5a",
    "sha512": "009661a5323150f957028326e9ab1a3f9615f71f19f1114b3238e3be08d6…",
}


def _digest_by(checksum: str) -> Function[[str], str]:
    def body(ctx: Context, instr: str) -> str:
        return digest(ctx, instr, checksum)

    said = f"The {checksum} digest of a text."
    body.__doc__ = make_docstring(said, f"hashutil.{checksum}_digest saltern", DIGESTS[checksum])
    return Function(body, f"{checksum}_digest")


md5_digest = _digest_by("md5")
sha256_digest = _digest_by("sha256")
sha512_digest = _digest_by("sha512")


@function
def base64_b64encode(ctx: Context, instr: str) -> str:
    """A text in base64, on one line.

    Example:
        ```console
        $ saltern call hashutil.base64_b64encode saltern
        local:
            c2FsdGVybg==
        ```
    """
    import base64

    return base64.b64encode(str(instr).encode()).decode()


@function
def base64_b64decode(ctx: Context, instr: str) -> str:
    """Decode base64 to a text.

    Example:
        ```console
        $ saltern call hashutil.base64_b64decode c2FsdGVybg==
        local:
            saltern
        ```
    """
    import base64

    try:
        return base64.b64decode(instr).decode("utf-8", "replace")
    except ValueError:
        raise BadArgument(f"not base64: {instr!r:.60}") from None


@function
def base64_encodestring(ctx: Context, instr: str) -> str:
    """A text in base64, in lines of 76 characters.

    Example:
        ```console
        $ saltern call hashutil.base64_encodestring saltern
        local:
            c2FsdGVybg==
        ```
    """
    import base64

    return base64.encodebytes(str(instr).encode()).decode()


@function
def base64_decodestring(ctx: Context, instr: str) -> str:
    """Decode base64 in lines to a text.

    Example:
        ```console
        $ saltern call hashutil.base64_decodestring c2FsdGVybg==
        local:
            saltern
        ```
    """
    return base64_b64decode(ctx, instr)


@function
def base64_encodefile(ctx: Context, fname: str) -> str:
    """A file in base64, in lines of 76 characters.

    Example:
        ```console
        $ saltern call hashutil.base64_encodefile /srv/app/list.txt
        local:
            b25lCnR3bwp0aHJlZQo=
        ```
    """
    import base64

    with open(fname, "rb") as file:
        return base64.encodebytes(file.read()).decode()


@function
def base64_decodefile(ctx: Context, instr: str, outfile: str) -> bool:
    """Decode base64 to a file.

    Example:
        ```console
        $ saltern call hashutil.base64_decodefile c2FsdGVybg== /srv/app/key
        local:
            True
        ```
    """
    import base64

    with open(outfile, "wb") as file:
        file.write(base64.b64decode(instr))
    return True


@function
def hmac_compute(ctx: Context, string: str, shared_secret: str) -> str:
    """The HMAC-SHA256 of a text.

    Example:
        ```console
        $ saltern call hashutil.hmac_compute saltern secret
        local:
            2fc4ea348a137f3ec2c392175383a3dfd2d0fc163a82180248969fda442c558c
        ```
    """
    import hmac

    return hmac.new(shared_secret.encode(), string.encode(), "sha256").hexdigest()


@function
def hmac_signature(ctx: Context, string: str, shared_secret: str, challenge_hmac: str) -> bool:
    """True if this is, in base64, the HMAC-SHA256 of a text.

    Example:
        ```console
        $ saltern call hashutil.hmac_signature saltern secret AAAA
        local:
            False
        ```
    """
    import base64
    import hmac

    valid = hmac.new(shared_secret.encode(), string.encode(), "sha256").digest()
    return hmac.compare_digest(base64.b64encode(valid).decode(), challenge_hmac)


@function
def github_signature(ctx: Context, string: str, shared_secret: str, challenge_hmac: str) -> bool:
    """True if this is GitHub's signature of a message: ``sha1=…``.

    Example:
        ```console
        $ saltern call hashutil.github_signature saltern secret \\
            challenge_hmac=sha1=0000000000000000000000000000000000000000
        local:
            False
        ```
    """
    import hmac

    kind, _, given = challenge_hmac.partition("=")
    if kind not in ("sha1", "sha256"):
        return False
    return hmac.compare_digest(hmac.new(shared_secret.encode(), string.encode(), kind).hexdigest(), given)
