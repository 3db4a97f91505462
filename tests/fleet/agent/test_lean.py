"""The agent's imports: small, and what is left out is there for who asks for it."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import nats.js.api
from nats.aio import client

from saltern.fleet.agent.lean import Header

CHECK = """
import sys
from saltern.fleet.agent.lean import import_lean
import_lean()
import nats
assert not [name for name in sys.modules if name.startswith(("nats.js", "aiohttp"))]
assert nats.js.api.Header.STATUS == "Status"
from nats.aio.client import Client
assert type(Client().jetstream()).__name__ == "JetStreamContext"
assert nats.js.api.Header.MSG_ID == "Nats-Msg-Id"
"""


def test_the_interface_to_streams_is_imported_by_who_uses_it_and_not_by_the_agent() -> None:
    done = subprocess.run([sys.executable, "-c", CHECK], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_client_has_every_header_that_it_looks_at() -> None:
    used = set(re.findall(r"nats\.js\.api\.(\w+)\.(\w+)", inspect.getsource(client)))
    assert used == {("Header", one.name) for one in Header}
    for one in Header:
        assert nats.js.api.Header[one.name].value == one.value
