"""The tools that create, change and remove groups."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes
from saltern.modules.api.programs import tool
from saltern.modules.api.refused import Refused
from saltern.modules.lib.accounts import records


def add(ctx: Context, name: str, *, gid: int | None, system: bool, non_unique: bool) -> None:
    number = [] if gid is None else ["-g", str(gid)]
    switches = {"-r": system, "-o": non_unique and gid is not None}
    tool(ctx, "groupadd", *number, *(flag for flag, on in switches.items() if on), name)


def set_gid(ctx: Context, name: str, gid: int, *, non_unique: bool = False) -> None:
    tool(ctx, "groupmod", "-g", str(gid), *(["-o"] if non_unique else []), name)


def add_user(ctx: Context, name: str, user: str) -> None:
    tool(ctx, "gpasswd", "-a", user, name)


def remove_user(ctx: Context, name: str, user: str) -> None:
    tool(ctx, "gpasswd", "-d", user, name)


def set_members(ctx: Context, name: str, members: list[str]) -> None:
    tool(ctx, "gpasswd", "-M", ",".join(members), name)


def remove(ctx: Context, name: str) -> None:
    ran = ctx.host.run(["groupdel", name])
    if ran.code == 8:
        raise Refused(f"{name!r} is the primary group of a user; give that user another one first")
    if ran.code:
        raise Refused(f"groupdel {name}: {ran.err.strip()}")


def facts(ctx: Context, name: str, *, local: bool = False) -> Changes:
    have = records.group(ctx, name, local=local)
    if have is None:
        return {"name": name, "exists": False}
    return {"name": name, "exists": True, "gid": have.gid, "members": sorted(have.members)}


def members(ctx: Context, name: str) -> tuple[str, ...]:
    have = records.group(ctx, name)
    return have.members if have else ()
