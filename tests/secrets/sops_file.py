"""Writes files as sops does: values under a data key, the data key for age keys, and a MAC over all."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping
from hashlib import sha512

import pyrage
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from saltern.render.sops_values import ONLY_ENCRYPTED, as_bytes, is_encrypted

KINDS = {str: "str", bool: "bool", int: "int", float: "float", bytes: "bytes"}
TIME = "2026-01-02T03:04:05Z"


def sealed(value: object, key: bytes, path: str) -> str:
    if value == "":
        return ""
    nonce = os.urandom(32)
    made = AESGCM(key).encrypt(nonce, as_bytes(value), path.encode())
    data, iv, tag = (base64.b64encode(part).decode() for part in (made[:-16], nonce, made[-16:]))
    return f"ENC[AES256_GCM,data:{data},iv:{iv},tag:{tag},type:{KINDS[type(value)]}]"


class SopsFile:
    """The data of one file, encrypted for age recipients."""

    def __init__(self, data: Mapping[str, object], *recipients: object, **about: object) -> None:
        self.key = os.urandom(32)
        self._about = about
        self._mac = sha512(ONLY_ENCRYPTED if about.get("mac_only_encrypted") else b"")
        self.values = self._walk(data, ())
        mac = sealed(self._mac.hexdigest().upper(), self.key, TIME)
        age = [
            {"recipient": str(one), "enc": pyrage.encrypt(self.key, [one], armored=True).decode()}
            for one in recipients
        ]
        self.about = {"age": age, "lastmodified": TIME, "mac": mac, "version": "3.9.0", **about}

    def _walk(self, value: object, path: tuple[str, ...]) -> object:
        if isinstance(value, Mapping):
            return {key: self._walk(inner, (*path, key)) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._walk(inner, path) for inner in value]
        encrypted = is_encrypted(path, self._about)
        if value is not None and (encrypted or not self._about.get("mac_only_encrypted")):
            self._mac.update(as_bytes(value))
        return sealed(value, self.key, ":".join(path) + ":") if encrypted and value is not None else value

    @property
    def whole(self) -> dict[str, object]:
        assert isinstance(self.values, dict)
        return {**self.values, "sops": self.about}

    def json(self) -> str:
        return json.dumps(self.whole, indent=2)

    def dotenv(self) -> str:
        assert isinstance(self.values, dict)
        lines = [f"{key}={value}" for key, value in self.values.items()]
        for name, value in self.about.items():
            if name == "age":
                lines += [
                    f"sops_age__list_{at}__map_{key}=" + text.replace("\n", "\\n")
                    for at, entry in enumerate(value if isinstance(value, list) else [])
                    for key, text in entry.items()
                ]
            else:
                lines.append(f"sops_{name}={str(value).lower() if isinstance(value, bool) else value}")
        return "\n".join(lines) + "\n"
