"""The specification of a user, and how the existing user differs. Only decides; changes nothing."""

from __future__ import annotations

import os

from msgspec import Struct, field

from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes
from saltern.modules.api.refused import Refused
from saltern.modules.lib.accounts import records
from saltern.modules.lib.accounts.passwords import REDACTED, matches
from saltern.modules.lib.accounts.records import GECOS, Account, Shadow

AGES = ("date", "mindays", "maxdays", "inactdays", "warndays", "expire")
HOMELESS = ("", "/nonexistent", "/dev/null")  # home directories that are never created


UNSET = "!"  # in the shadow file, before a first password


class Password(Struct, frozen=True, kw_only=True):
    """``value`` is a secret; ``plain`` is true if it is not a hash yet."""

    value: str | None = None
    plain: bool = False
    enforce: bool = True
    lock: bool | None = None

    def counts(self, now: str) -> bool:
        """True if it replaces the present one: with ``enforce``, where there is none, or if it is empty."""
        return self.value is not None and (self.enforce or now == UNSET or not self.value)


class DesiredUser(Struct, frozen=True, kw_only=True):
    """``fields`` are those of /etc/passwd that matter, ``ages`` those of /etc/shadow."""

    name: str
    fields: dict[str, object] = field(default_factory=dict)
    ages: dict[str, int] = field(default_factory=dict)
    groups: tuple[str, ...] | None = None
    remove_groups: bool = True
    createhome: bool = True
    persist_home: bool = False
    password: Password = Password()
    usergroup: bool | None = None
    system: bool = False
    unique: bool = True
    nologinit: bool = False
    local: bool = False


def differs(ctx: Context, want: DesiredUser) -> Changes:
    """The changes in Salt's form: each attribute and its new value, secrets redacted."""
    have = records.account(ctx, want.name, local=want.local)
    if have is None:
        return _new(ctx, want)
    seen: dict[str, object] = {
        "uid": have.uid,
        "gid": have.gid,
        "home": have.home,
        "shell": have.shell,
        **have.words,
    }
    changes: Changes = {key: value for key, value in want.fields.items() if seen[key] != value}
    if want.groups is not None or "gid" in changes:
        changes |= _groups(ctx, want, have)
    home = str(want.fields.get("home", have.home))
    moved = want.persist_home and "home" in changes and os.path.isdir(have.home)
    if want.createhome and home not in HOMELESS and not os.path.isdir(home) and not moved:
        changes["homeDoesNotExist"] = home
    return changes | _secrets(ctx, want)


def _groups(ctx: Context, want: DesiredUser, have: Account) -> Changes:
    """The groups, if they change. Unless others are to be removed, the primary group that was stays one."""
    gid = _number(want.fields.get("gid"), have.gid)
    primary = records.names_of_gid(ctx, gid)
    every = set(records.groups_of(ctx, have, local=want.local))
    now = every - records.names_of_gid(ctx, have.gid)
    kept = every if want.groups is None or not want.remove_groups else set()
    wanted = (set(want.groups or ()) | kept) - primary
    return {} if wanted == now - primary else {"groups": sorted(wanted | {records.group_of_gid(gid)})}


def _number(value: object, otherwise: int) -> int:
    return value if isinstance(value, int) else otherwise


def _secrets(ctx: Context, want: DesiredUser) -> Changes:
    if not want.ages and want.password.value is None and want.password.lock is None:
        return {}
    have = records.shadow(ctx, want.name)
    if have is None:
        raise Refused(f"no entry of {want.name!r} can be read in /etc/shadow; run as root")
    changes: Changes = {key: value for key, value in want.ages.items() if getattr(have, key) != value}
    if not password_is_right(ctx, want.password, have):
        changes["passwd"] = REDACTED
    return changes


def password_is_right(ctx: Context, want: Password, have: Shadow) -> bool:
    bare = have.passwd.lstrip("!")
    if want.counts(have.passwd) and not _same(ctx, want, have.passwd, bare):
        return False
    if want.lock is None or not bare:  # without a password there is nothing to lock or unlock
        return want.lock is not True or have.locked
    return have.locked == want.lock


def _same(ctx: Context, want: Password, full: str, bare: str) -> bool:
    """True if the password is the wanted one, locked or not."""
    assert want.value is not None
    found = full if want.lock is None else bare
    if want.plain:
        return matches(ctx, want.value, found)
    return found == (want.value if want.lock is None else want.value.lstrip("!"))


def _new(ctx: Context, want: DesiredUser) -> Changes:
    """The changes for a new user. A number that the system will choose is not predicted."""
    usual = records.defaults(ctx)
    fields: Changes = {
        "name": want.name,
        "home": f"{usual['HOME']}/{want.name}",
        "shell": usual["SHELL"],
        **{key: value for key, value in want.fields.items() if value != ""},
    }
    if want.groups:
        fields["groups"] = sorted({*want.groups, primary_group(want, usual)})
    if want.password.value is not None:
        fields["password"] = REDACTED if want.password.value else ""
    elif want.password.lock:
        fields["passwd"] = REDACTED
    return fields | want.ages


def primary_group(want: DesiredUser, usual: dict[str, str]) -> str:
    gid = want.fields.get("gid")
    if gid is not None:
        return records.group_of_gid(gid) if isinstance(gid, int) else str(gid)
    own = usual["USERGROUPS_ENAB"] == "yes" if want.usergroup is None else want.usergroup
    group = usual["GROUP"]
    return want.name if own else records.group_of_gid(int(group)) if group.isdigit() else group


def facts(ctx: Context, name: str, *, local: bool = False) -> Changes:
    """The facts about a user that may be shown."""
    have = records.account(ctx, name, local=local)
    if have is None:
        return {"name": name, "exists": False}
    known: Changes = {
        "name": name,
        "exists": True,
        "uid": have.uid,
        "gid": have.gid,
        "home": have.home,
        "shell": have.shell,
        "groups": records.groups_of(ctx, have, local=local),
        **{key: have.words[key] for key in GECOS},
    }
    secret = records.shadow(ctx, name)
    if secret is not None:
        known["locked"] = secret.locked
        known |= {key: getattr(secret, key) for key in AGES}
    return known
