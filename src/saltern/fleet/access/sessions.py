"""Sessions: begin and end them, and find the owner of a secret in a header."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from hmac import compare_digest
from secrets import token_urlsafe

from msgspec import Struct
from msgspec.structs import replace

from saltern.fleet.access.local import is_forwarded, local_admin
from saltern.fleet.access.pam import unix_groups
from saltern.fleet.access.policies import Policies
from saltern.fleet.access.policy import Login, Policy, roles_of
from saltern.fleet.access.ports import Peer, Principal
from saltern.fleet.access.secrets import bearer, new_secret, split_secret
from saltern.fleet.store import audit
from saltern.fleet.store import credentials as store
from saltern.fleet.store.credentials import SESSION, Credential
from saltern.fleet.store.database import Database
from saltern.fleet.store.operators import Operator, operator
from saltern.system.foreign import name_of

LINK = "link"  # the source of a session that root on the controller's host has begun in a browser


class Session(Struct, frozen=True, kw_only=True):
    """A session that has begun. ``secret`` is shown only once. ``failures``: how many logins failed
    before.
    """

    secret: str
    name: str
    expires: float
    failures: int = 0


class Sessions:
    def __init__(self, database: Database, policies: Policies) -> None:
        self.database, self.policies = database, policies
        self.key = b""  # with a key, secrets of processes are the same after a restart
        self._internal: dict[str, Principal] = {}  # by the secrets of their processes

    def begin(self, name: str, source: str, groups: tuple[str, ...], now: float) -> Session:
        """Begin a session for a person who has proved who they are."""
        life = self.policies.current().login.session_hours * 3600
        id_, secret, shown = new_secret(SESSION)
        made = Credential(
            id=id_,
            kind=SESSION,
            operator=name,
            source=source,
            groups=groups,
            made_at=now,
            expires=now + life,
            last_used=now,
        )
        with self.database.write() as connection:
            store.remove_expired(connection, now)
            store.add_credential(connection, made, secret)
            audit.append(connection, name, "login", {"session": id_, "source": source}, now)
        return Session(secret=shown, name=name, expires=made.expires)

    def begin_internal(self, who: Principal) -> str:
        """A secret for the controller's own processes, which act as this principal. They may outlive the
        controller; the next one, with the same key, accepts the same secret."""
        secret = (
            hmac.new(self.key, who.name.encode(), "sha256").hexdigest() if self.key else token_urlsafe(32)
        )
        self._internal[secret] = who
        return secret

    def end(self, who: Principal, now: float) -> None:
        """End the session that this person uses now."""
        with self.database.write() as connection:
            if store.remove_credential(connection, who.credential, operator=who.name):
                audit.append(connection, who.name, "logout", {"session": who.credential}, now)

    def authenticate(self, headers: Mapping[str, str], peer: Peer, now: float) -> Principal | None:
        """The principal who sends the request: by their secret, else by the user of the UNIX socket. None:
        unknown.
        """
        given = headers.get("authorization", "")
        if not given:
            return local_admin(headers, peer) or self._by_socket(headers, peer)
        secret = bearer(given)
        if who := next((who for one, who in [*self._internal.items()] if compare_digest(one, secret)), None):
            return who
        parts = split_secret(secret)
        return self._by_secret(*parts, now) if parts else None

    def person(self, name: str, roles: tuple[str, ...] = (), groups: tuple[str, ...] = ()) -> Principal:
        """The principal that this person would be after logging in; with extra roles and groups, to
        try them.
        """
        with self.database.read() as connection:
            known = operator(connection, name)
        who = Principal(
            name=name,
            roles=(*roles, *(known.roles if known else ())),
            groups=(*groups, *(known.groups if known else ())),
        )
        return replace(who, roles=roles_of(self.policies.current(), who))

    def _by_socket(self, headers: Mapping[str, str], peer: Peer) -> Principal | None:
        """A user of the controller's host, without a role, if the policy admits them."""
        policy = self.policies.current()
        if peer.uid is None or not policy.login.socket or is_forwarded(headers):
            return None
        name = name_of(peer.uid)
        groups = tuple(sorted(f"local:{group}" for group in unix_groups(name) or ()))
        who = Principal(name=f"local:{name}", groups=groups, via="socket")
        return replace(who, roles=roles_of(policy, who))

    def _by_secret(self, kind: str, id_: str, secret: str, now: float) -> Principal | None:
        with self.database.read() as connection:
            found = store.find(connection, id_, secret, now)
            known = operator(connection, found.operator) if found else None
        if found is None or found.kind != kind:
            return None
        policy = self.policies.current()
        if not is_valid(found, known, policy.login):
            return None
        self._note_use(found, now)
        return principal(found, known, policy)

    def _note_use(self, found: Credential, now: float) -> None:
        if now - (found.last_used or 0.0) >= store.NOTED:
            with self.database.write() as connection:
                store.note_use(connection, found.id, now)


def is_valid(found: Credential, known: Operator | None, login: Login) -> bool:
    """True if the owner of the credential may still log in this way."""
    if known is not None and known.disabled:
        return False
    if found.source == "local":
        return known is not None
    if found.source == LINK:
        return True
    return getattr(login, found.source, None) is not None


def principal(found: Credential, known: Operator | None, policy: Policy) -> Principal:
    """The owner of a credential, with their current roles."""
    who = Principal(
        name=found.operator,
        roles=("admin",) if found.source == LINK else known.roles if known else (),
        groups=(*found.groups, *(known.groups if known else ())),
        via=found.kind,
        scopes=found.scopes,
        credential=found.id,
    )
    return replace(who, roles=roles_of(policy, who))
