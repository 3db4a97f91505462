"""Samba accounts, read and changed with the program ``pdbedit``."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping

from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes
from saltern.modules.api.programs import tool
from saltern.modules.api.refused import Refused, one_line
from saltern.modules.lib.accounts.nt_hash import HASH, nt_hash
from saltern.modules.lib.accounts.passwords import REDACTED

Account = dict[str, str]  # what pdbedit shows of one account, by its label in lower case
LOGIN = "unix username"
HASHED = "nt hash"
FLAGS = "account flags"
SID = "user sid"
SETTABLE = "NDHLX"
# Argument → the label that pdbedit shows it under, and the option that sets it.
FIELDS: Mapping[str, tuple[str, str]] = {
    "domain": ("domain", "--domain="),
    "profile": ("profile path", "--profile="),
    "script": ("logon script", "--script="),
    "drive": ("homedir drive", "--drive="),
    "homedir": ("home directory", "--homedir="),
    "fullname": ("full name", "--fullname="),
    "account_desc": ("account desc", "--account-desc="),
}
OPTIONS = {**dict(FIELDS.values()), FLAGS: "--account-control=", SID: "-U"}
# The value after a reset, and the option for it.
RESETS = {"logon hours": ("F" * 42, "--logon-hours-reset"), "bad password count": ("0", "-z")}


def resets(hours: bool, count: bool) -> tuple[str, ...]:
    """The labels of the values to reset."""
    return tuple(label for label, asked in zip(RESETS, (hours, count), strict=True) if asked)


class DesiredAccount(Struct, frozen=True):
    """The specification of an account; fields that are not in ``fields`` stay unchanged."""

    login: str
    hashed: str = ""
    plain: str = ""
    fields: Mapping[str, str] = {}
    resets: tuple[str, ...] = ()
    machine: bool = False


def desired_account(
    login: str,
    *,
    password: str | None = None,
    password_hashed: bool = False,
    account_control: str | None = None,
    user_sid: str | int | None = None,
    resets: tuple[str, ...] = (),
    machine: bool = False,
    fields: Mapping[str, str | None] | None = None,
) -> DesiredAccount:
    """The specification from the arguments. Raises ``Refused`` for impossible values."""
    if not one_line(login, "the login", without=":"):
        raise Refused("an account needs a login")
    hashed = password.upper() if password and password_hashed else nt_hash(password) if password else ""
    if hashed and not HASH.match(hashed):
        raise Refused("password_hashed is set, but the password is not an NT hash: 32 hexadecimal digits")
    wanted = {
        FIELDS[key][0]: one_line(value, key) for key, value in (fields or {}).items() if value is not None
    }
    if account_control is not None:
        wanted[FLAGS] = _flags(account_control)
    if user_sid is not None:
        wanted[SID] = one_line(str(user_sid), "user_sid")
    plain = password if password and not password_hashed else ""
    if not {"\n", "\r", "\0"}.isdisjoint(plain):  # the message must not contain the password
        raise Refused("the password must not contain the end of a line")
    return DesiredAccount(login, hashed, plain, wanted, resets, machine)


def _flags(text: str) -> str:
    letters = text.strip().removeprefix("[").removesuffix("]").upper().replace(" ", "")
    unknown = sorted(set(letters) - set(SETTABLE))
    if unknown:
        raise Refused(f"account_control cannot set {', '.join(unknown)}; it sets {', '.join(SETTABLE)}")
    return f"[{''.join(one for one in SETTABLE if one in letters)}]"


def accounts(ctx: Context, *, hashes: bool = False) -> dict[str, Account]:
    """All accounts by their login."""
    listed = tool(ctx, "pdbedit", "--list", "--verbose", *(["--smbpasswd-style"] if hashes else [])).out
    return {one[LOGIN]: one for one in _records(listed)}


def _records(listed: str) -> Iterator[Account]:
    record: Account = {}
    label = ""
    for line in listed.splitlines():
        if line.startswith("-----") and not line.strip("-"):
            if LOGIN in record:
                yield record
            record, label = {}, ""
            continue
        before, colon, value = line.partition(":")
        if colon:
            label = before.strip().lower()
            record[label] = value.strip()
        elif label:
            record[label] += line.strip()
    if LOGIN in record:
        yield record


def account(ctx: Context, login: str, *, hashes: bool = False) -> Account:
    """One account; empty if there is none. A machine's login ends with a dollar sign, written or not."""
    all_of_them = accounts(ctx, hashes=hashes)
    return all_of_them.get(login) or all_of_them.get(f"{login}$") or {}


