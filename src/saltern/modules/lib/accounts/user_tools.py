"""The tools that create, change and remove users."""

from __future__ import annotations

import os
from collections.abc import Mapping

from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes
from saltern.modules.api.programs import tool
from saltern.modules.api.refused import Refused
from saltern.modules.lib.accounts import records
from saltern.modules.lib.accounts.desired_user import DesiredUser, Password, primary_group
from saltern.modules.lib.accounts.passwords import crypt_password, set_hash
from saltern.modules.lib.accounts.records import GECOS

FLAGS = {"uid": "-u", "gid": "-g", "home": "-d", "shell": "-s"}
AGE_FLAGS = {
    "date": "-d",
    "mindays": "-m",
    "maxdays": "-M",
    "inactdays": "-I",
    "warndays": "-W",
    "expire": "-E",
}


def checked_name(name: str, what: str = "user") -> str:
    """The name, if no tool can take it as an option and no file as two fields."""
    if not name or name.startswith("-") or any(sign in name for sign in ":/,\n\0 \t"):
        raise Refused(f"{name!r} cannot be the name of a {what}")
    return name


def gecos(words: Mapping[str, object]) -> str:
    for key in GECOS:
        if any(
            sign in str(words.get(key, "")) for sign in ("," if key != "other" else "", ":", "\n") if sign
        ):
            raise Refused(f"{key} must not contain a colon, a comma or a line end")
    return ",".join(str(words.get(key, "")) for key in GECOS).rstrip(",")


def add(ctx: Context, want: DesiredUser) -> None:
    argv = ["useradd"]
    for key, flag in FLAGS.items():
        if key in want.fields:
            argv += [flag, str(want.fields[key])]
    if _has_own_group(ctx, want):
        argv += ["-g", want.name]
    elif "gid" not in want.fields and want.usergroup is not None:
        argv.append("-U" if want.usergroup else "-N")
    if want.groups:
        argv += ["-G", ",".join(want.groups)]
    if words := gecos(want.fields):
        argv += ["-c", words]
    argv.append("-m" if want.createhome else "-M")
    switches = {
        "-r": want.system,
        "-l": want.nologinit,
        "-o": "uid" in want.fields and not want.unique,
    }
    argv += [flag for flag, on in switches.items() if on]
    tool(ctx, *argv, want.name)
    set_secrets(ctx, want.name, want.password, want.ages, new=True)


def _has_own_group(ctx: Context, want: DesiredUser) -> bool:
    """True if the group named after the user exists already; useradd would fail to create it."""
    listed = want.name in (want.groups or ()) and "gid" not in want.fields
    return listed and primary_group(want, records.defaults(ctx)) == want.name


def change(ctx: Context, want: DesiredUser, changes: Changes) -> None:
    have = records.account(ctx, want.name, local=want.local)
    assert have is not None
    argv = []
    for key, flag in FLAGS.items():
        if key in changes:
            argv += [flag, str(changes[key])]
    if "home" in changes and want.persist_home:
        argv.append("-m")
    if "uid" in changes and not want.unique:
        argv.append("-o")
    if any(key in changes for key in GECOS):
        argv += ["-c", gecos(have.words | changes)]
    groups = changes.get("groups")
    if isinstance(groups, list):
        argv += ["-G", ",".join(_supplementary(want, have, groups))]
    if argv:
        tool(ctx, "usermod", *argv, want.name)
    if "homeDoesNotExist" in changes:
        make_home(ctx, want.name, str(changes["homeDoesNotExist"]), local=want.local)
    ages = {key: value for key, value in want.ages.items() if key in changes or key == "date"}
    set_secrets(ctx, want.name, want.password if "passwd" in changes else Password(), ages)


def _supplementary(want: DesiredUser, have: records.Account, groups: list[str]) -> list[str]:
    """The supplementary groups, without the primary one unless it is requested as well."""
    gid = want.fields.get("gid", have.gid)
    primary = records.group_of_gid(gid) if isinstance(gid, int) else str(gid)
    return [name for name in groups if name != primary]


def make_home(ctx: Context, name: str, home: str, *, local: bool = False) -> None:
    """Create a home directory with the contents of /etc/skel, owned by the user."""
    from shutil import copytree

    user = records.account(ctx, name, local=local)
    assert user is not None
    mode = int(records.defaults(ctx).get("HOME_MODE", "0755"), 8)
    ctx.host.makedirs(os.path.dirname(home) or "/")
    if os.path.isdir("/etc/skel"):
        copytree("/etc/skel", home, symlinks=True)
    else:
        os.mkdir(home)
    for place, directories, files in os.walk(home):
        for inner in (*directories, *files):
            os.chown(os.path.join(place, inner), user.uid, user.gid, follow_symlinks=False)
    os.chown(home, user.uid, user.gid)
    os.chmod(home, mode)


def set_secrets(
    ctx: Context, name: str, password: Password, ages: Mapping[str, int], *, new: bool = False
) -> None:
    """Set the password, then the ages: setting a password changes the date that ``ages`` may set."""
    have = records.shadow(ctx, name)
    hashed = _hash(ctx, name, password, new=new)
    if hashed is not None:
        set_hash(ctx, name, hashed)
    if hashed and have and hashed.strip("!") == have.passwd.strip("!"):  # a lock is not a new password
        ages = {"date": have.date, **ages}
    argv = [part for key, value in ages.items() for part in (AGE_FLAGS[key], str(value))]
    if argv:
        tool(ctx, "chage", *argv, name)


def _hash(ctx: Context, name: str, want: Password, *, new: bool) -> str | None:
    """The new password field, including a lock; None to leave it unchanged."""
    have = records.shadow(ctx, name)
    now = have.passwd if have else "!"
    if want.value is not None and (new or want.counts(now)):
        wanted = crypt_password(ctx, want.value) if want.plain else want.value
        if wanted is None:
            raise Refused("this machine cannot create a password hash; give a hash, without hash_password")
    elif want.lock is not None:
        wanted = now
    else:
        return None
    if want.lock is None:
        return wanted
    bare = wanted.lstrip("!")
    return f"!{bare}" if want.lock or not bare else bare


def remove(ctx: Context, name: str, *, purge: bool, force: bool) -> None:
    argv = ["userdel", *(["-r"] if purge else []), *(["-f"] if force else []), name]
    ran = ctx.host.run(argv)
    if ran.code == 8:
        raise Refused(f"{name!r} is logged in or runs programs; end them, or set force")
    if ran.code not in (0, 12):  # 12: the user is removed, but the home or mail did not exist
        raise Refused(f"{' '.join(argv)}: {ran.err.strip()}")
