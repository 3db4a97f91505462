"""The kinds of actions, one row each: what a chain file may say, and the state it becomes.

A kind's struct is its schema: the reader, the reference page and the renderer read the same fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Annotated, Literal

from msgspec import Meta, Struct, json

Seconds = Annotated[float, Meta(ge=0)]
Text = Annotated[str, Meta(min_length=1)]
Names = Annotated[list[Text], Meta(min_length=1)]
Env = dict[str, str | int | float | bool]


class Safety(Enum):
    """What a crash in the middle of it means."""

    REPEATED = "run again"  # idempotent: to run it again is the recovery
    ONCE = "indeterminate"  # at most once, unless a guard or the file says otherwise
    PROVEN = "proven"  # the machine itself shows whether it happened


class Call(Struct, frozen=True):
    """A state: its function and its arguments."""

    function: str
    args: Mapping[str, object]


class Body(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the key of an action's kind holds."""

    def mistake(self) -> str:
        """What is wrong that types cannot say."""
        return ""

    def call(self, salt: bool) -> Call:
        """The state of this action, for saltern or for a real Salt."""
        raise NotImplementedError


def _given(**args: object) -> dict[str, object]:
    return {name: value for name, value in args.items() if value not in (None, [], {}, "")}


def _one_of(body: Struct, *names: str) -> str:
    given = [name for name in names if getattr(body, name) not in (None, False)]
    wanted = ", ".join(names)
    return (
        "" if len(given) == 1 else f"exactly one of {wanted} is needed, not {' and '.join(given) or 'none'}"
    )


class Packages(Body, frozen=True, kw_only=True):
    """Install or remove packages. ``install`` is a list of names, or ``{name: version}``."""

    install: Annotated[dict[Text, str | None], Meta(min_length=1)] | Names | None = None
    latest: Names | None = None
    remove: Names | None = None
    purge: Names | None = None
    refresh: bool | None = None

    def mistake(self) -> str:
        return _one_of(self, "install", "latest", "remove", "purge")

    def call(self, salt: bool) -> Call:  # noqa: ARG002
        names = {"install": "installed", "latest": "latest", "remove": "removed", "purge": "purged"}
        word = next(name for name in names if getattr(self, name) is not None)
        listed = getattr(self, word)
        pkgs = (
            [{name: version} if version else name for name, version in listed.items()]
            if isinstance(listed, dict)
            else listed
        )
        return Call(f"pkg.{names[word]}", _given(pkgs=pkgs, refresh=self.refresh))


class Patch(Body, frozen=True, kw_only=True):
    """Bring installed packages up to date: all, or those that are named."""

    packages: Names | None = None
    refresh: bool = True

    def call(self, salt: bool) -> Call:  # noqa: ARG002
        return Call("pkg.uptodate", _given(pkgs=self.packages, refresh=self.refresh))


class Upgrade(Body, frozen=True, kw_only=True):
    """Upgrade the distribution: packages may come and go."""

    refresh: bool = True

    def call(self, salt: bool) -> Call:  # noqa: ARG002
        return Call("pkg.uptodate", {"refresh": self.refresh, "dist_upgrade": True})


class _Process(Body, frozen=True, kw_only=True):
    # Not for Salt, and not asked before the first run: whether it is done, after a crash in the middle of it.
    verify: Text | None = None
    cwd: Text | None = None
    runas: Text | None = None
    env: Env | None = None
    timeout: Annotated[float, Meta(gt=0)] | None = None
    creates: Text | Names | None = None
    unless: Text | Names | None = None
    onlyif: Text | Names | None = None

    def common(self) -> dict[str, object]:
        given = {name: getattr(self, name) for name in _Process.__struct_fields__ if name != "verify"}
        if self.env:
            given["env"] = [{name: str(value)} for name, value in self.env.items()]
        return _given(**given)


def _asks(salt: bool) -> dict[str, object]:
    """Exit code 194: reboot, then the same action again; 195: reboot, then the next."""
    return {} if salt else {"reboot_retcodes": True}


class Command(_Process, frozen=True, kw_only=True):
    """Run a command in a shell."""

    run: Text
    shell: Text | None = None

    def call(self, salt: bool) -> Call:
        return Call("cmd.run", {"name": self.run, **_given(shell=self.shell), **self.common(), **_asks(salt)})


class Script(_Process, frozen=True, kw_only=True):
    """Run a script of the file roots, a path or a web address."""

    source: Text
    args: Text | list[str] | None = None

    def call(self, salt: bool) -> Call:
        from shlex import join

        words = join(self.args) if salt and isinstance(self.args, list) else self.args
        given = {"source": self.source, **_given(args=words), **self.common(), **_asks(salt)}
        return Call("cmd.script", given)


