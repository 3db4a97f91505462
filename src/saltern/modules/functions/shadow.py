"""``shadow``: passwords and their ages. As in Salt, only ``shadow.info`` shows hashes."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.programs import tool
from saltern.modules.api.refused import Refused
from saltern.modules.lib.accounts import passwords, records
from saltern.modules.lib.accounts.user_tools import AGE_FLAGS, checked_name

# ruff: noqa: ARG001 - signatures are Salt's


@function
def info(ctx: Context, name: str, root: str | None = None) -> dict[str, object]:
    """The entry of a user in /etc/shadow; empty numbers are -1.

    Example:
        ```console
        $ saltern call shadow.info ada
        ```
    """
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
    """The hash of a password.

    Example:
        ```console
        $ saltern call shadow.gen_password secret crypt_salt=salt algorithm=sha256
        local:
            $5$salt$kpa26zwgX83BPSR8d7w93OIXbFt/d3UOTZaAu5vsTM6
        ```
    """
    setting = passwords.new_setting(algorithm)
    if crypt_salt:
        setting = f"{passwords.PREFIXES[algorithm]}{crypt_salt}$"
    made = passwords.crypt_password(ctx, password, setting)
    if made is None:
        raise Refused(f"this machine cannot create a {algorithm} hash")
    return made


@function
def set_password(
    ctx: Context, name: str, password: str, use_usermod: bool = False, root: str | None = None
) -> bool:
    """Set the password hash of a user in /etc/shadow.

    Example:
        ```console
        $ saltern call shadow.set_password ada '$5$salt$Gcm6FsVtF/Qa77ZKD.iwsJlCVPY0XSMgLJL0Hnww/c1'
        local:
            True
        ```
    """
    passwords.set_hash(ctx, checked_name(str(name)), password)
    return True


@function
def del_password(ctx: Context, name: str, root: str | None = None) -> bool:
    """Let a user log in without a password.

    Example:
        ```console
        $ saltern call shadow.del_password ada
        local:
            True
        ```
    """
    passwords.set_hash(ctx, checked_name(str(name)), "")
    return True


@function
def lock_password(ctx: Context, name: str, root: str | None = None) -> bool:
    """Lock a password.

    Example:
        ```console
        $ saltern call shadow.lock_password ada
        local:
            True
        ```
    """
    tool(ctx, "usermod", "-L", checked_name(str(name)))
    return True


@function
def unlock_password(ctx: Context, name: str, root: str | None = None) -> bool:
    """Unlock a password.

    Example:
        ```console
        $ saltern call shadow.set_password ada '$5$salt$Gcm6FsVtF/Qa77ZKD.iwsJlCVPY0XSMgLJL0Hnww/c1'
        $ saltern call shadow.lock_password ada
        $ saltern call shadow.unlock_password ada
        local:
            True
        ```
    """
    tool(ctx, "usermod", "-U", checked_name(str(name)))
    return True


def _aged(ctx: Context, name: str, key: str, value: object) -> bool:
    tool(ctx, "chage", AGE_FLAGS[key], str(value), checked_name(str(name)))
    return True


@function
def set_mindays(ctx: Context, name: str, mindays: int, root: str | None = None) -> bool:
    """Set the days before the password may be changed.

    Example:
        ```console
        $ saltern call shadow.set_mindays ada 1
        local:
            True
        ```
    """
    return _aged(ctx, name, "mindays", mindays)


@function
def set_maxdays(ctx: Context, name: str, maxdays: int, root: str | None = None) -> bool:
    """Set the days before the password must be changed.

    Example:
        ```console
        $ saltern call shadow.set_maxdays ada 90
        local:
            True
        ```
    """
    return _aged(ctx, name, "maxdays", maxdays)


@function
def set_inactdays(ctx: Context, name: str, inactdays: int, root: str | None = None) -> bool:
    """Set the days that an expired password still works.

    Example:
        ```console
        $ saltern call shadow.set_inactdays ada 14
        local:
            True
        ```
    """
    return _aged(ctx, name, "inactdays", inactdays)


@function
def set_warndays(ctx: Context, name: str, warndays: int, root: str | None = None) -> bool:
    """Set the days before the password expires that the user is warned.

    Example:
        ```console
        $ saltern call shadow.set_warndays ada 7
        local:
            True
        ```
    """
    return _aged(ctx, name, "warndays", warndays)


@function
def set_date(ctx: Context, name: str, date: object, root: str | None = None) -> bool:
    """Set when the password was last changed.

    Example:
        ```console
        $ saltern call shadow.set_date ada 2026-01-31
        local:
            True
        ```
    """
    return _aged(ctx, name, "date", date)


@function
def set_expire(ctx: Context, name: str, expire: object, root: str | None = None) -> bool:
    """Set when the account expires.

    Example:
        ```console
        $ saltern call shadow.set_expire ada 2027-12-31
        local:
            True
        ```
    """
    return _aged(ctx, name, "expire", expire)


@function
def list_users(ctx: Context, root: str | None = None) -> list[str]:
    """Every user with an entry in /etc/shadow.

    Example:
        ```console
        $ saltern call shadow.list_users
        ```
    """
    return [row[0] for row in records.rows(ctx, "/etc/shadow", 9)]
