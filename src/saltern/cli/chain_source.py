"""The chain that a command-line word means, a file or a chain stored by a controller, and its inputs."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from saltern.chains.document import read_chain
from saltern.cli.chain_file import read_text
from saltern.cli.chain_inputs import given_inputs

if TYPE_CHECKING:
    from saltern.fleet.client.client import Client


def what_to_run(args: SimpleNamespace, client: Client) -> dict[str, Any]:
    """The text of a file, or the name of a stored chain; and the inputs."""
    named = args.words[0]
    text = chain_text(named, client)
    inputs = given_inputs(args, read_chain(text, named).inputs)
    read_chain(text, named, inputs)  # reports mistakes with their lines in the file
    found = {"text": text} if is_file(named) else {"chain": named}
    return {**found, "inputs": inputs, "environment": args.saltenv or "base"}


def is_file(named: str) -> bool:
    """True if a word means a file, not a chain stored by the controller."""
    return os.path.lexists(named) or "/" in named or named.endswith((".yaml", ".yml"))


def chain_text(named: str, client: Client) -> str:
    return read_text(named) if is_file(named) else str(client.chains.text(named)["text"])
