"""``pdbedit``: Samba accounts, with the program ``pdbedit``."""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.accounts import samba


@state
def managed(
    ctx: Context,
    name: str,
    *,
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
) -> Result:
    r"""Make sure that a Samba account exists as described; attributes that are not given stay unchanged.

    An account belongs to a user of this machine, who must exist: see ``user.present``. A missing account is
    created if a password is given. Needs the program ``pdbedit`` of Samba 4.5 or newer (Debian:
    ``samba-common-bin``). Arguments follow Salt's documentation of 3006, the last version with this module.

    Args:
        name: the login.
        password: the password; never shown.
        password_hashed: true if ``password`` is an NT hash, 32 hexadecimal digits. For a moment, the list of
            processes shows such a hash; a password itself goes through a pipe.
        domain: the domain of the account.
        profile: the path of its profile.
        script: its logon script.
        drive: the drive letter of its home directory, such as ``'X:'``.
        homedir: the path of its home directory.
        fullname: the full name.
        account_desc: the description of the account.
        account_control: exactly the flags that the account has: ``N`` (needs no
            password), ``D`` (disabled), ``H`` (needs a home directory), ``L`` (locks itself), ``X``
            (the password does not expire).
        machine_sid: accepted but not used, as in Salt.
        user_sid: the SID, or its last number.
        reset_login_hours: allow login at all hours again.
        reset_bad_password_count: reset the count of wrong passwords to zero.

    Example:
        ```yaml
        ada:
          pdbedit.managed:
            - password: 'correct horse battery staple'
            - drive: 'X:'
            - homedir: '\\web1\ada'
        ```
    """
    del machine_sid
    want = samba.desired_account(
        name,
        password=password,
        password_hashed=password_hashed,
        account_control=account_control,
        user_sid=user_sid,
        resets=samba.resets(reset_login_hours, reset_bad_password_count),
        fields={
            "domain": domain,
            "profile": profile,
            "script": script,
            "drive": drive,
            "homedir": homedir,
            "fullname": fullname,
            "account_desc": account_desc,
        },
    )
    if not want.hashed and not samba.account(ctx, name):
        raise Refused(f"there is no account {name!r}; give a password to create it")
    return bring(
        ctx,
        lambda: samba.differs(ctx, want),
        lambda _: samba.bring_about(ctx, want),
        facts=lambda: {"login": name, **samba.account(ctx, name)},
        words=Words(
            f"account {name} is as described",
            f"account {name} would be changed",
            f"account {name} has been changed",
        ),
    )


present = state(name="present")(managed.body)
present.doc = managed.doc.replace("pdbedit.managed", "pdbedit.present").replace(
    "described; attributes", "described: an alias of ``managed``. Attributes", 1
)


@state(removes=True)
def absent(ctx: Context, name: str) -> Result:
    """Make sure that a Samba account does not exist. The user of this machine stays.

    Args:
        name: the login.

    Example:
        ```yaml
        olduser:
          pdbedit.absent: []
        ```
    """
    return bring(
        ctx,
        lambda: {name: "deleted"} if name in samba.accounts(ctx) else {},
        lambda _: samba.delete(ctx, name),
        facts=lambda: {"login": name},
        words=Words(
            f"account {name} is absent", f"account {name} would be deleted", f"account {name} is deleted"
        ),
    )
