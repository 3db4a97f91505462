"""``user``: the accounts of this machine."""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.accounts import records, user_tools
from saltern.modules.lib.accounts.desired_user import AGES, DesiredUser, Password, differs, facts

DAY = 86400


@state
def present(
    ctx: Context,
    name: str,
    *,
    uid: int | None = None,
    gid: str | None = None,
    usergroup: bool | None = None,
    groups: list[str] | None = None,
    optional_groups: list[str] | None = None,
    remove_groups: bool = True,
    home: str | None = None,
    createhome: bool = True,
    persist_home: bool = False,
    password: str | None = None,
    hash_password: bool = False,
    enforce_password: bool = True,
    empty_password: bool = False,
    shell: str | None = None,
    unique: bool = True,
    system: bool = False,
    fullname: str | None = None,
    roomnumber: str | None = None,
    workphone: str | None = None,
    homephone: str | None = None,
    other: str | None = None,
    loginclass: str | None = None,
    date: str | None = None,
    mindays: int | None = None,
    maxdays: int | None = None,
    inactdays: int | None = None,
    warndays: int | None = None,
    expire: str | None = None,
    win_homedrive: str | None = None,
    win_profile: str | None = None,
    win_logonscript: str | None = None,
    win_description: str | None = None,
    nologinit: bool = False,
    allow_uid_change: bool = False,
    allow_gid_change: bool = False,
    password_lock: bool | None = None,
    gid_from_name: bool = False,
    local: bool = False,
) -> Result:
    """Make sure that a user exists as described; attributes that are not given stay unchanged.

    Args:
        name: the login name.
        uid: the user's number; the next free one if not given.
        gid: the primary group, by number or by name.
        usergroup: create a group with the same name for a new user; the system's default if not given.
        groups: the other groups the user is in. All of them must exist.
        optional_groups: more groups; those that do not exist are ignored.
        remove_groups: remove the user from groups that are not listed.
        home: the home directory.
        createhome: create the home directory if it is missing.
        persist_home: when ``home`` changes, move the contents of the old one.
        password: the password hash, as in /etc/shadow; never shown.
        hash_password: ``password`` is the plain password, to be hashed here.
        enforce_password: false sets the password only where there is none.
        empty_password: no password at all: the user logs in without one.
        shell: the login shell.
        unique: false allows a ``uid`` that another user has.
        system: create a system user, with a number from that range.
        fullname, roomnumber, workphone, homephone, other: the parts of the comment field.
        loginclass: for BSD systems; has no effect here.
        date: when the password was last changed: days since 1970, or ``2026-12-31``; 0 forces a new one.
        mindays, maxdays: days before the password may, and must, be changed; -1 for no limit.
        inactdays: days that the password still works after it has expired; -1 for no limit.
        warndays: days before the password expires that the user is warned.
        expire: when the account expires: days since 1970, or ``2026-12-31``; -1 for never.
        win_homedrive, win_profile, win_logonscript, win_description: for Windows; no effect here.
        nologinit: do not add the user to the databases of last and failed logins.
        allow_uid_change, allow_gid_change: permit another ``uid`` or ``gid`` for an existing user. Files
            keep their old owner.
        password_lock: lock or unlock the password.
        gid_from_name: the primary group is the one named after the user.
        local: look only in /etc/passwd and /etc/group, not in a directory service.

    Example:
        ```yaml
        carol:
          user.present:
            - fullname: Carol Shaw
            - shell: /bin/bash
            - home: /srv/carol
            - groups: [www-data]
        ```
    """
    user_tools.checked_name(name)
    if empty_password and password is not None:
        raise Refused("password and empty_password cannot be combined")
    texts = (fullname, roomnumber, workphone, homephone, other)
    ages = (date, mindays, maxdays, inactdays, warndays, expire)
    given: Changes = {"uid": uid, "gid": _gid(ctx, name if gid_from_name else gid, local=local)}
    given |= {"home": home, "shell": shell, **dict(zip(records.GECOS, texts, strict=True))}
    want = DesiredUser(
        name=name,
        fields={key: value for key, value in given.items() if value is not None},
        ages={key: _days(key, value) for key, value in zip(AGES, ages, strict=True) if value is not None},
        groups=_groups(ctx, groups, optional_groups, local=local),
        remove_groups=remove_groups,
        createhome=createhome,
        persist_home=persist_home,
        password=Password(
            value="" if empty_password else password,
            plain=hash_password and not empty_password,
            enforce=enforce_password,
            lock=password_lock,
        ),
        usergroup=usergroup,
        system=system,
        unique=unique,
        nologinit=nologinit,
        local=local,
    )
    user_tools.gecos(want.fields)
    exists = _permitted(ctx, want, allow_uid_change=allow_uid_change, allow_gid_change=allow_gid_change)

    def act(changes: Changes) -> None:
        if exists:
            user_tools.change(ctx, want, changes)
        else:
            user_tools.add(ctx, want)

    unused = {
        "loginclass": loginclass,
        "win_homedrive": win_homedrive,
        "win_profile": win_profile,
        "win_logonscript": win_logonscript,
        "win_description": win_description,
    }
    return bring(
        ctx,
        lambda: differs(ctx, want),
        act,
        facts=lambda: facts(ctx, name, local=local),
        words=_words(name, exists),
        warnings=tuple(f"argument {key!r} has no effect on Linux" for key in unused if unused[key]),
    )