class State(Body, frozen=True, kw_only=True):
    """Apply state files."""

    sls: Text | Names
    pillar: dict[str, object] | None = None
    saltenv: Text | None = None

    def call(self, salt: bool) -> Call:  # noqa: ARG002
        mods = [self.sls] if isinstance(self.sls, str) else self.sls
        return _module("state.apply", mods=mods, pillar=self.pillar, saltenv=self.saltenv)


class Highstate(Body, frozen=True, kw_only=True):
    """Apply all that the top file gives to the system."""

    pillar: dict[str, object] | None = None
    saltenv: Text | None = None

    def call(self, salt: bool) -> Call:  # noqa: ARG002
        return _module("state.highstate", pillar=self.pillar, saltenv=self.saltenv)


class File(Body, frozen=True, kw_only=True):
    """Write a file of the system, from a source or from text."""

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
        return _one_of(self, "source", "contents")

    def call(self, salt: bool) -> Call:  # noqa: ARG002
        rest = {name: getattr(self, name) for name in self.__struct_fields__ if name != "path"}
        given = {name: value for name, value in rest.items() if value is not None}
        return Call("file.managed", {"name": self.path, **given})


class Wait(Body, frozen=True, kw_only=True):
    """Wait so many seconds."""

    seconds: Seconds

    def call(self, salt: bool) -> Call:  # noqa: ARG002
        return _module("test.sleep", length=self.seconds)


class Health(Body, frozen=True, kw_only=True):
    """Look whether the system is well: a command, a web address or a service; try until it is."""

    command: Text | None = None
    url: Text | None = None
    service: Text | None = None
    status: int = 200
    attempts: Annotated[int, Meta(ge=1)] = 1
    interval: Seconds = 5

    def mistake(self) -> str:
        return _one_of(self, "command", "url", "service")

    def call(self, salt: bool) -> Call:  # noqa: ARG002
        again = {"attempts": self.attempts, "interval": self.interval, "until": True}
        more = {"retry": again} if self.attempts > 1 else {}
        if self.url is not None:
            return Call("http.query", {"name": self.url, "status": self.status, **more})
        if self.service is not None:
            return Call("module.run", {"service.status": [{"name": self.service}], **more})
        return Call("cmd.run", {"name": self.command, **more})


class Request(Body, frozen=True, kw_only=True):
    """Call a web address, such as that of a load balancer. The call may be repeated after a crash, with the
    same ``Idempotency-Key`` in each attempt. ``data`` is a text, or a mapping that is sent as JSON;
    ``status`` what the answer must have: by default any from 200 to 299."""

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
        more = _given(header_dict=headers, data=data, timeout=self.timeout)
        return Call("http.query", {"name": self.url, "method": self.method, **wanted, **more})


