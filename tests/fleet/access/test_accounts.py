"""Operators, sessions and tokens: what lets in, what does not any more, and what is never written down."""

from __future__ import annotations

import threading

import pytest
from argon2 import PasswordHasher
from sqlalchemy import select, text
from tests.fleet.access.conftest import CountedPasswords

from saltern.fleet.access.accounts import DAY
from saltern.fleet.access.ports import Peer, Principal, Request
from saltern.fleet.access.service import Access
from saltern.fleet.access.throttle import LIMITS, Limit, wait_after
from saltern.fleet.store import audit
from saltern.fleet.store.access_tables import OPERATORS, TABLES
from saltern.fleet.store.credentials import credentials
from saltern.fleet.store.database import Database
from saltern.fleet.store.operators import Operator, operators, set_password
from saltern.language.diagnostics import OperationError

ROOT = Principal(name="local:root", roles=("admin",), via="socket")
PASSWORD = "correct horse battery"
PEER = Peer(address="192.0.2.7")
NOW = 1_800_000_000.0


def code(problem: pytest.ExceptionInfo[OperationError]) -> str:
    return problem.value.diagnostics[0].code


@pytest.fixture
def anna(access: Access) -> Operator:
    return access.accounts.add(
        ROOT, Operator(name="anna", roles=("operator",), groups=("web",)), PASSWORD, NOW
    )


def log_in(access: Access, name: str = "anna", password: str = PASSWORD, now: float = NOW) -> str:
    return access.logins.with_password(name, password, PEER, now).secret


def who(access: Access, secret: str, now: float = NOW) -> Principal | None:
    return access.authenticate({"authorization": f"Bearer {secret}"}, PEER, now)


def test_a_session_is_its_owner_until_it_ends(access: Access, anna: Operator) -> None:
    secret = log_in(access)
    found = who(access, secret)
    assert found is not None
    assert (found.name, found.roles, found.groups, found.via) == ("anna", ("operator",), ("web",), "session")
    assert who(access, secret, NOW + 12 * 3600) is None
    access.sessions.end(found, NOW)
    assert who(access, secret) is None


def test_what_is_no_secret_is_not_let_in(access: Access, anna: Operator) -> None:
    for header in ["", "Bearer", "Bearer x", "Basic YTpi", "Bearer sts_0123456789abcdef." + "a" * 43]:
        assert access.authenticate({"authorization": header}, PEER, NOW) is None


def test_a_changed_secret_or_kind_is_not_let_in(access: Access, anna: Operator) -> None:
    secret = log_in(access)
    assert who(access, secret[:-1] + ("a" if secret[-1] != "a" else "b")) is None
    assert who(access, secret.replace("sts_", "stt_")) is None
    assert who(access, secret.upper()) is None


def test_a_wrong_secret_on_the_socket_is_not_its_user(access: Access) -> None:
    root = Peer(uid=0)
    assert access.authenticate({}, root, NOW) is not None
    assert access.authenticate({"authorization": "Bearer nonsense"}, root, NOW) is None


def test_names_that_do_not_exist_are_answered_as_those_that_do(
    access: Access, anna: Operator, passwords: CountedPasswords, database: Database
) -> None:
    access.accounts.add(ROOT, Operator(name="robot", roles=("viewer",)), "", NOW)
    access.accounts.add(ROOT, Operator(name="gone", roles=("viewer",)), PASSWORD, NOW)
    access.accounts.change(ROOT, "gone", NOW, disabled=True)
    said = set()
    for name, password in [
        ("anna", "wrong" * 3),
        ("nemo", PASSWORD),
        ("robot", ""),
        ("gone", PASSWORD),
        ("robot", "x"),
    ]:
        before = passwords.compared
        with pytest.raises(OperationError) as refused:
            log_in(access, name, password)
        said.add(str(refused.value))
        assert passwords.compared == before + 1
    assert len(said) == 1


def test_failures_make_the_next_attempt_wait_and_are_reported(access: Access, anna: Operator) -> None:
    limit = LIMITS["name and address"]
    for _ in range(limit.free + 1):
        with pytest.raises(OperationError) as refused:
            log_in(access, password="wrong")
        assert code(refused) == "login-failed"
    with pytest.raises(OperationError) as refused:
        log_in(access)  # the right one does not help now
    assert code(refused) == "login-throttled" and "in 2 s" in str(refused.value)
    session = access.logins.with_password("anna", PASSWORD, PEER, NOW + 3)
    assert session.failures == limit.free + 1
    assert access.logins.with_password("anna", PASSWORD, PEER, NOW + 3).failures == 0