def _words(name: str, exists: bool) -> Words:
    already = f"User {name} is present and up to date"
    if exists:
        return Words(already, f"User {name} would be updated", f"User {name} was updated")
    return Words(already, f"User {name} would be created", f"User {name} was created")


def _gid(ctx: Context, gid: str | None, *, local: bool) -> int | str | None:
    """The number of a group. In test mode, an earlier state may still create a missing one."""
    if gid is None:
        return None
    if gid.lstrip("-").isdigit():
        return int(gid)
    found = records.group(ctx, gid, local=local)
    if found is None and not ctx.test:
        raise Refused(f"there is no group {gid!r} for gid; declare it with group.present before")
    return found.gid if found else gid


def _groups(
    ctx: Context, groups: list[str] | None, optional: list[str] | None, *, local: bool
) -> tuple[str, ...] | None:
    wanted = [part.strip() for one in groups or [] for part in one.split(",") if part.strip()]
    missing = [one for one in wanted if records.group(ctx, one, local=local) is None]
    if missing and not ctx.test:
        raise Refused(f"there is no group {', '.join(missing)}; declare it with group.present before")
    more = [one for one in optional or [] if records.group(ctx, one, local=local) is not None]
    if groups is None and not more:
        return None  # no list of groups, so none is taken away
    return tuple(dict.fromkeys([*wanted, *more]))


def _days(key: str, value: object) -> int:
    """Days since 1970, from a number or a date."""
    try:
        return int(str(value))
    except ValueError:
        pass
    from datetime import date

    try:
        return (date.fromisoformat(str(value)) - date(1970, 1, 1)).days
    except ValueError:
        raise Refused(f"{key} needs days since 1970 or a date such as 2026-12-31, got {value!r}") from None


def _permitted(ctx: Context, want: DesiredUser, *, allow_uid_change: bool, allow_gid_change: bool) -> bool:
    """True if the user exists; raises ``Refused`` if its numbers would change but must not."""
    have = records.account(ctx, want.name, local=want.local)
    if have is None:
        return False
    for key, now, allowed in (("uid", have.uid, allow_uid_change), ("gid", have.gid, allow_gid_change)):
        if not allowed and want.fields.get(key, now) != now:
            raise Refused(
                f"user {want.name} has the {key} {now}, not {want.fields[key]}; set allow_{key}_change to "
                "change it (files keep the old one)"
            )
    return True


@state(removes=True)
def absent(
    ctx: Context, name: str, *, purge: bool = False, force: bool = False, local: bool = False
) -> Result:
    """Remove a user.

    Args:
        name: the login name.
        purge: remove the home directory and the mail as well.
        force: remove the user even if it is logged in.
        local: look only in /etc/passwd, not in a directory service.

    Example:
        ```yaml
        olduser:
          user.absent:
            - purge: true
        ```
    """
    user_tools.checked_name(name)

    def differs() -> Changes:
        have = records.account(ctx, name, local=local)
        if have is None:
            return {}
        gone = {f"{name} group": "removed"} if _group_goes(ctx, have) else {}
        return {**gone, name: "removed"}

    return bring(
        ctx,
        differs,
        lambda _: user_tools.remove(ctx, name, purge=purge, force=force),
        facts=lambda: facts(ctx, name, local=local),
        words=Words(
            f"User {name} is not present", f"User {name} would be removed", f"User {name} was removed"
        ),
    )


def _group_goes(ctx: Context, have: records.Account) -> bool:
    """True if ``userdel`` removes the user's own group, which no other user has."""
    own = records.group(ctx, have.name, local=True)
    if own is None or own.gid != have.gid or records.defaults(ctx)["USERGROUPS_ENAB"] != "yes":
        return False
    others = {row[0] for row in records.rows(ctx, "/etc/passwd", 7) if row[3] == str(own.gid)}
    return not (others | set(own.members)) - {have.name}
