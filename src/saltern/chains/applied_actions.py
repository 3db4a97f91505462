"""The actions that bring a system to a state: packages and state files, in the running system or in a new
snapshot of it.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from saltern.chains.action_body import Body, Call, Env, Names, Text, given_arguments, module_call, one_of

PACKAGED = ("install", "latest", "remove", "patch", "upgrade")
APPLIED = ("sls", "highstate")


class Packages(Body, frozen=True, kw_only=True):
    """Install or remove packages. ``install`` is a list of names, or ``{name: version}``."""

    install: Annotated[dict[Text, str | None], Meta(min_length=1)] | Names | None = None
    latest: Names | None = None
    remove: Names | None = None
    purge: Names | None = None
    refresh: bool | None = None

    def mistake(self) -> str:
        return one_of(self, "install", "latest", "remove", "purge")

    def call(self, salt: bool) -> Call:  # noqa: ARG002
        names = {"install": "installed", "latest": "latest", "remove": "removed", "purge": "purged"}
        word = next(name for name in names if getattr(self, name) is not None)
        listed = getattr(self, word)
        pkgs = (
            [{name: version} if version else name for name, version in listed.items()]
            if isinstance(listed, dict)
            else listed
        )
        return Call(f"pkg.{names[word]}", given_arguments(pkgs=pkgs, refresh=self.refresh))


class Patch(Body, frozen=True, kw_only=True):
    """Update installed packages: all, or the named ones."""

    packages: Names | None = None
    refresh: bool = True

    def call(self, salt: bool) -> Call:  # noqa: ARG002
        return Call("pkg.uptodate", given_arguments(pkgs=self.packages, refresh=self.refresh))


class Upgrade(Body, frozen=True, kw_only=True):
    """Upgrade the distribution: packages may be added and removed."""

    refresh: bool = True

    def call(self, salt: bool) -> Call:  # noqa: ARG002
        return Call("pkg.uptodate", {"refresh": self.refresh, "dist_upgrade": True})


class State(Body, frozen=True, kw_only=True):
    """Apply state files."""

    sls: Text | Names
    pillar: dict[str, object] | None = None
    saltenv: Text | None = None

    def call(self, salt: bool) -> Call:  # noqa: ARG002
        mods = [self.sls] if isinstance(self.sls, str) else self.sls
        return module_call("state.apply", mods=mods, pillar=self.pillar, saltenv=self.saltenv)


class Highstate(Body, frozen=True, kw_only=True):
    """Apply all states that the top file assigns to the system."""

    pillar: dict[str, object] | None = None
    saltenv: Text | None = None

    def call(self, salt: bool) -> Call:  # noqa: ARG002
        return module_call("state.highstate", pillar=self.pillar, saltenv=self.saltenv)


class Transaction(Body, frozen=True, kw_only=True):
    """Work in a new snapshot of the root, which the next boot uses: for machines with transactional updates.
    It is a command (``run``), packages (``install``, ``latest``, ``remove``), all updates (``patch``), an
    upgrade of the distribution (``upgrade``), or states (``sls``, ``highstate``). The running system is not
    changed. If the action fails or changes nothing, the snapshot is dropped; a reboot that follows is done in
    any case.
    """

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
        wrong = one_of(self, "run", *PACKAGED, *APPLIED)
        only = {"refresh": PACKAGED, "pillar": APPLIED, "saltenv": APPLIED}
        for name, kinds in only.items():
            if not wrong and getattr(self, name) is not None and self.word not in kinds:
                wrong = f"{name} is only for {', '.join(kinds)}"
        return wrong

    @property
    def word(self) -> str:
        """The key that selects the kind of the transaction."""
        return next(name for name in ("run", *PACKAGED, *APPLIED) if getattr(self, name))

    def inner(self) -> Body | None:
        """The action that does the same in the running system; None for a command."""
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
        more = given_arguments(pillar=self.pillar, saltenv=self.saltenv, env=env, timeout=self.timeout)
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
        """The call of Salt's module for it, which continues the snapshot of the previous transaction."""
        applied = given_arguments(pillar=self.pillar, saltenv=self.saltenv)
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
        return module_call(f"transactional_update.{function}", **args, **continued)

    def _names(self) -> list[str]:
        """Names with versions, as zypper reads them."""
        listed = self.install or self.latest or self.remove or []
        if not isinstance(listed, dict):
            return list(listed)
        return [f"{name}={version}" if version else name for name, version in listed.items()]


def needs_files(body: Body) -> bool:
    """True if it applies state files, so that it needs the file roots."""
    return isinstance(body, State | Highstate) or (isinstance(body, Transaction) and body.word in APPLIED)