def differs(ctx: Context, want: DesiredAccount) -> Changes:
    """The differences in Salt's form: ``created``, or each field with its old and new value."""
    have = account(ctx, want.login, hashes=True)
    if not have:
        return {want.login: "created"}
    fields: Changes = {
        label: {"old": have.get(label, ""), "new": value} for label, value in _other(have, want).items()
    }
    if want.hashed and have.get(HASHED) != want.hashed:
        fields["password"] = REDACTED
    return {want.login: fields} if fields else {}


def _other(have: Account, want: DesiredAccount) -> dict[str, str]:
    wrong = {label: value for label, value in want.fields.items() if not _fits(label, have, value)}
    return wrong | {label: RESETS[label][0] for label in want.resets if have.get(label) != RESETS[label][0]}


def _fits(label: str, have: Account, value: str) -> bool:
    now = have.get(label, "")
    if label == FLAGS:
        return {one for one in now if one in SETTABLE} == set(value[1:-1])
    if label == SID and value.isdecimal():
        return now.rpartition("-")[2] == value
    return now == value.strip()


def bring_about(ctx: Context, want: DesiredAccount) -> None:
    """Create the account if it is missing, then change all that differs."""
    have = account(ctx, want.login, hashes=True)
    if not have:
        _create(ctx, want)
        have = account(ctx, want.login, hashes=True)
    login = have.get(LOGIN, want.login)
    if want.hashed and have.get(HASHED) != want.hashed:
        _set_password(ctx, login, want)
    options = [RESETS[label][1] for label in want.resets if have.get(label) != RESETS[label][0]]
    for label, value in _other(have, DesiredAccount(want.login, fields=want.fields)).items():
        option = OPTIONS[label]
        options += [f"{option}{value}"] if option.endswith("=") else [option, value]
    if options:
        tool(ctx, "pdbedit", "--modify", f"--user={login}", *options)


def _create(ctx: Context, want: DesiredAccount) -> None:
    """Create the account with a random password, until the wanted hash replaces it."""
    if not want.hashed:
        raise Refused(f"there is no account {want.login!r}; give a password to create it")
    kind = ["--machine"] if want.machine else []
    try:
        _with_password(ctx, want.login, want.plain or secrets.token_hex(16), *kind)
    except Refused as problem:
        why = f"; is there a user {want.login!r} on this machine?" if "Failed to add" in str(problem) else ""
        raise Refused(f"{problem}{why}") from None


def _with_password(ctx: Context, login: str, password: str, *kind: str) -> None:
    argv = ("pdbedit", "--create", f"--user={login}", "--password-from-stdin", *kind)
    tool(ctx, *argv, stdin=f"{password}\n{password}\n", hide=True)


def _set_password(ctx: Context, login: str, want: DesiredAccount) -> None:
    """Set the password. A plain one is piped, so that no process list shows it; a hash cannot be."""
    if want.plain and not want.machine:
        _with_password(ctx, login, want.plain)
        return
    tool(ctx, "pdbedit", "--modify", f"--user={login}", f"--set-nt-hash={want.hashed}", hide=True)


def delete(ctx: Context, login: str) -> None:
    kind = ["--machine"] if login.endswith("$") else []
    tool(ctx, "pdbedit", "--delete", f"--user={login}", *kind)
