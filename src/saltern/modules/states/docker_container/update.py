"""Create, replace, reconnect or start a container so that it is as specified."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.refused import Refused
from saltern.modules.lib.containers import endpoints, images, lifecycle
from saltern.modules.lib.containers.desired_container import DesiredContainer, differences
from saltern.modules.lib.containers.engine import Engine, Seen, engine
from saltern.modules.lib.containers.options import OPTIONS, Given

CREATED = "created"  # of a container that is started once, and may have ended already


class Manner(Struct, frozen=True, kw_only=True):
    start: bool = True
    force: bool = False
    timeout: int | None = None
    patience: float = 60


class Keeper:
    """One container and its specification."""

    def __init__(
        self,
        ctx: Context,
        name: str,
        image: str,
        read: Given,
        networks: object,
        manner: Manner,
        validate: bool,
    ) -> None:
        self.ctx = ctx
        self.name = lifecycle.check_name(name)
        self.manner = manner
        self.engine = engine(ctx, manner.patience)
        options, self.warnings = usable(self.engine, read)
        wanted = None if networks is None else endpoints.read(networks, validate=validate)
        mode = str(options.get("network_mode", ""))
        if wanted and (mode in endpoints.NO_NETWORKS or mode.startswith("container:")):
            raise Refused(f"network_mode {mode!r} excludes networks; leave out one of the two")
        self.want = DesiredContainer(
            image=images.check_name(image), options=_resolve_names(self.engine, options), networks=wanted
        )
        self.forced = manner.force

    def keep(self) -> Result:
        seen = self.look()
        would = "created" if seen is None else "replaced" if self._replaces(seen) else "changed"
        return bring(
            self.ctx,
            self.differs,
            lambda _: self.act(),
            facts=lambda: facts(self.name, self.look()),
            words=Words(
                f"Container {self.name!r} is already configured as specified",
                f"Container {self.name!r} would be {would}",
                f"Container {self.name!r} was {would}",
            ),
            warnings=self.warnings,
            why=lambda _: self._why_not_running(),
        )

    def look(self) -> Seen | None:
        return lifecycle.find(self.engine, self.name)

    def differs(self) -> Changes:
        seen, image = self.look(), images.find(self.engine, self.want.image)
        changes: Changes = {}
        if image is None or (seen is not None and seen["Image"] != image["Id"]):
            old = seen["Image"] if seen else None
            changes["image"] = {"old": old, "new": image["Id"] if image else self.want.image}
        if seen is not None:
            changes |= self._container(seen, image)
        if self.forced and seen is not None:
            changes["forced_update"] = True
        before, after = lifecycle.state_of(seen), self._state_after(seen, anew=_needs_new(changes))
        if before != after:
            changes["state"] = {"old": before, "new": after}
        return changes

    def _container(self, seen: Seen, image: Seen | None) -> Changes:
        found = differences(self.want, seen, image)
        if self.want.networks is not None and (moved := endpoints.differences(self.want.networks, seen)):
            found["Networks"] = moved
        return {"container": found} if found else {}

    def _state_after(self, seen: Seen | None, *, anew: bool) -> str | None:
        if seen is None:
            return lifecycle.RUNNING if self.manner.start else CREATED
        if self.manner.start:
            return lifecycle.RUNNING
        return lifecycle.STOPPED if anew else lifecycle.state_of(seen)

    def _replaces(self, seen: Seen) -> bool:
        return _needs_new(self.differs()) if seen else False

    def act(self) -> None:
        """Pull the image if necessary, then create, replace, reconnect or start the container."""
        if images.find(self.engine, self.want.image) is None:
            images.pull(self.ctx, self.engine, self.want.image)
        seen, changes = self.look(), self.differs()
        self.forced = False
        if seen is None:
            new, reported = lifecycle.create(self.engine, self.name, self.want)
            self.warnings += reported
            self._start_new(new)
        elif _needs_new(changes):
            self.warnings += lifecycle.replace(
                self.engine, seen, self.want, begin=self.manner.start, timeout=self.manner.timeout
            )
        else:
            self._adjust(seen, changes)
        if why := self._why_not_running():
            raise Refused(why)

    def _start_new(self, new: str) -> None:
        """Start a new container; remove it if that fails."""
        try:
            lifecycle.start(self.engine, new)
        except Refused:
            lifecycle.remove(self.engine, new, force=True)
            raise

    def _adjust(self, seen: Seen, changes: Changes) -> None:
        container: Any = changes.get("container", {})
        lifecycle.reconnect(self.engine, seen, container.get("Networks", ()), self.want.networks or {})
        if self.manner.start and lifecycle.state_of(seen) != lifecycle.RUNNING:
            lifecycle.start(self.engine, self.name)

    def _why_not_running(self) -> str:
        """Why the container does not run, according to the engine; empty if it runs or need not run."""
        seen = self.look()
        if not self.manner.start or lifecycle.state_of(seen) == lifecycle.RUNNING:
            return ""
        reported = (seen or {}).get("State") or {}
        why = reported.get("Error") or f"its command ended with exit code {reported.get('ExitCode')}"
        return f"Container {self.name!r} was started but does not run: {why}"


def _needs_new(changes: Changes) -> bool:
    """True if the differences require a new container."""
    container: Any = changes.get("container", {})
    return bool({"image", "forced_update"} & changes.keys()) or bool(container.keys() - {"Networks"})


def usable(engine: Engine, read: Given) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The options without those that the engine ignores because its kernel does not support them."""
    needing = [name for name in read.options if OPTIONS[name].needs]
    if not needing:
        return read.options, read.warnings
    able = engine.get("/info")
    lost = [name for name in needing if able.get(OPTIONS[name].needs) is False]
    kept = {name: value for name, value in read.options.items() if name not in lost}
    reported = tuple(f"the engine does not support {name} on this kernel; it is ignored" for name in lost)
    return kept, read.warnings + reported


def _resolve_names(engine: Engine, options: dict[str, Any]) -> dict[str, Any]:
    """The options with ``container:NAME`` as ``container:ID``, which is how the engine stores it."""
    found = dict(options)
    for name in ("network_mode", "ipc_mode", "pid_mode"):
        kind, _, other = str(options.get(name, "")).partition(":")
        if kind == "container" and (seen := lifecycle.find(engine, other, by_id=True)):
            found[name] = f"container:{seen['Id']}"
    return found


def facts(name: str, seen: Seen | None) -> Changes:
    """The facts about a container, without its environment."""
    if seen is None:
        return {"name": name, "exists": False, "state": None}
    config, settings = seen.get("Config") or {}, seen.get("NetworkSettings") or {}
    return {
        "name": name,
        "exists": True,
        "id": seen["Id"],
        "image": config.get("Image"),
        "image_id": seen.get("Image"),
        "state": lifecycle.state_of(seen),
        "command": config.get("Cmd"),
        "networks": {
            net: one.get("IPAddress", "") for net, one in endpoints.connected_networks(seen).items()
        },
        "ports": {port: places for port, places in (settings.get("Ports") or {}).items() if places},
        "mounts": {one.get("Destination"): one.get("Source") for one in seen.get("Mounts") or ()},
    }
