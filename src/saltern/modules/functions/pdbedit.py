"""``pdbedit``: Samba accounts, with the program ``pdbedit``."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.refused import Refused
from saltern.modules.lib.accounts import nt_hash, samba


def _set_account(ctx: Context, want: samba.DesiredAccount) -> dict[str, str]:
    """Set an account. Returns the outcome in one word, or the error."""
    try:
        todo = samba.differs(ctx, want).get(want.login)
        if todo:
            samba.bring_about(ctx, want)
    except Refused as problem:
        return {want.login: str(problem)}
    return {want.login: "unchanged" if not todo else "created" if todo == "created" else "updated"}


@function
def generate_nt_hash(ctx: Context, password: str) -> str:
    """The NT hash of a password, as Samba stores it.

    Args:
        password: the password.

    Example:
        ```console
        $ saltern call pdbedit.generate_nt_hash secret
        local:
            878D8014606CDA29677A44EFA1353FC7
        ```
    """
    del ctx
    return nt_hash.nt_hash(password)


@function(name="list")
def list_(ctx: Context, verbose: bool = True, hashes: bool = False) -> dict[str, dict[str, str]] | list[str]:
    """All Samba accounts.

    Needs the program ``pdbedit`` of Samba 4.5 or newer (Debian: ``samba-common-bin``). Arguments and return
    values of this module follow Salt's documentation of 3006, the last version with it.

    Args:
        verbose: return all data; otherwise only their logins.
        hashes: also return the hashes of their passwords.

    Example:
        ```console
        $ saltern call pdbedit.list verbose=false
        local:
            - ada
            - olduser
        ```
    """
    found = samba.accounts(ctx, hashes=hashes)
    return found if verbose else list(found)


@function
def get(ctx: Context, login: str, hashes: bool = False) -> dict[str, str]:
    """The data of a Samba account; empty if it does not exist.

    Args:
        login: the login.
        hashes: also return the hashes of its password.

    Example:
        ```console
        $ saltern call pdbedit.get ada
        ```
    """
    return samba.accounts(ctx, hashes=hashes).get(login, {})


@function
def delete(ctx: Context, login: str) -> dict[str, str]:
    """Delete an account; the user of this machine stays. Returns ``deleted``, ``absent``, or the error.

    Args:
        login: the login.

    Example:
        ```console
        $ saltern call pdbedit.delete ada
        local:
            ----------
            ada:
                deleted
        ```
    """
    try:
        if login not in samba.accounts(ctx):
            return {login: "absent"}
        samba.delete(ctx, login)
    except Refused as problem:
        return {login: str(problem)}
    return {login: "deleted"}


@function
def create(
    ctx: Context, login: str, password: str, password_hashed: bool = False, machine_account: bool = False
) -> dict[str, str]:
    """Create an account for a user of this machine, or change its password.

    Returns ``created``, ``updated``, ``unchanged``, or the error.

    Args:
        login: the login.
        password: the password.
        password_hashed: true if the password is an NT hash.
        machine_account: create it for a machine, whose user has its name and a dollar sign.

    Example:
        ```console
        $ saltern call pdbedit.create deploy 878D8014606CDA29677A44EFA1353FC7 password_hashed=true
        local:
            ----------
            deploy:
                created
        ```
    """
    if not password:
        raise Refused("an account needs a password")
    return _set_account(
        ctx,
        samba.desired_account(
            login, password=password, password_hashed=password_hashed, machine=machine_account
        ),
    )


@function
def modify(
    ctx: Context,
    login: str,
    password: str | None = None,
    password_hashed: bool = False,
    domain: str | None = None,
    profile: str | None = None,
    script: str | None = None,
    drive: str | None = None,
    homedir: str | None = None,
    fullname: str | None = None,
    account_desc: str | None = None,
    account_control: str | None = None,
    machine_sid: object = None,
    user_sid: str | int | None = None,
    reset_login_hours: bool = False,
    reset_bad_password_count: bool = False,
) -> dict[str, str]:
    """Change an account; a missing account is created if a password is given.

    Returns ``created``, ``updated``, ``unchanged``, ``absent``, or the error. For the arguments see the
    state ``pdbedit.managed``.

    Example:
        ```console
        $ saltern call pdbedit.modify ada fullname='Countess of Lovelace' account_control=X
        local:
            ----------
            ada:
                updated
        ```
    """
    del machine_sid
    if not password and login not in samba.accounts(ctx):
        return {login: "absent"}
    fields = {
        "domain": domain,
        "profile": profile,
        "script": script,
        "drive": drive,
        "homedir": homedir,
        "fullname": fullname,
        "account_desc": account_desc,
    }
    return _set_account(
        ctx,
        samba.desired_account(
            login,
            password=password,
            password_hashed=password_hashed,
            account_control=account_control,
            user_sid=user_sid,
            resets=samba.resets(reset_login_hours, reset_bad_password_count),
            fields=fields,
        ),
    )
