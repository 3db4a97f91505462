"""The kinds of actions, one row each: what a chain file may contain, and the state it becomes.

A kind's struct is its schema: the reader, the reference page and the renderer read the same fields.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Literal

from msgspec import Meta, Struct, json

from saltern.chains.action_body import (
    Body,
    Call,
    Env,
    Names,
    Seconds,
    Text,
    given_arguments,
    module_call,
    one_of,
)
from saltern.chains.applied_actions import Highstate, Packages, Patch, State, Transaction, Upgrade


class Safety(Enum):
    """The meaning of a crash during an action."""

    REPEATED = "run again"  # idempotent: it is run again
    ONCE = "indeterminate"  # at most once, unless a guard or the file says otherwise
    PROVEN = "proven"  # the machine itself proves whether it happened


class _Process(Body, frozen=True, kw_only=True):
    # The command that checks after a crash whether the action is done. Not for Salt, and not run before the
    # first run.
    verify: Text | None = None
    cwd: Text | None = None
    runas: Text | None = None
    env: Env | None = None
    timeout: Annotated[float, Meta(gt=0)] | None = None
    creates: Text | Names | None = None
    unless: Text | Names | None = None
    onlyif: Text | Names | None = None

    def common(self) -> dict[str, object]:
        found = {name: getattr(self, name) for name in _Process.__struct_fields__ if name != "verify"}
        if self.env:
            found["env"] = [{name: str(value)} for name, value in self.env.items()]
        return given_arguments(**found)


def _asks(salt: bool) -> dict[str, object]:
    """The exit codes for reboots. 194: reboot, then repeat the action; 195: reboot, then continue with the
    next one.
    """
    return {} if salt else {"reboot_retcodes": True}


class Command(_Process, frozen=True, kw_only=True):
    """Run a command in a shell."""

    run: Text
    shell: Text | None = None

    def call(self, salt: bool) -> Call:
        return Call(
            "cmd.run", {"name": self.run, **given_arguments(shell=self.shell), **self.common(), **_asks(salt)}
        )


class Script(_Process, frozen=True, kw_only=True):
    """Run a script of the file roots, a path or a web address."""

    source: Text
    args: Text | list[str] | None = None

    def call(self, salt: bool) -> Call:
        from shlex import join

        words = join(self.args) if salt and isinstance(self.args, list) else self.args
        found = {"source": self.source, **given_arguments(args=words), **self.common(), **_asks(salt)}
        return Call("cmd.script", found)


class File(Body, frozen=True, kw_only=True):
    """Write a file on the system, from a source or from text."""

    path: Annotated[str, Meta(pattern="^/")]
    source: Text | None = None
    contents: str | None = None
    template: Text | None = None
    context: dict[str, object] | None = None
    user: Text | None = None
    group: Text | None = None
    mode: Annotated[str, Meta(pattern="^[0-7]{3,5}$")] | None = None
    makedirs: bool | None = None
    backup: Text | None = None

    def mistake(self) -> str:
        return one_of(self, "source", "contents")

    def call(self, salt: bool) -> Call:  # noqa: ARG002
        rest = {name: getattr(self, name) for name in self.__struct_fields__ if name != "path"}
        found = {name: value for name, value in rest.items() if value is not None}
        return Call("file.managed", {"name": self.path, **found})


class Wait(Body, frozen=True, kw_only=True):
    """Wait for a number of seconds."""

    seconds: Seconds

    def call(self, salt: bool) -> Call:  # noqa: ARG002
        return module_call("test.sleep", length=self.seconds)


class Health(Body, frozen=True, kw_only=True):
    """Check the health of the system by a command, a web address or a service, until it is healthy."""

    command: Text | None = None
    url: Text | None = None
    service: Text | None = None
    status: int = 200
    attempts: Annotated[int, Meta(ge=1)] = 1
    interval: Seconds = 5

    def mistake(self) -> str:
        return one_of(self, "command", "url", "service")

    def call(self, salt: bool) -> Call:  # noqa: ARG002
        again = {"attempts": self.attempts, "interval": self.interval, "until": True}
        more = {"retry": again} if self.attempts > 1 else {}
        if self.url is not None:
            return Call("http.query", {"name": self.url, "status": self.status, **more})
        if self.service is not None:
            return Call("module.run", {"service.status": [{"name": self.service}], **more})
        return Call("cmd.run", {"name": self.command, **more})


class Request(Body, frozen=True, kw_only=True):
    """Send a request to a web address, such as that of a load balancer. The request may be repeated after a
    crash, with the same ``Idempotency-Key`` in each attempt. ``data`` is a text, or a mapping that is sent as
    JSON; ``status`` is the required status of the response: by default any from 200 to 299.
    """

    url: Text
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"] = "POST"
    headers: dict[Text, str] | None = None
    data: str | dict[str, object] | None = None
    status: int | None = None
    timeout: Annotated[float, Meta(gt=0)] | None = None

    def call(self, salt: bool) -> Call:  # noqa: ARG002
        wanted: dict[str, object] = {"status": self.status}
        if self.status is None:
            wanted = {"status": "2[0-9][0-9]", "status_type": "pcre"}
        headers, data = self.headers, self.data
        if isinstance(data, dict):
            headers = {"Content-Type": "application/json", **(headers or {})}
            data = json.encode(data, order="sorted").decode()
        more = given_arguments(header_dict=headers, data=data, timeout=self.timeout)
        return Call("http.query", {"name": self.url, "method": self.method, **wanted, **more})


class Reboot(Body, frozen=True, kw_only=True):
    """Reboot, and continue once it is proven that the machine has rebooted."""

    when: Literal["always", "needed"] = "always"
    notice: Seconds = 0
    start_deadline: Seconds = 600
    return_deadline: Seconds | None = None
    force: bool = False
    checks: list[Text] = []
    stable: Seconds = 0
    failed_units: bool = False
    pending_shutdown: Literal["auto", "replace", "fail"] = "auto"

    def call(self, salt: bool) -> Call:
        if salt:
            minutes = max(1, round(self.notice / 60))  # so that this run ends before the machine goes down
            return module_call("system.reboot", at_time=minutes)
        usual = {name: getattr(self, name) for name in ("notice", "start_deadline")}
        args = {
            "only_on_pending_reboot": self.when == "needed",
            **usual,
            **given_arguments(checks=self.checks),
        }
        return Call("system.reboot", {**args, **self._more()})

    def _more(self) -> dict[str, object]:
        """The arguments that differ from the defaults."""
        names = ("return_deadline", "force", "stable", "failed_units", "pending_shutdown")
        usual = type(self)()
        return {name: getattr(self, name) for name in names if getattr(self, name) != getattr(usual, name)}


class Agent(Body, frozen=True, kw_only=True):
    """Update saltern itself, or under a real Salt its minion, and continue with the new version."""

    version: Text
    source: Text | None = None
    hashes: Text | None = None
    slots: Text | None = None
    deadline: Annotated[float, Meta(gt=0)] | None = None
    package: Text = "salt-minion"

    def call(self, salt: bool) -> Call:
        if salt:
            return Call("pkg.installed", {"pkgs": [{self.package: self.version}], "refresh": True})
        more = given_arguments(
            source=self.source, hashes=self.hashes, slots=self.slots, deadline=self.deadline
        )
        return Call("saltern.updated", {"version": self.version, **more})


class Kind(Struct, frozen=True):
    """``short`` is the key that a value which is not a mapping belongs to: ``wait: 30``."""

    body: type[Body]
    safety: Safety
    short: str = ""
    barrier: bool = False
    may_replace: bool = False  # any packages, including saltern's own
    looks: bool = False  # it changes nothing on the system


KINDS: dict[str, Kind] = {
    "packages": Kind(Packages, Safety.REPEATED, "install", may_replace=True),
    "patch": Kind(Patch, Safety.REPEATED, "packages", may_replace=True),
    "upgrade": Kind(Upgrade, Safety.REPEATED, may_replace=True),
    "command": Kind(Command, Safety.ONCE, "run"),
    "script": Kind(Script, Safety.ONCE, "source"),
    "state": Kind(State, Safety.REPEATED, "sls"),
    "highstate": Kind(Highstate, Safety.REPEATED),
    "file": Kind(File, Safety.REPEATED),
    "wait": Kind(Wait, Safety.REPEATED, "seconds", looks=True),
    "health": Kind(Health, Safety.REPEATED, "command", looks=True),
    "request": Kind(Request, Safety.REPEATED, "url"),
    "transaction": Kind(Transaction, Safety.REPEATED, "run"),
    "reboot": Kind(Reboot, Safety.PROVEN, barrier=True),
    "agent": Kind(Agent, Safety.PROVEN, "version", barrier=True),
}
