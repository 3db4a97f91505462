"""Run a container to its end, for the state and the function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused
from saltern.modules.lib.containers import endpoints, images, lifecycle
from saltern.modules.lib.containers.desired_container import DesiredContainer
from saltern.modules.lib.containers.engine import engine
from saltern.modules.lib.containers.options import read_arguments
from saltern.modules.lib.containers.stream import output

FOREVER = 30 * 86400.0


class Reading(Struct, frozen=True, kw_only=True):
    """The part of a container's output to read."""

    stdout: bool = True
    stderr: bool = True
    timestamps: bool = False
    tail: str = "all"
    since: int | None = None
    until: int | None = None

    def query(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in self.__struct_fields__}


class Once:
    """A container to run once. ``container`` are its arguments as the user gives them."""

    def __init__(
        self,
        ctx: Context,
        name: str | None,
        image: str,
        container: Mapping[str, object],
        *,
        skip_translate: object = None,
        ignore_collisions: bool = False,
        validate_ip_addrs: bool = True,
        client_timeout: float = 60,
    ) -> None:
        options = dict(container)
        networks = options.pop("networks", None)
        read = read_arguments(
            options,
            skip_translate=skip_translate,
            ignore_collisions=ignore_collisions,
            validate_ip_addrs=validate_ip_addrs,
        )
        self.ctx = ctx
        self.name = None if name is None else lifecycle.check_name(name)
        self.image = images.check_name(image)
        self.warnings = read.warnings
        self.vanishes = bool(read.options.get("auto_remove"))
        wanted = None if networks is None else endpoints.read(networks, validate=validate_ip_addrs)
        self.want = DesiredContainer(image=image, options=read.options, networks=wanted)
        self.engine = engine(ctx, client_timeout)
        self.old: str | None = None

    def refuse_existing(self, *, replace: bool, force: bool) -> None:
        """Raises ``Refused`` if there is a container with this name that may not be removed."""
        seen = lifecycle.find(self.engine, self.name) if self.name else None
        if seen is None:
            return
        if not replace:
            raise Refused(f"Container {self.name!r} exists; set replace to True to remove it first")
        if lifecycle.state_of(seen) != lifecycle.STOPPED and not force:
            raise Refused(f"Container {self.name!r} is running; set force to True to remove it nevertheless")
        self.old = seen["Id"]

    def create(self, want: DesiredContainer | None = None) -> str:
        if images.find(self.engine, self.image) is None:
            images.pull(self.ctx, self.engine, self.image)
        if self.old:
            lifecycle.remove(self.engine, self.old, force=True)
        made, warnings = lifecycle.create(self.engine, self.name, want or self.want)
        self.warnings += warnings
        return made

    def start(self, *, bg: bool) -> dict[str, Any]:
        """Create and start it. If its output is read, it must not be removed automatically before that."""
        kept = DesiredContainer(
            image=self.want.image,
            options={**self.want.options, "auto_remove": bg and self.vanishes},
            networks=self.want.networks,
        )
        made = self.create(kept)
        try:
            lifecycle.start(self.engine, made)
        except Refused:
            lifecycle.remove(self.engine, made, force=True)
            raise
        seen = self.engine.find(f"/containers/{made}/json") or {}
        self.name = self.name or str(seen.get("Name", "")).lstrip("/")
        return {"Id": made, "Name": self.name}


def run_to_end(once: Once, reading: Reading) -> dict[str, Any]:
    """Run it to its end. Returns its ID, name, exit code and output."""
    done = once.start(bg=False)
    reported = once.engine.data("POST", f"/containers/{done['Id']}/wait", timeout=FOREVER)
    done |= {"ExitCode": reported["StatusCode"], "Logs": logs(once, done["Id"], reading)}
    if once.vanishes:
        lifecycle.remove(once.engine, done["Id"], force=True, volumes=True)
    return done


def logs(once: Once, container: str, reading: Reading) -> str:
    body = once.engine.ask("GET", f"/containers/{container}/logs", reading.query()).body
    out, err = output(body, raw=bool(once.want.options.get("tty")))
    return out + err
