"""Create and compare password hashes with the C library, never on a command line."""

from __future__ import annotations

from typing import Any

from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused

REDACTED = "XXX-REDACTED-XXX"  # Salt's placeholder for a secret
SALT_SIGNS = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
OPENSSL_FORMS = {"1": "-1", "5": "-5", "6": "-6"}
PREFIXES = {"md5": "$1$", "sha256": "$5$", "sha512": "$6$"}


def crypt_password(ctx: Context, password: str, setting: str = "") -> str | None:
    """The hash of a password, in the form of ``setting`` (an older hash); by default SHA-512 with a new salt.

    None if this machine cannot create such a hash.
    """
    setting = setting or new_setting()
    library = _library()
    if library is not None:
        made = library.crypt(password.encode(), setting.encode())
        return made.decode() if made and not made.startswith(b"*") else None
    return _with_openssl(ctx, password, setting)


def new_setting(form: str = "sha512") -> str:
    from secrets import choice

    if form not in PREFIXES:
        raise Refused(f"no password hash is called {form!r}; use one of {', '.join(PREFIXES)}")
    length = 8 if form == "md5" else 16
    return PREFIXES[form] + "".join(choice(SALT_SIGNS) for _ in range(length)) + "$"


def matches(ctx: Context, password: str, hashed: str) -> bool:
    """True if the hash is that of the plain password."""
    return (
        bool(hashed) and not hashed.startswith(("!", "*")) and crypt_password(ctx, password, hashed) == hashed
    )


def _library() -> Any:
    import ctypes

    for name in ("libcrypt.so.1", "libcrypt.so.2", None):  # None: the C library itself, as in musl
        try:
            library = ctypes.CDLL(name)
            library.crypt.restype = ctypes.c_char_p
            library.crypt.argtypes = (ctypes.c_char_p, ctypes.c_char_p)
        except (OSError, AttributeError):
            continue
        return library
    return None


def _with_openssl(ctx: Context, password: str, setting: str) -> str | None:
    parts = setting.split("$")
    if len(parts) < 3 or parts[1] not in OPENSSL_FORMS or parts[2].startswith("rounds="):
        return None
    argv = ["openssl", "passwd", OPENSSL_FORMS[parts[1]], "-salt", parts[2], "-stdin"]
    ran = ctx.host.run(argv, stdin=password + "\n")
    return ran.out.strip() if ran.code == 0 else None


def set_hash(ctx: Context, name: str, hashed: str) -> None:
    """Set the hash (or ``!``, ``*``) of a user in /etc/shadow, passed on stdin."""
    if ":" in hashed or "\n" in hashed:
        raise Refused("the password hash must not contain a colon or a line end")
    if not hashed:
        ran = ctx.host.run(["passwd", "-d", name])
    else:
        ran = ctx.host.run(["chpasswd", "-e"], stdin=f"{name}:{hashed}\n")
    if ran.code:
        reported = ran.err.replace(hashed, REDACTED) if hashed else ran.err
        raise Refused(f"cannot set the password of {name!r}: {reported.strip()}")
