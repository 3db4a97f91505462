"""What a request to the Docker engine waits for, for the report."""

from __future__ import annotations

import re
from collections.abc import Mapping

# The path of a request → what it waits for; the group of the pattern replaces the braces.
WORDS: tuple[tuple[str, str], ...] = (
    (r"/build", "an image to be built"),
    (r"/images/load", "an archive of images to be loaded"),
    (r"/images/(.+)/push", "the image {} to be pushed"),
    (r"/containers/(.+)/wait", "the container {} to end"),
    (r"/containers/(.+)/(?:stop|kill)", "the container {} to stop"),
    (r"/containers/(.+)/restart", "the container {} to restart"),
    (r"/containers/(.+)/start", "the container {} to start"),
    (r"/containers/(.+)/export", "the files of the container {}"),
    (r"/exec/.+/start", "a command in a container to end"),
)


def waited_for(method: str, path: str, query: Mapping[str, object] | None, address: str) -> str:
    asked = query or {}
    if path == "/images/create":
        image = asked.get("fromImage")
        name = ":".join(str(part) for part in (image, asked.get("tag")) if part)
        return f"the image {name} to be pulled" if image else "an image to be imported"
    for pattern, words in WORDS:
        if method == "POST" and (found := re.fullmatch(pattern, path)):
            return words.format(*found.groups())
    return f"a response of the Docker engine at {address} ({method} {path})"