def test_names_that_do_not_exist_are_throttled_as_those_that_do(access: Access, anna: Operator) -> None:
    answers = []
    for name in ("anna", "nemo"):
        for _ in range(LIMITS["name and address"].free + 3):
            with pytest.raises(OperationError) as refused:
                log_in(access, name, "wrong")
            answers.append((name, code(refused)))
    half = len(answers) // 2
    assert [code for _, code in answers[:half]] == [code for _, code in answers[half:]]


def test_a_stranger_cannot_keep_the_owner_of_a_name_out_for_long(access: Access, anna: Operator) -> None:
    for number in range(40):
        with pytest.raises(OperationError):
            access.logins.with_password("anna", "wrong", Peer(address=f"198.51.100.{number}"), NOW)
    assert access.logins.with_password("anna", PASSWORD, PEER, NOW + LIMITS["name"].longest + 1)


def test_attempts_made_at_once_are_all_counted(
    access: Access, anna: Operator, passwords: CountedPasswords
) -> None:
    codes: list[str] = []

    def attempt() -> None:
        try:
            log_in(access, password="wrong")
        except OperationError as refused:
            codes.append(refused.diagnostics[0].code)

    threads = [threading.Thread(target=attempt) for _ in range(20)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert passwords.compared == LIMITS["name and address"].free + 1
    assert codes.count("login-throttled") == 20 - passwords.compared


def test_a_wait_grows_and_has_an_end() -> None:
    waits = [wait_after(count, Limit(3, 60.0)) for count in range(1, 200)]
    assert waits[:3] == [0.0, 0.0, 0.0] and waits == sorted(waits) and waits[-1] == 60.0


def test_a_token_is_shown_once_expires_and_notes_its_last_use(
    access: Access, anna: Operator, database: Database
) -> None:
    made, secret = access.accounts.make_token(
        ROOT, NOW, operator="anna", label="ci", scopes=("jobs.submit:test.*", "systems.read"), life=DAY
    )
    found = who(access, secret, NOW + 5)
    assert found is not None and found.via == "token" and found.scopes == made.scopes
    with database.read() as connection:
        (listed,) = credentials(connection)
    assert listed.last_used == NOW + 5
    assert secret.split(".")[1] not in str(listed)
    assert who(access, secret, NOW + DAY) is None
    access.accounts.remove_token(ROOT, made.id, NOW)
    assert who(access, secret, NOW) is None


def test_a_token_makes_no_other_tokens_and_nothing_beyond_its_scopes(access: Access, anna: Operator) -> None:
    _, secret = access.accounts.make_token(ROOT, NOW, operator="anna", scopes=("jobs.read",))
    robot = who(access, secret)
    assert robot is not None
    with pytest.raises(OperationError) as refused:
        access.accounts.make_token(robot, NOW)
    assert code(refused) == "token-refused"
    said = access.decide(robot, Request(action="systems.read"), lambda _target, _systems: (), NOW)
    assert (said.allowed, said.code) == (False, "outside-scope")


def test_a_scope_that_covers_nothing_is_refused(access: Access, anna: Operator) -> None:
    for scope in ["jobs.sumbit", "jobs.read:test.*", "*:test.*", "", "jobs.submit:"]:
        with pytest.raises(OperationError) as refused:
            access.accounts.make_token(ROOT, NOW, operator="anna", scopes=(scope,))
        assert code(refused) == "scope-invalid" and refused.value.diagnostics[0].fix


def test_a_token_always_has_an_end(access: Access, anna: Operator) -> None:
    for life in [0.0, -1.0, 4000 * DAY, float("nan"), float("inf")]:
        with pytest.raises(OperationError) as refused:
            access.accounts.make_token(ROOT, NOW, operator="anna", life=life)
        assert code(refused) == "token-life"


def test_one_who_is_disabled_is_out_at_once(access: Access, anna: Operator) -> None:
    session = log_in(access)
    _, token = access.accounts.make_token(ROOT, NOW, operator="anna")
    access.accounts.change(ROOT, "anna", NOW, disabled=True)
    assert who(access, session) is None and who(access, token) is None
    access.accounts.change(ROOT, "anna", NOW, disabled=False)
    assert who(access, session) is None and who(access, token) is not None


def test_one_who_is_removed_leaves_nothing_behind(access: Access, anna: Operator, database: Database) -> None:
    session = log_in(access)
    access.accounts.remove(ROOT, "anna", NOW)
    access.accounts.add(ROOT, Operator(name="anna", roles=("admin",)), PASSWORD, NOW)
    assert who(access, session) is None


def test_a_new_password_ends_all_other_sessions(access: Access, anna: Operator) -> None:
    mine, other = log_in(access), log_in(access)
    me = who(access, mine)
    assert me is not None
    with pytest.raises(OperationError) as refused:
        access.accounts.change_own_password(me, "not that one", "another horse staple", NOW)
    assert code(refused) == "login-failed"
    access.accounts.change_own_password(me, PASSWORD, "another horse staple", NOW)
    assert who(access, mine) is not None and who(access, other) is None
    with pytest.raises(OperationError):
        log_in(access)
    assert log_in(access, password="another horse staple")


def test_roles_are_those_of_the_moment(access: Access, anna: Operator) -> None:
    session = log_in(access)
    access.accounts.change(ROOT, "anna", NOW, roles=("viewer",))
    access.policies.edit("roles: {approver: [anna]}", who="root", now=NOW)
    found = who(access, session)
    assert found is not None and found.roles == ("viewer", "approver")


def test_an_admin_does_not_lock_themselves_out(access: Access) -> None:
    access.accounts.add(ROOT, Operator(name="boss", roles=("admin",)), PASSWORD, NOW)
    boss = who(access, log_in(access, "boss"))
    assert boss is not None
    for act in (
        lambda: access.accounts.remove(boss, "boss", NOW),
        lambda: access.accounts.change(boss, "boss", NOW, disabled=True),
        lambda: access.accounts.change(boss, "boss", NOW, roles=("viewer",)),
    ):
        with pytest.raises(OperationError) as refused:
            act()
        assert code(refused) == "operator-own"


def test_names_that_mean_something_else_are_refused(access: Access) -> None:
    for name in ["", "a b", "local:root", "role:admin", "group:web", "-x", "a" * 65, "oidc:", "x\n"]:
        with pytest.raises(OperationError) as refused:
            access.accounts.add(ROOT, Operator(name=name, roles=("viewer",)), "", NOW)
        assert code(refused) == "operator-invalid"


def test_weak_passwords_are_refused(access: Access) -> None:
    for password in ["short", "aaaaaaaaaaaa", "anna123456", "x" * 2000]:
        with pytest.raises(OperationError) as refused:
            access.accounts.add(ROOT, Operator(name="anna", roles=("viewer",)), password, NOW)
        assert code(refused) == "password-weak"


def test_a_hash_of_weaker_days_is_made_anew(access: Access, anna: Operator, database: Database) -> None:
    weaker = PasswordHasher(time_cost=1, memory_cost=16, parallelism=1).hash(PASSWORD)
    with database.write() as connection:
        set_password(connection, "anna", weaker, NOW)
    log_in(access)
    with database.read() as connection:
        kept = str(connection.scalar(select(OPERATORS.c.password)))
    assert kept != weaker and kept.startswith("$argon2id$")
    assert log_in(access)


def test_every_write_is_in_the_audit_and_no_secret_is_anywhere(
    access: Access, anna: Operator, database: Database
) -> None:
    session = log_in(access)
    _, token = access.accounts.make_token(ROOT, NOW, operator="anna", label="ci")
    access.accounts.set_password(ROOT, "anna", "another horse staple", NOW)
    with pytest.raises(OperationError):
        log_in(access, PASSWORD, "anna")  # in the wrong field
    with database.read() as connection:
        actions = [one.action for one in audit.entries(connection)]
        listed = repr([*operators(connection), *credentials(connection), *audit.entries(connection)])
        stored = "".join(
            str(row) for table in TABLES for row in connection.execute(text(f"SELECT * FROM {table.name}"))
        )
    assert actions == ["operators.add", "login", "operators.token", "operators.password"]
    for secret in (PASSWORD, "another horse staple", session.split(".")[1], token.split(".")[1]):
        assert secret not in listed and secret not in stored
    assert "$argon2" not in listed
