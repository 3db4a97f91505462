"""PostgreSQL's verifiers of passwords, created here so that the server never sees the password itself.

A server may log statements; a verifier does not reveal the password.
"""

from __future__ import annotations

import os
import re

from saltern.modules.api.refused import Refused

MD5, SCRAM = "md5", "scram-sha-256"
ROUNDS = 4096
SALT_BYTES = 16
MD5_VERIFIER = re.compile(r"md5[0-9a-f]{32}")
SCRAM_VERIFIER = re.compile(
    r"SCRAM-SHA-256\$(?P<rounds>\d+):(?P<salt>[\w+/=]+)\$(?P<stored>[\w+/=]+):(?P<server>[\w+/=]+)", re.ASCII
)


def form_of(encrypted: object) -> str | None:
    """The form that ``encrypted`` names; None leaves it to the server's ``password_encryption``.

    So does True, for which Salt uses md5: a current server may not let such a user log in.
    """
    if encrypted is None or isinstance(encrypted, bool):
        return None
    text = str(encrypted).lower()
    if text not in (MD5, SCRAM):
        raise Refused(f"encrypted cannot be {encrypted!r}; use true, {MD5} or {SCRAM}")
    return text


def is_verifier(password: str) -> bool:
    """True if this is already a verifier, and not a password."""
    return bool(MD5_VERIFIER.fullmatch(password) or SCRAM_VERIFIER.fullmatch(password))


def verifier(role: str, password: str, form: str) -> str:
    if is_verifier(password):
        return password
    return _md5(role, password) if form == MD5 else _scram(password, _new_salt(), ROUNDS)


def matches(role: str, password: str, kept: str, form: str | None = None) -> bool:
    """True if ``kept`` is a verifier of this password, and of this form if one is given."""
    if is_verifier(password) or not kept:
        return password == kept
    found = SCRAM_VERIFIER.fullmatch(kept)
    if form is not None and form != (SCRAM if found else MD5):
        return False
    if found is None:
        return kept == _md5(role, password)
    from binascii import Error, a2b_base64

    try:
        salt = a2b_base64(found["salt"])
    except Error:
        return False
    return kept == _scram(password, salt, int(found["rounds"]))


def _new_salt() -> bytes:
    return os.urandom(SALT_BYTES)


def _md5(role: str, password: str) -> str:
    from hashlib import md5

    return "md5" + md5(f"{password}{role}".encode(), usedforsecurity=False).hexdigest()


def _scram(password: str, salt: bytes, rounds: int) -> str:
    import hmac
    from base64 import b64encode
    from hashlib import pbkdf2_hmac, sha256

    salted = pbkdf2_hmac("sha256", prepare(password).encode(), salt, rounds)
    stored = sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server = hmac.digest(salted, b"Server Key", "sha256")
    parts = (b64encode(part).decode() for part in (salt, stored, server))
    return "SCRAM-SHA-256${}:{}${}:{}".format(rounds, *parts)


def prepare(password: str) -> str:
    """The password after SASLprep (RFC 4013). A forbidden password is used unchanged, as the server does."""
    if password.isascii():
        return password
    import stringprep
    from unicodedata import normalize

    spaces = (" " if stringprep.in_table_c12(sign) else sign for sign in password)
    mapped = normalize("NFKC", "".join(sign for sign in spaces if not stringprep.in_table_b1(sign)))
    return mapped if mapped and _allowed(mapped) else password


def _allowed(text: str) -> bool:
    import stringprep

    forbidden = (
        stringprep.in_table_c12,
        stringprep.in_table_c21_c22,
        stringprep.in_table_c3,
        stringprep.in_table_c4,
        stringprep.in_table_c5,
        stringprep.in_table_c6,
        stringprep.in_table_c7,
        stringprep.in_table_c8,
        stringprep.in_table_c9,
        stringprep.in_table_a1,
    )
    if any(table(sign) for sign in text for table in forbidden):
        return False
    if not any(map(stringprep.in_table_d1, text)):
        return True
    ends = stringprep.in_table_d1(text[0]) and stringprep.in_table_d1(text[-1])
    return ends and not any(map(stringprep.in_table_d2, text))
