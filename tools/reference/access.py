"""The page of permission: roles, actions, and the keys of a policy, from their tables."""

from __future__ import annotations

from saltern.fleet.access import conditions, document, rules
from saltern.fleet.access.policy import Login, Oidc, Pam
from saltern.fleet.access.ports import ACTIONS, ROLES, Action
from saltern.fleet.access.throttle import LIMITS
from tools.reference.markdown import code, page, prose, table


def access() -> str:
    return page(
        "Roles, actions and the policy",
        "What people may do on a controller. [How it is used](../guides/who-may-do-what.md), and the "
        "[routes](api.md) that need each action.",
        "## Roles",
        table(("role", "may"), [(code(name), prose(text)) for name, text in ROLES.items()]),
        "## Actions",
        "A scope of an API token is an action, or a pattern such as `systems.*`; for actions that rules "
        "decide, a function may follow: `jobs.submit:test.*`.",
        table(
            ("action", "what", "decided by"),
            [(code(n), prose(row.what), _by(row)) for n, row in ACTIONS.items()],
        ),
        "## Keys of a policy",
        f"A policy has the keys {_codes(document.KEYS)}.",
        f"A rule has the keys {_codes(rules.KEYS)}. A condition in `only` has one or more of"
        f" {_codes(conditions.KEYS)}; of a list of conditions, at least one must be fulfilled.",
        *(_section(shape.__name__.lower(), shape) for shape in (Login, Pam, Oidc)),
        "## Failed logins",
        "After this many failures, the next attempt has to wait; each further failure doubles the wait.",
        table(
            ("counted by", "failures", "longest wait"),
            [(kind, str(one.free), f"{one.longest:.0f} s") for kind, one in LIMITS.items()],
        ),
    )


def _by(row: Action) -> str:
    if row.own:
        return "everyone who has logged in"
    if row.by_rules:
        return "the rules of the policy"
    return ", ".join(row.roles) + ("; everyone for their own jobs" if row.own_jobs else "")


def _codes(names: tuple[str, ...]) -> str:
    return ", ".join(map(code, names))


def _section(name: str, shape: type[Login] | type[Pam] | type[Oidc]) -> str:
    about = " ".join((shape.__doc__ or "").split())
    title = "login" if name == "login" else f"login.{name}"
    return f"### {title}\n\n{prose(about)} Keys: {_codes(shape.__struct_fields__)}."
