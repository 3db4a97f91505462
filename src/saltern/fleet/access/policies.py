"""The policy in force: the newest version in the database, read again when there is a newer one.

There is one source of truth. If ``policy.yaml`` exists, each change of the file becomes a new version, and
edits over the API are refused. Otherwise the policy is edited over the API. All controllers decide by the
version in the database.
"""

from __future__ import annotations

import os

from saltern.fleet.access.document import read_policy
from saltern.fleet.access.policy import Policy
from saltern.fleet.store import audit
from saltern.fleet.store.database import Database, Transaction
from saltern.fleet.store.policies import (
    PolicyVersion,
    add_policy,
    digest_of,
    lock_policies,
    newest_number,
    newest_policy,
)
from saltern.language.diagnostics import Diagnostic, OperationError

API = "api"
MOST = 1_000_000  # bytes of a policy


class Policies:
    """``file`` is the path of policy.yaml, whether or not it exists; ``host`` is
    part of its name in the history, because each controller has its own file."""

    def __init__(self, database: Database, file: str = "", host: str = "") -> None:
        self.database, self.file = database, file
        self.source = f"file {host}:{file}" if host else f"file {file}"
        self._read = (-1, Policy())  # the version that was read last; replaced as a whole: threads share it

    def current(self) -> Policy:
        """The policy in force."""
        with self.database.look() as connection:
            number = newest_number(connection)
            known, policy = self._read
            if number == known:
                return policy
            found = newest_policy(connection)
        policy, _ = read_policy(found.text, f"policy version {found.version}")
        self._read = found.version, policy
        return policy

    def last(self) -> Policy:
        """The policy that ``current`` returned last."""
        number, policy = self._read
        return policy if number >= 0 else self.current()

    def version(self) -> PolicyVersion:
        with self.database.read() as connection:
            return newest_policy(connection)

    def load_file(self, now: float) -> tuple[Diagnostic, ...]:
        """Apply the file if it has changed since this controller last applied it; return its warnings.

        Raises ``OperationError`` with all mistakes of the file; the policy in force stays.
        """
        text = self._text()
        if text is None:
            return ()
        _, warnings = read_policy(text, self.file)
        with self.database.write() as connection:
            lock_policies(connection)
            before = newest_policy(connection, source=self.source)
            if before.digest != digest_of(text):
                self._put(connection, text, source=self.source, who="controller", now=now)
        return warnings

    def edit(self, text: str, *, who: str, now: float, after: int | None = None) -> PolicyVersion:
        """Apply an edited text. ``after`` is the version that was edited; a newer one is not overwritten."""
        if self.is_owned_by_file():
            what = f"the policy comes from the file {self.file}, and is not edited over the API"
            raise _refusal("policy-from-file", what, f"edit {self.file} on the controller, or remove it")
        read_policy(text, "policy.yaml")
        with self.database.write() as connection:
            lock_policies(connection)
            newest = newest_number(connection)
            if after is not None and after != newest:
                what = f"the policy now has version {newest}, and version {after} was edited"
                raise _refusal("policy-changed", what, "get the policy again, and edit that version")
            return self._put(connection, text, source=API, who=who, now=now)

    def is_owned_by_file(self) -> bool:
        return bool(self.file) and os.path.exists(self.file)

    def _put(self, connection: Transaction, text: str, *, source: str, who: str, now: float) -> PolicyVersion:
        made = add_policy(connection, text, source=source, who=who, now=now)
        detail = {"version": made.version, "source": source, "digest": made.digest}
        audit.append(connection, who, "policy.write", detail, now)
        return made

    def _text(self) -> str | None:
        try:
            with open(self.file, encoding="utf-8") as file:
                text = file.read(MOST + 1)
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as problem:
            what = f"the policy {self.file} cannot be read: {getattr(problem, 'strerror', None) or problem}"
            raise _refusal(
                "policy-unreadable", what, "let the user of the controller read it, as UTF-8"
            ) from None
        if len(text) > MOST:
            raise _refusal(
                "policy-unreadable", f"the policy {self.file} is longer than {MOST} characters", ""
            )
        return text


def _refusal(code: str, what: str, fix: str) -> OperationError:
    return OperationError(Diagnostic(code=code, what=what, fix=fix))
