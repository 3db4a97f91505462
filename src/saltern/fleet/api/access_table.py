"""The rows of the table about who may do what: sessions, operators, the policy, approvals."""

from __future__ import annotations

from saltern.fleet.api.access_shapes import (
    ApiTokenAnswer,
    ApiTokenBody,
    ApiTokenMade,
    ApprovalAnswer,
    ApprovalsQuery,
    ExplainAnswer,
    ExplainBody,
    LinkBody,
    LinkMade,
    LoginAnswer,
    LoginBody,
    LoginWays,
    OidcBegin,
    OidcBegun,
    OidcFinish,
    OperatorAnswer,
    OperatorBody,
    OperatorChange,
    OwnPasswordBody,
    PasswordBody,
    PolicyAnswer,
    PolicyBody,
    VoteBody,
)
from saltern.fleet.api.handlers import operators, sessions
from saltern.fleet.api.pages import Page, PageQuery
from saltern.fleet.api.route import Route, delete, get, patch, post, put
from saltern.fleet.api.shapes import NoBody

ACCESS_ROUTES: tuple[Route, ...] = (
    post("/v1/login", None, sessions.login, LoginAnswer, body=LoginBody),
    get("/v1/login", None, sessions.list_ways, LoginWays),
    post("/v1/login/oidc", None, sessions.begin_oidc, OidcBegun, body=OidcBegin),
    post("/v1/login/oidc/finish", None, sessions.finish_oidc, LoginAnswer, body=OidcFinish),
    post("/v1/login/link", "own.write", sessions.make_link, LinkMade, body=NoBody, status=201),
    post("/v1/login/link/finish", None, sessions.finish_link, LoginAnswer, body=LinkBody),
    post("/v1/logout", "own.write", sessions.logout, None, body=NoBody, status=204),
    post("/v1/me/password", "own.write", sessions.change_password, None, body=OwnPasswordBody, status=204),
    get("/v1/me/tokens", "own.read", sessions.list_own_tokens, Page[ApiTokenAnswer], query=PageQuery),
    post("/v1/me/tokens", "own.write", sessions.make_own_token, ApiTokenMade, body=ApiTokenBody, status=201),
    delete("/v1/me/tokens/{token}", "own.write", sessions.remove_own_token, None, status=204),
    get("/v1/operators", "operators.read", operators.list_operators, Page[OperatorAnswer], query=PageQuery),
    post(
        "/v1/operators",
        "operators.write",
        operators.add_operator,
        OperatorAnswer,
        body=OperatorBody,
        status=201,
    ),
    get("/v1/operators/{operator}", "operators.read", operators.get_operator, OperatorAnswer),
    patch(
        "/v1/operators/{operator}",
        "operators.write",
        operators.change_operator,
        OperatorAnswer,
        body=OperatorChange,
    ),
    delete("/v1/operators/{operator}", "operators.write", operators.remove_operator, None, status=204),
    post(
        "/v1/operators/{operator}/password",
        "operators.write",
        operators.set_password,
        None,
        body=PasswordBody,
        status=204,
    ),
    get(
        "/v1/operators/{operator}/tokens",
        "operators.read",
        operators.list_operator_tokens,
        Page[ApiTokenAnswer],
        query=PageQuery,
    ),
    post(
        "/v1/operators/{operator}/tokens",
        "operators.write",
        operators.make_operator_token,
        ApiTokenMade,
        body=ApiTokenBody,
        status=201,
    ),
    delete(
        "/v1/operators/{operator}/tokens/{token}",
        "operators.write",
        operators.remove_operator_token,
        None,
        status=204,
    ),
    get("/v1/policy", "policy.read", operators.get_policy, PolicyAnswer),
    put("/v1/policy", "policy.write", operators.set_policy, PolicyAnswer, body=PolicyBody),
    get("/v1/policy/versions", "policy.read", operators.list_policies, Page[PolicyAnswer], query=PageQuery),
    post("/v1/policy/explain", "policy.read", operators.explain_policy, ExplainAnswer, body=ExplainBody),
    get(
        "/v1/approvals",
        "approvals.read",
        operators.list_approvals,
        Page[ApprovalAnswer],
        query=ApprovalsQuery,
    ),
    post(
        "/v1/approvals/{approval}/approve",
        "approvals.decide",
        operators.approve,
        ApprovalAnswer,
        body=VoteBody,
    ),
    post(
        "/v1/approvals/{approval}/reject", "approvals.decide", operators.reject, ApprovalAnswer, body=VoteBody
    ),
)
