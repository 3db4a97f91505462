"""Create, start, stop and replace containers."""

from __future__ import annotations

from collections.abc import Iterable

from saltern.modules.api.refused import Refused
from saltern.modules.lib.containers.desired_container import DesiredContainer
from saltern.modules.lib.containers.endpoints import Endpoint, connected_networks
from saltern.modules.lib.containers.engine import NOT_FOUND, Engine, EngineError, Seen

RUNNING, PAUSED, STOPPED = "running", "paused", "stopped"
GRACE = 10.0  # seconds for a container to end after the stop signal
SHORT_ID = 12


def find(engine: Engine, name: str, *, by_id: bool = False) -> Seen | None:
    """The container with exactly this name; the engine itself would also accept the beginning of an ID."""
    seen = engine.find(f"/containers/{check_name(name)}/json")
    if seen is None or seen.get("Name", "").lstrip("/") == name:
        return seen
    whole = by_id and len(name) >= SHORT_ID and str(seen.get("Id", "")).startswith(name)
    return seen if whole else None


def check_name(name: str) -> str:
    """The name, if it can be part of a request's path."""
    if not name or not name[0].isalnum() or not all(sign.isalnum() or sign in "_.-" for sign in name):
        raise Refused(f"a container name has letters, digits, '_', '.' and '-', not {name!r}")
    return name


def state_of(seen: Seen | None) -> str | None:
    """``running``, ``paused`` or ``stopped``; None if there is no such container."""
    if seen is None:
        return None
    reported = seen.get("State") or {}
    return PAUSED if reported.get("Paused") else RUNNING if reported.get("Running") else STOPPED


def create(engine: Engine, name: str | None, want: DesiredContainer) -> tuple[str, tuple[str, ...]]:
    """Create a container in all its networks, without starting it. Returns its ID and the engine's
    warnings.
    """
    made = engine.data("POST", "/containers/create", {"name": name}, body=want.body())
    try:
        rest = {net: one for net, one in (want.networks or {}).items() if net != want.first_network()}
        for network, endpoint in rest.items():
            connect(engine, made["Id"], network, endpoint)
    except Refused:
        remove(engine, made["Id"])
        raise
    return made["Id"], tuple(made.get("Warnings") or ())


def connect(engine: Engine, container: str, network: str, endpoint: Endpoint) -> None:
    body = {"Container": container, "EndpointConfig": endpoint.body()}
    engine.ask("POST", f"/networks/{network}/connect", body=body)


def disconnect(engine: Engine, container: str, network: str, *, force: bool = False) -> None:
    engine.ask("POST", f"/networks/{network}/disconnect", body={"Container": container, "Force": force})


def reconnect(engine: Engine, seen: Seen, changed: Iterable[str], wanted: dict[str, Endpoint]) -> None:
    """Disconnect the container from differing networks, and connect it to the wanted ones."""
    now = connected_networks(seen)
    for network in changed:
        if network in now:
            disconnect(engine, seen["Id"], network)
        if network in wanted:
            connect(engine, seen["Id"], network, wanted[network])


def start(engine: Engine, name: str) -> None:
    seen = engine.find(f"/containers/{name}/json")
    verb = "unpause" if state_of(seen) == PAUSED else "start"
    engine.ask("POST", f"/containers/{name}/{verb}")


def stop(engine: Engine, name: str, timeout: int | None = None) -> None:
    """Stop a container, and kill it after ``timeout`` seconds (by default those it was created with)."""
    patience = engine.timeout + (GRACE if timeout is None else timeout)
    engine.ask("POST", f"/containers/{name}/stop", {"t": timeout}, timeout=patience)


def remove(engine: Engine, name: str, *, force: bool = False, volumes: bool = False) -> None:
    engine.ask("DELETE", f"/containers/{name}", {"force": force, "v": volumes})


def rename(engine: Engine, name: str, new: str) -> None:
    engine.ask("POST", f"/containers/{name}/rename", {"name": new})


def replace(
    engine: Engine, old: Seen, want: DesiredContainer, *, begin: bool, timeout: int | None
) -> tuple[str, ...]:
    """Replace an old container with a new one.

    The old one is removed only when the new one runs: if the engine cannot create or start the new one, the
    old one gets its name back, and is started if it ran before.
    """
    name, ran = old["Name"].lstrip("/"), state_of(old)
    new, warnings = create(engine, None, want)
    aside = f"{name}-{old['Id'][:SHORT_ID]}"
    try:
        _leave(engine, old, timeout)
        rename(engine, old["Id"], aside)
        rename(engine, new, name)
        if begin:
            start(engine, new)
    except Refused:
        remove(engine, new, force=True)
        _return(engine, old["Id"], name, ran)
        raise
    _remove_quietly(engine, old["Id"])
    return warnings


def _leave(engine: Engine, old: Seen, timeout: int | None) -> None:
    """Stop a container, and disable its restart policy."""
    if state_of(old) == PAUSED:
        engine.ask("POST", f"/containers/{old['Id']}/unpause")
    stop(engine, old["Id"], timeout)


def _return(engine: Engine, old: str, name: str, ran: str | None) -> None:
    seen = engine.find(f"/containers/{old}/json")
    if seen is None:  # it was created with auto_remove
        return
    if seen["Name"].lstrip("/") != name:
        rename(engine, old, name)
    if ran != STOPPED:
        start(engine, old)


def _remove_quietly(engine: Engine, old: str) -> None:
    try:
        remove(engine, old, force=True)
    except EngineError as problem:
        if problem.status != NOT_FOUND:
            raise
