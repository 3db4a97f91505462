"""``random``: random values; with a seed, the same ones every time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument

if TYPE_CHECKING:
    from random import Random

# ruff: noqa: ARG001 - signatures are Salt's


def _source(seed: object) -> Random:
    import random as stdlib_random

    return stdlib_random.SystemRandom() if seed is None else stdlib_random.Random(str(seed))


@function
def get_str(
    ctx: Context,
    length: int = 20,
    chars: str | None = None,
    lowercase: bool = True,
    uppercase: bool = True,
    digits: bool = True,
    punctuation: bool = True,
    whitespace: bool = False,
    printable: bool = False,
) -> str:
    """A random text of this length, from these characters or kinds of characters.

    Example:
        ```console
        $ saltern call random.get_str 12 punctuation=false
        ```
    """
    import string

    kinds = (
        (lowercase, string.ascii_lowercase),
        (uppercase, string.ascii_uppercase),
        (digits, string.digits),
        (punctuation, string.punctuation),
        (whitespace, string.whitespace),
        (printable, string.printable),
    )
    known = chars or "".join(letters for wanted, letters in kinds if wanted)
    if not known:
        raise BadArgument("random.get_str needs at least one kind of characters")
    return "".join(_source(None).choice(known) for _ in range(int(length)))


@function
def rand_int(ctx: Context, start: int = 1, end: int = 10, seed: object = None) -> int:
    """A number from ``start`` to ``end``.

    Example:
        ```console
        $ saltern call random.rand_int 1 100
        ```
    """
    return _source(seed).randint(int(start), int(end))


@function
def seed(ctx: Context, range: int = 10, hash: object = None) -> int:
    """A number below ``range`` that is always the same for a machine, or for a text.

    Example:
        ```console
        $ saltern call random.seed 60 hash=web1
        local:
            52
        ```
    """
    return _source(ctx.opts.get("id", "") if hash is None else hash).randrange(int(range))


@function
def sample(ctx: Context, value: list[object], size: int, seed: object = None) -> list[object]:
    """This many items of a list, in random order.

    Example:
        ```console
        $ saltern call random.sample '[a, b, c]' 2 seed=7
        ```
    """
    if int(size) > len(value):
        raise BadArgument(f"random.sample cannot take {size} of {len(value)}")
    return _source(seed).sample(list(value), int(size))


@function
def shuffle(ctx: Context, value: list[object], seed: object = None) -> list[object]:
    """The list in random order.

    Example:
        ```console
        $ saltern call random.shuffle '[a, b, c]' seed=7
        ```
    """
    return _source(seed).sample(list(value), len(value))


@function(name="hash")
def hash_(ctx: Context, value: str, algorithm: str = "sha512") -> str:
    """The digest of a text.

    Example:
        ```console
        $ saltern call random.hash saltern md5
        local:
            d88474d6d9eee923ae63121f1f1411fe
        ```
    """
    from saltern.modules.functions.hashutil import digest

    return digest(ctx, value, algorithm)


@function
def str_encode(ctx: Context, value: str, encoder: str = "base64") -> str:
    """A text in ``base64`` or ``hex``.

    Example:
        ```console
        $ saltern call random.str_encode saltern hex
        local:
            73616c7465726e
        ```
    """
    import base64

    encoders = {"base64": base64.b64encode, "hex": base64.b16encode, "base32": base64.b32encode}
    if encoder not in encoders:
        raise BadArgument(f"random.str_encode knows {', '.join(encoders)}, not {encoder!r}")
    text = encoders[encoder](str(value).encode()).decode()
    return text.lower() if encoder == "hex" else text


@function
def shadow_hash(
    ctx: Context, crypt_salt: str | None = None, password: str | None = None, algorithm: str = "sha512"
) -> str:
    """The hash of a password, for /etc/shadow; of a random password if none is given.

    Args:
        crypt_salt: the salt; a random one if not given.
        password: the password.
        algorithm: ``sha512``, ``sha256`` or ``md5``.

    Example:
        ```console
        $ saltern call random.shadow_hash saltsalt sesame
        local:
            $6$saltsalt$…
        ```
    """
    from saltern.modules.lib.accounts import passwords

    setting = passwords.new_setting(algorithm)
    if crypt_salt is not None:
        if not crypt_salt or any(sign not in passwords.SALT_SIGNS for sign in str(crypt_salt)):
            raise BadArgument("crypt_salt needs letters, digits, dots and slashes")
        setting = f"{passwords.PREFIXES[algorithm]}{crypt_salt}$"
    made = passwords.crypt_password(ctx, get_str(ctx) if password is None else str(password), setting)
    if made is None:
        raise BadArgument(f"this machine cannot create a {algorithm!r} hash")
    return made
