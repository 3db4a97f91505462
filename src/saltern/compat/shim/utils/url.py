"""``salt.utils.url``."""

from __future__ import annotations

from typing import Any

SALT = "salt://"


def parse(url: str) -> tuple[str, str | None]:
    """The parts of ``salt://path?saltenv=env``."""
    if not url.startswith(SALT):
        return url, None
    path, _, query = url.removeprefix(SALT).partition("?")
    _, _, env = query.partition("saltenv=")
    return path, env or None


def create(path: str, saltenv: str | None = None) -> str:
    return f"{SALT}{path.replace(chr(92), '/')}" + (f"?saltenv={saltenv}" if saltenv else "")


def split_env(url: str) -> tuple[str, str | None]:
    if not url.startswith(SALT):
        return url, None
    path, env = parse(url)
    return create(path), env


def add_env(url: str, saltenv: str) -> str:
    return create(parse(url)[0], saltenv) if url.startswith(SALT) else url


def validate(url: Any, protos: Any) -> bool:
    from urllib.parse import urlparse

    return not isinstance(url, list) and urlparse(url).scheme in protos


def strip_proto(url: str) -> str:
    return url.partition("://")[2] or url


def redact_http_basic_auth(output: str) -> str:
    import re

    from saltern.language.mask import mask

    return re.sub(r"(https?)://[^\s/]*\*\*\*(?=@)", r"\1://<redacted>", mask(output))
