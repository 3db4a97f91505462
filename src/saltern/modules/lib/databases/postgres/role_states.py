"""``postgres_user`` and ``postgres_group``, which differ only in the right to log in."""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, bring
from saltern.modules.lib.databases.postgres import roles
from saltern.modules.lib.databases.postgres.client import Login, check_name
from saltern.modules.lib.databases.postgres.passwords import form_of, matches
from saltern.modules.lib.databases.postgres.roles import DesiredRole, Role
from saltern.modules.lib.databases.postgres.sight import Sight, facts_of, remove_seen, words

NEW = {"User": {"login": True}, "Group": {"login": False}}  # defaults of a new role
UNENCRYPTED = "encrypted: false has no effect: since version 10 PostgreSQL encrypts every password"
NOT_READABLE = (
    "the password was not compared, since {who} may not read the stored one; "
    "set refresh_password to set it in every run"
)


def present(
    ctx: Context,
    who: Login,
    kind: str,
    name: str,
    *,
    properties: dict[str, bool | None],
    password: str | None,
    default_password: str | None = None,
    encrypted: object = None,
    refresh_password: bool = False,
    valid_until: str | None = None,
    groups: str | list[str] | None = None,
) -> Result:
    """Create or change the role; ``kind`` is ``User`` or ``Group``."""
    check_name(name, "name")
    password = password or None  # as in Salt, an empty one means none
    form = form_of(encrypted)
    wanted = read_groups(groups)
    sight = Sight(ctx, lambda: roles.get(ctx, who, name, valid_until), None)
    first = sight.last
    refresh = bool(refresh_password and first)

    def differs() -> Changes:
        return {name: reported} if (reported := _differs(sight.again())) else {}

    def _differs(have: Role | None) -> object:
        if have is None:
            return "Present"
        update: Changes = {
            key: on for key, on in properties.items() if on is not None and getattr(have, key) != on
        }
        if password is not None and (refresh or _other_password(have, password, form)):
            update["password"] = True
        if valid_until and not have.valid_until_same:
            update["valid_until"] = valid_until
        if missing := [group for group in wanted if group not in have.groups]:
            update["groups"] = missing
        return update

    def act(changes: Changes) -> None:
        nonlocal refresh
        todo = changes[name]
        want = DesiredRole(
            name=name,
            properties={**NEW[kind], **{key: on for key, on in properties.items() if on is not None}},
            password=password if password is not None else default_password,
            form=form,
            valid_until=valid_until,
            groups=tuple(wanted),
        )
        if not isinstance(todo, dict):
            roles.create(ctx, who, want)
        else:
            roles.alter(ctx, who, _only(want, todo, password))
        refresh = False

    return bring(
        ctx,
        differs,
        act,
        facts=lambda: facts_of(name, sight.last),
        words=words(f"{kind} {name}", first is not None),
        warnings=sight.warnings + _warnings(who, first, password, encrypted, refresh=refresh),
    )


def _only(want: DesiredRole, todo: Changes, password: str | None) -> DesiredRole:
    """Only the differing part of the specification: the login may lack the right to change the rest."""
    return DesiredRole(
        name=want.name,
        properties={key: on for key, on in want.properties.items() if key in todo},
        password=password if "password" in todo else None,
        form=want.form,
        valid_until=want.valid_until if "valid_until" in todo else None,
        groups=tuple(map(str, missing)) if isinstance(missing := todo.get("groups"), list) else (),
    )


def _other_password(have: Role, password: str, form: str | None) -> bool:
    return have.readable and not matches(have.name, password, have.password or "", form)


def _warnings(
    who: Login, have: Role | None, password: str | None, encrypted: object, *, refresh: bool
) -> tuple[str, ...]:
    blind = have is not None and not have.readable and password is not None and not refresh
    return tuple(
        text
        for text, applies in (
            (UNENCRYPTED, encrypted is False),
            (NOT_READABLE.format(who=who.user or who.runas or "this user"), blind),
        )
        if applies
    )


def read_groups(groups: str | list[str] | None) -> list[str]:
    """The groups from a list, or from one text with commas, as in Salt."""
    names = [part.strip() for part in groups.split(",")] if isinstance(groups, str) else groups or []
    return [check_name(one, "a group") for one in dict.fromkeys(names) if one]


def absent(ctx: Context, who: Login, kind: str, name: str) -> Result:
    sight = Sight(ctx, lambda: roles.get(ctx, who, name), None)
    return remove_seen(
        ctx,
        name,
        sight,
        lambda: roles.drop(ctx, who, name),
        what=f"{kind} {name}",
        facts=lambda have: facts_of(name, have),
    )
