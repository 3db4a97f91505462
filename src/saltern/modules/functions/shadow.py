"""``shadow``: passwords and their ages. A hash is told only where Salt tells it: in ``shadow.info``."""

from __future__ import annotations

from saltern.modules.accounts import passwords, records
from saltern.modules.accounts.user_tools import AGE_FLAGS, checked_name
from saltern.modules.api import function
from saltern.modules.context import Context
from saltern.modules.machine import Refused, tool

# ruff: noqa: ARG001 - signatures are Salt's


@function
def info(ctx: Context, name: str, root: str | None = None) -> dict[str, object]:
    """The entry of a user in /etc/shadow; empty numbers are -1."""
    have = records.shadow(ctx, str(name))
    if have is None:
        return {
            "name": "",
            "passwd": "",
            "lstchg": "",
            "min": "",
            "max": "",
            "warn": "",
            "inact": "",
            "expire": "",
        }
    return {
        "name": name,
        "passwd": have.passwd,
        "lstchg": have.date,
        "min": have.mindays,
        "max": have.maxdays,
        "warn": have.warndays,
        "inact": have.inactdays,
        "expire": have.expire,
    }


@function
def gen_password(
    ctx: Context, password: str, crypt_salt: str | None = None, algorithm: str = "sha512"
) -> str:
    """The hash of a password."""
    setting = passwords.new_setting(algorithm)
    if crypt_salt:
        setting = f"{passwords.PREFIXES[algorithm]}{crypt_salt}$"
    made = passwords.crypted(ctx, password, setting)
    if made is None:
        raise Refused(f"this machine cannot make a {algorithm} hash")
    return made


@function
def set_password(
    ctx: Context, name: str, password: str, use_usermod: bool = False, root: str | None = None
) -> bool:
    """Put a hash into /etc/shadow."""
    passwords.set_hash(ctx, checked_name(str(name)), password)
    return True


@function
def del_password(ctx: Context, name: str, root: str | None = None) -> bool:
    """Let a user log in without a password."""
    passwords.set_hash(ctx, checked_name(str(name)), "")
    return True


@function
def lock_password(ctx: Context, name: str, root: str | None = None) -> bool:
    """Lock a password."""
    tool(ctx, "usermod", "-L", checked_name(str(name)))
    return True


@function
def unlock_password(ctx: Context, name: str, root: str | None = None) -> bool:
    """Unlock a password."""
    tool(ctx, "usermod", "-U", checked_name(str(name)))
    return True


def _aged(ctx: Context, name: str, key: str, value: object) -> bool:
    tool(ctx, "chage", AGE_FLAGS[key], str(value), checked_name(str(name)))
    return True


@function
def set_mindays(ctx: Context, name: str, mindays: int, root: str | None = None) -> bool:
    """Days before the password may be changed."""
    return _aged(ctx, name, "mindays", mindays)


@function
def set_maxdays(ctx: Context, name: str, maxdays: int, root: str | None = None) -> bool:
    """Days before the password must be changed."""
    return _aged(ctx, name, "maxdays", maxdays)


@function
def set_inactdays(ctx: Context, name: str, inactdays: int, root: str | None = None) -> bool:
    """Days an outdated password still works."""
    return _aged(ctx, name, "inactdays", inactdays)


@function
def set_warndays(ctx: Context, name: str, warndays: int, root: str | None = None) -> bool:
    """Days before its end that the user is warned."""
    return _aged(ctx, name, "warndays", warndays)


@function
def set_date(ctx: Context, name: str, date: object, root: str | None = None) -> bool:
    """When the password was last changed."""
    return _aged(ctx, name, "date", date)


@function
def set_expire(ctx: Context, name: str, expire: object, root: str | None = None) -> bool:
    """When the account ends."""
    return _aged(ctx, name, "expire", expire)


@function
def list_users(ctx: Context, root: str | None = None) -> list[str]:
    """Everybody with an entry in /etc/shadow."""
    return [row[0] for row in records.rows(ctx, "/etc/shadow", 9)]