class Transaction(Body, frozen=True, kw_only=True):
    """Work in a new snapshot of the root, which the next boot takes: for machines with transactional
    updates. It is a command (``run``), packages (``install``, ``latest``, ``remove``), all updates
    (``patch``), an upgrade of the distribution (``upgrade``), or states (``sls``, ``highstate``). The running
    system stays as it is. If it fails or changes nothing, the snapshot is dropped; a reboot that follows is
    done in any case."""

    run: Text | None = None
    install: Annotated[dict[Text, str | None], Meta(min_length=1)] | Names | None = None
    latest: Names | None = None
    remove: Names | None = None
    patch: bool = False
    upgrade: bool = False
    sls: Text | Names | None = None
    highstate: bool = False
    refresh: bool | None = None
    pillar: dict[str, object] | None = None
    saltenv: Text | None = None
    env: Env | None = None
    timeout: Annotated[float, Meta(gt=0)] | None = None

    def mistake(self) -> str:
        wrong = _one_of(self, "run", *PACKAGED, *APPLIED)
        only = {"refresh": PACKAGED, "pillar": APPLIED, "saltenv": APPLIED}
        for name, kinds in only.items():
            if not wrong and getattr(self, name) is not None and self.word not in kinds:
                wrong = f"{name} is only for {', '.join(kinds)}"
        return wrong

    @property
    def word(self) -> str:
        """The key that says what it is."""
        return next(name for name in ("run", *PACKAGED, *APPLIED) if getattr(self, name))

    def inner(self) -> Body | None:
        """The action that does the same in the running system; None: it is a command."""
        if self.word in ("install", "latest", "remove"):
            return Packages(**{self.word: getattr(self, self.word)}, refresh=self.refresh)
        if self.word in ("patch", "upgrade"):
            kind = Patch if self.word == "patch" else Upgrade
            return kind() if self.refresh is None else kind(refresh=self.refresh)
        if self.sls is not None:
            return State(sls=self.sls, pillar=self.pillar, saltenv=self.saltenv)
        return Highstate(pillar=self.pillar, saltenv=self.saltenv) if self.highstate else None

    def call(self, salt: bool) -> Call:
        if salt:
            return self._over_salt()
        env = [{name: str(value)} for name, value in (self.env or {}).items()]
        more = _given(pillar=self.pillar, saltenv=self.saltenv, env=env, timeout=self.timeout)
        return Call("system.transaction", {**self._work(), **more})

    def _work(self) -> dict[str, object]:
        inner = self.inner()
        if self.word in PACKAGED and inner is not None:
            call = inner.call(False)
            return {
                "states": {"packages": {call.function: [{name: value} for name, value in call.args.items()]}}
            }
        if self.sls is not None:
            return {"sls": [self.sls] if isinstance(self.sls, str) else self.sls}
        return {"highstate": True} if self.highstate else {"name": self.run}

    def _over_salt(self) -> Call:
        """By the module of Salt for it, which goes on with the snapshot of the transaction before."""
        applied = _given(pillar=self.pillar, saltenv=self.saltenv)
        rows: dict[str, tuple[str, dict[str, object]]] = {
            "run": ("run", {"command": self.run}),
            "install": ("pkg_install", {"pkgs": self._names()}),
            "latest": ("pkg_update", {"pkgs": self._names()}),
            "remove": ("pkg_remove", {"pkgs": self._names()}),
            "patch": ("patch", {}),
            "upgrade": ("dup", {}),
            "sls": ("sls", {"mods": self.sls, **applied}),
            "highstate": ("highstate", applied),
        }
        function, args = rows[self.word]
        continued = {} if self.word in APPLIED else {"snapshot": "continue"}
        return _module(f"transactional_update.{function}", **args, **continued)

    def _names(self) -> list[str]:
        """As zypper is told packages with their versions."""
        listed = self.install or self.latest or self.remove or []
        if not isinstance(listed, dict):
            return list(listed)
        return [f"{name}={version}" if version else name for name, version in listed.items()]


PACKAGED = ("install", "latest", "remove", "patch", "upgrade")
APPLIED = ("sls", "highstate")


class Reboot(Body, frozen=True, kw_only=True):
    """Reboot, and continue when the machine has proven that it did."""

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
            minutes = max(1, round(self.notice / 60))  # so that this run ends before the machine does
            return _module("system.reboot", at_time=minutes)
        usual = {name: getattr(self, name) for name in ("notice", "start_deadline")}
        args = {"only_on_pending_reboot": self.when == "needed", **usual, **_given(checks=self.checks)}
        return Call("system.reboot", {**args, **self._more()})

    def _more(self) -> dict[str, object]:
        """What is not as usual."""
        names = ("return_deadline", "force", "stable", "failed_units", "pending_shutdown")
        usual = type(self)()
        return {name: getattr(self, name) for name in names if getattr(self, name) != getattr(usual, name)}


class Agent(Body, frozen=True, kw_only=True):
    """Update saltern itself, or under a real Salt its minion, and continue with the new one."""

    version: Text
    source: Text | None = None
    hashes: Text | None = None
    slots: Text | None = None
    deadline: Annotated[float, Meta(gt=0)] | None = None
    package: Text = "salt-minion"

    def call(self, salt: bool) -> Call:
        if salt:
            return Call("pkg.installed", {"pkgs": [{self.package: self.version}], "refresh": True})
        more = _given(source=self.source, hashes=self.hashes, slots=self.slots, deadline=self.deadline)
        return Call("saltern.updated", {"version": self.version, **more})


def needs_files(body: Body) -> bool:
    """Whether it applies state files, so that the file roots must be there."""
    return isinstance(body, State | Highstate) or (isinstance(body, Transaction) and body.word in APPLIED)


def _module(function: str, **args: object) -> Call:
    return Call("module.run", {function: [{name: value} for name, value in _given(**args).items()]})


class Kind(Struct, frozen=True):
    """``short`` is the key that a value stands for which is no mapping: ``wait: 30``."""

    body: type[Body]
    safety: Safety
    short: str = ""
    barrier: bool = False
    may_replace: bool = False  # packages of any kind: the one that saltern is of, too
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
