"""Who may join and who may do what: keys of systems, join tokens, operators, the policy, the audit."""

from __future__ import annotations

from saltern.fleet.api.pages import encode_cursor
from saltern.fleet.console.ask import Ask
from saltern.fleet.console.format import data_line
from saltern.fleet.console.forms import number_of, whole_of
from saltern.fleet.console.row import Act, Data, Form, Page, Visit

STATES = ("pending", "accepted", "rejected", "revoked")
DAY = 86_400.0
PAGE = 100
KEYS = 40  # on one page: each has its own dialogs


async def gather_keys(visit: Visit) -> Data:
    """Keys of one state, and how systems join."""
    state = visit.query.get("state", "")
    state = state if state in STATES else "pending"
    page = await visit.ask.get("/v1/systems", state=state, limit=KEYS, cursor=visit.query.get("after", ""))
    tokens = await visit.ask.every("/v1/tokens") if visit.may("tokens.read") else None
    return {
        "state": state,
        "states": STATES,
        "systems": page["items"],
        "next": page["next"],
        "tokens": sorted(tokens, key=lambda one: -one["made_at"]) if tokens is not None else None,
        "pending": (await visit.ask.get("/v1/inbox"))["keys"],
    }


async def gather_policy(visit: Visit) -> Data:
    """The policy in force, its versions, and what it would decide."""
    policy = await visit.ask.get("/v1/policy")
    versions = await visit.ask.every("/v1/policy/versions")
    asked = {key: visit.query.get(key, "").strip() for key in ("who", "function", "target")}
    explained = None
    if all(asked.values()):
        explained = await visit.ask.send("POST", "/v1/policy/explain", asked)
    operators = await visit.ask.every("/v1/operators") if visit.may("operators.read") else None
    return {
        "policy": policy,
        "versions": versions[::-1],
        "asked": asked,
        "explained": explained,
        "operators": operators,
        "roles": ("viewer", "operator", "approver", "admin"),
    }


async def gather_audit(visit: Visit) -> Data:
    """The last rows of the audit, and whether its hash chain is intact."""
    verified = await visit.ask.get("/v1/audit/verify")
    last = _before(visit.query.get("before", ""), verified["number"])
    rows = await visit.ask.get("/v1/audit", limit=PAGE, cursor=_cursor(max(0, last - PAGE)))
    found = [one for one in rows["items"] if one["number"] <= last]
    who = visit.query.get("who", "").strip()
    return {
        "verified": verified,
        "rows": [
            {**one, "text": data_line(one["detail"], 300)}
            for one in reversed(found)
            if not who or one["who"] == who
        ],
        "who": who,
        "older": last - PAGE if last > PAGE else 0,
        "last": last,
    }


def _before(text: str, newest: int) -> int:
    given = int(text) if text.isascii() and text.isdigit() and len(text) < 16 else newest
    return min(given, newest)


def _cursor(after: int) -> str:
    return encode_cursor(after)


# -- acts -------------------------------------------------------------------------------------------------


def _token(form: Form) -> Data:
    body: Data = {"uses": whole_of(form.text("uses") or "1"), "site": form.text("site")}
    hours = number_of(form.text("hours") or "24")
    body["life"] = hours * 3600 if isinstance(hours, float) else hours
    return body


def _operator(form: Form) -> Data:
    return {
        "name": form.text("name"),
        "roles": form.many("roles"),
        "password": form.raw("password"),
        "note": form.text("note"),
    }


def _policy(form: Form) -> Data:
    after = form.text("after")
    given: Data = {"text": form.raw("text")}
    return {**given, "after": int(after)} if after.isascii() and after.isdigit() else given


async def _one(ask: Ask, form: Form) -> int:
    """One system, if it still exists."""
    await ask.get("/v1/systems/{system}", system=form.path["system"])
    return 1


def _key_act(verb: str, did: str, *, danger: bool, body: str = "why") -> Act:
    """A decision about a key. The system itself is named in the dialog; the number that is typed is 1."""
    made = {
        "why": lambda form: {"why": form.text("reason")},
        "fingerprint": lambda form: {"fingerprint": form.text("fingerprint")},
        "": lambda _form: {},
    }
    return Act(
        path=f"/admin/systems/{{system}}/{verb}",
        method="POST",
        route=f"/v1/systems/{{system}}/{verb}",
        body=made[body],
        count=_one,
        danger=lambda _form: danger,
        then="/admin",
        did=did,
    )


ADMIN_PAGES = (
    Page(path="/admin", name="Admin", action="systems.decide", gather=gather_keys, template="admin.html"),
    Page(
        path="/admin/policy",
        name="Policy",
        here="Admin",
        action="policy.read",
        gather=gather_policy,
        template="policy.html",
    ),
    Page(
        path="/admin/audit",
        name="Audit",
        here="Admin",
        action="audit.read",
        gather=gather_audit,
        template="audit.html",
    ),
)
ADMIN_ACTS = (
    _key_act("accept", "The system is accepted", danger=False, body="fingerprint"),
    _key_act("reject", "The key is rejected", danger=True),
    _key_act("revoke", "The key is revoked", danger=True),
    _key_act("restore", "The key is restored", danger=True, body=""),
    Act(
        path="/admin/systems/{system}/remove",
        method="DELETE",
        route="/v1/systems/{system}",
        count=_one,
        danger=lambda _form: True,
        then="/admin",
        did="The system is removed",
    ),
    Act(path="/admin/tokens", method="POST", route="/v1/tokens", body=_token, shows="join_token.html"),
    Act(
        path="/admin/tokens/{token}/remove",
        method="DELETE",
        route="/v1/tokens/{token}",
        then="/admin",
        did="The token no longer admits anyone",
    ),
    Act(
        path="/admin/operators",
        method="POST",
        route="/v1/operators",
        body=_operator,
        then="/admin/policy",
        did="The operator is added",
    ),
    Act(
        path="/admin/operators/{operator}/disable",
        method="PATCH",
        route="/v1/operators/{operator}",
        body=lambda _form: {"disabled": True},
        then="/admin/policy",
        did="The operator is disabled, with all sessions and tokens",
    ),
    Act(
        path="/admin/operators/{operator}/enable",
        method="PATCH",
        route="/v1/operators/{operator}",
        body=lambda _form: {"disabled": False},
        then="/admin/policy",
        did="The operator may sign in again",
    ),
    Act(
        path="/admin/policy",
        method="PUT",
        route="/v1/policy",
        body=_policy,
        then="/admin/policy",
        did="The policy is in force",
    ),
)
