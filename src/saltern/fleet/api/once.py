"""A write with a client token is done once: a repeated request gets the answer of the first.

The answer may hold a secret, such as a join token. It is stored sealed with a key made from the client token,
of which the database has only a digest: a reader of the database learns nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import os
import re
from collections.abc import Awaitable, Callable
from typing import TypeVar

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from msgspec import Struct

from saltern.fleet.api.problems import ApiError
from saltern.fleet.store import answers
from saltern.fleet.store.answers import Kept
from saltern.fleet.store.database import Database
from saltern.language.diagnostics import Diagnostic

T = TypeVar("T")
HEADER = "client-token"
AGAIN = {"Retry-After": "1"}
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=:-]{16,128}")
_NONCE = 12


class Known(Struct, frozen=True):
    """The answer of a handler to a request that it has carried out before."""

    answer: Struct


class Done(Struct, frozen=True, kw_only=True):
    """The answer to a write, as it is sent. ``known``: it was done before."""

    status: int
    body: bytes
    known: bool = False


class Once:
    """The write of one request with a client token."""

    def __init__(self, database: Database, user: str, token: str, request: bytes) -> None:
        check_token(token)
        self._database = database
        self._user = user
        self._key = _key(token)
        self._token = hashlib.sha256(b"saltern client token\0" + token.encode()).hexdigest()
        self._request = request_digest(token, request)

    async def run(self, work: Callable[[], Awaitable[Done]], now: float) -> Done:
        """Do the work, or return the answer that the same request got before."""
        if kept := await self._write(answers.claim, self._request, now):
            return self._known_answer(kept)
        try:
            done = await work()
        except BaseException:
            await asyncio.shield(self._write(answers.release))
            raise
        await asyncio.shield(self._write(answers.keep, done.status, self._seal(done.body)))
        return done

    def _known_answer(self, kept: Kept) -> Done:
        if kept.request != self._request:
            raise token_reused()
        if kept.status == 0:
            what = "the same request is being worked on"
            raise ApiError(409, Diagnostic(code="api-in-progress", what=what, fix="ask again"), AGAIN)
        nonce, data = kept.body[:_NONCE], kept.body[_NONCE:]
        return Done(status=kept.status, body=AESGCM(self._key).decrypt(nonce, data, None), known=True)

    def _seal(self, body: bytes) -> bytes:
        nonce = os.urandom(_NONCE)
        return nonce + AESGCM(self._key).encrypt(nonce, body, None)

    async def _write(self, change: Callable[..., T], *arguments: object) -> T:
        def run() -> T:
            with self._database.write() as connection:
                return change(connection, self._user, self._token, *arguments)

        return await asyncio.to_thread(run)


def _key(token: str) -> bytes:
    return hashlib.sha256(b"saltern answer key\0" + token.encode()).digest()


def request_digest(token: str, request: bytes) -> str:
    """Identifies the request that a client token was used for, without what it contains."""
    return hmac.digest(_key(token), request, "sha256").hex()


def token_reused() -> ApiError:
    what = "the client token was used for another request"
    fix = "use a new client token for each request, and the same one only to repeat it"
    return ApiError(422, Diagnostic(code="api-token-reused", what=what, fix=fix))


def check_token(token: str) -> None:
    if not _TOKEN.fullmatch(token):
        what = "the client token is not valid"
        fix = "use 16 to 128 letters, digits and ._~+/=:- at random, new for each request"
        raise ApiError(400, Diagnostic(code="api-bad-token", what=what, fix=fix))
