"""A small OpenID Connect provider on loopback: discovery, keys, authorization with PKCE, tokens.

It keeps to the standard where it can be asked to: codes are used once, and only with their client, redirect
and verifier. A test changes ``claims``, ``header`` or ``sign`` to make it, or who is in between, lie.
"""

from __future__ import annotations

import hashlib
import json
import threading
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import token_urlsafe
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit
from urllib.request import urlopen

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import get_default_algorithms

Edit = Callable[[dict[str, Any]], dict[str, Any]]


class Key:
    """A signing key of the provider."""

    def __init__(self, algorithm: str = "ES256", id_: str = "") -> None:
        self.algorithm = algorithm
        self.id = id_ or token_urlsafe(6)
        makers: dict[str, Callable[[], Any]] = {
            "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
            "EdDSA": ed25519.Ed25519PrivateKey.generate,
            "RS256": lambda: rsa.generate_private_key(65537, 2048),
            "RS256 short": lambda: rsa.generate_private_key(65537, 1024),
        }
        self.private = makers[algorithm]()
        self.algorithm = algorithm.partition(" ")[0]

    def public(self) -> dict[str, Any]:
        made: dict[str, Any] = json.loads(
            get_default_algorithms()[self.algorithm].to_jwk(self.private.public_key())
        )
        return {**made, "kid": self.id, "alg": self.algorithm, "use": "sig"}

    def pem(self) -> bytes:
        found: bytes = self.private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        return found

    def sign(self, claims: dict[str, Any], header: dict[str, Any]) -> str:
        return jwt.encode(claims, self.private, algorithm=self.algorithm, headers={"kid": self.id, **header})


class Provider:
    def __init__(self, port: int) -> None:
        self.issuer = f"http://127.0.0.1:{port}"
        self.client, self.secret = "saltern", ""
        self.key = Key()
        self.published = [self.key]
        self.use = "sig"
        self.now = 0.0
        self.person: dict[str, Any] = {"sub": "7", "preferred_username": "joe", "groups": ["ops"]}
        self.codes: dict[str, dict[str, str]] = {}
        self.claims: Edit = lambda claims: claims
        self.discovery: Edit = lambda found: found
        self.sign: Callable[[dict[str, Any]], str] = lambda claims: self.key.sign(claims, {})
        self.asked: list[str] = []

    def document(self) -> dict[str, Any]:
        return self.discovery(
            {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/keys",
                "response_types_supported": ["code"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": [self.key.algorithm],
            }
        )

    def authorize(self, query: dict[str, str]) -> str:
        """Where the browser of a person who agrees is sent."""
        assert query["response_type"] == "code" and query["client_id"] == self.client
        assert query["code_challenge_method"] == "S256" and "openid" in query["scope"].split()
        code = token_urlsafe(16)
        self.codes[code] = query
        answer = {"code": code, "state": query["state"], "iss": self.issuer}
        return f"{query['redirect_uri']}?{urlencode(answer)}"

    def redeem(self, form: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        asked = self.codes.pop(form.get("code", ""), None)
        digest = urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        if self.secret and not authorization.startswith("Basic "):
            return 401, {"error": "invalid_client"}
        if (
            asked is None
            or form.get("grant_type") != "authorization_code"
            or form.get("redirect_uri") != asked["redirect_uri"]
            or form.get("client_id") != self.client
            or digest.rstrip(b"=").decode() != asked["code_challenge"]
        ):
            return 400, {"error": "invalid_grant"}
        claims = {
            "iss": self.issuer,
            "aud": self.client,
            "iat": self.now,
            "exp": self.now + 300,
            "nonce": asked["nonce"],
            **self.person,
        }
        return 200, {
            "access_token": token_urlsafe(8),
            "token_type": "Bearer",
            "id_token": self.sign(self.claims(claims)),
        }


@contextmanager
def running_provider() -> Iterator[Provider]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            provider.asked.append(parts.path)
            if parts.path == "/authorize":
                self.send_response(302)
                self.send_header("Location", provider.authorize(dict(parse_qsl(parts.query))))
                self.end_headers()
            elif parts.path == "/keys":
                self.answer(
                    200, {"keys": [{**key.public(), "use": provider.use} for key in provider.published]}
                )
            elif parts.path == "/.well-known/openid-configuration":
                self.answer(200, provider.document())
            else:
                self.answer(404, {})

        def do_POST(self) -> None:
            provider.asked.append(self.path)
            form = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self.answer(*provider.redeem(dict(parse_qsl(form)), self.headers.get("Authorization", "")))

        def answer(self, status: int, body: dict[str, Any]) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_arguments: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = Provider(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def agree(address: str) -> dict[str, str]:
    """What a browser brings back, if its owner agrees: it follows the address to the redirect."""
    query = dict(parse_qsl(urlsplit(address).query))
    redirect = query["redirect_uri"]
    import http.client

    parts = urlsplit(address)
    connection = http.client.HTTPConnection(str(parts.hostname), int(parts.port or 80))
    connection.request("GET", f"{parts.path}?{parts.query}")
    location = connection.getresponse().headers["Location"]
    connection.close()
    assert location.startswith(redirect)
    return {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}


def browse(address: str) -> int:
    """A browser that follows redirects; the status at the end."""
    with urlopen(address, timeout=30) as answer:
        return int(answer.status)
