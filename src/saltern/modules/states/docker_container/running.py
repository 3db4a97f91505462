"""``docker_container.running``."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from saltern.language.result import Outcome, Result
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.params import bind
from saltern.modules.api.refused import Refused
from saltern.modules.api.registry import schema
from saltern.modules.lib.containers.engine import engine
from saltern.modules.lib.containers.options import read_arguments
from saltern.modules.states.docker_container.update import Keeper, Manner

# Arguments that are not about the container itself.
OWN = frozenset(
    {"ctx", "name", "image", "skip_translate", "ignore_collisions", "validate_ip_addrs", "force"}
    | {"watch_action", "start", "shutdown_timeout", "client_timeout", "networks"}
)


@state
def running(
    ctx: Context,
    /,
    name: str,
    *,
    image: str | None = None,
    networks: object = None,
    start: bool = True,
    force: bool = False,
    watch_action: str = "force",
    shutdown_timeout: int | None = None,
    client_timeout: float = 60,
    skip_translate: object = None,
    ignore_collisions: bool = False,
    validate_ip_addrs: bool = True,
    auto_remove: bool | None = None,
    binds: object = None,
    blkio_weight: int | None = None,
    blkio_weight_device: object = None,
    cap_add: str | list[str] | None = None,
    cap_drop: str | list[str] | None = None,
    cgroup_parent: str | None = None,
    command: str | list[str] | None = None,
    cpu_period: int | None = None,
    cpu_quota: int | None = None,
    cpu_shares: int | None = None,
    cpuset_cpus: str | None = None,
    cpuset_mems: str | None = None,
    detach: bool | None = None,
    device_read_bps: object = None,
    device_read_iops: object = None,
    device_write_bps: object = None,
    device_write_iops: object = None,
    devices: str | list[str] | None = None,
    dns: str | list[str] | None = None,
    dns_opt: str | list[str] | None = None,
    dns_search: str | list[str] | None = None,
    domainname: str | None = None,
    entrypoint: str | list[str] | None = None,
    environment: object = None,
    extra_hosts: object = None,
    group_add: str | list[str] | None = None,
    healthcheck: object = None,
    host_config: dict[str, object] | None = None,
    hostname: str | None = None,
    init: bool | None = None,
    ipc_mode: str | None = None,
    isolation: str | None = None,
    labels: object = None,
    links: object = None,
    log_driver: str | None = None,
    log_opt: object = None,
    log_config: object = None,
    lxc_conf: object = None,
    mac_address: str | None = None,
    mem_limit: str | None = None,
    mem_reservation: str | None = None,
    mem_swappiness: int | None = None,
    memswap_limit: str | None = None,
    nano_cpus: int | None = None,
    network_disabled: bool | None = None,
    network_mode: str | None = None,
    oom_kill_disable: bool | None = None,
    oom_score_adj: int | None = None,
    pid_mode: str | None = None,
    pids_limit: int | None = None,
    port_bindings: object = None,
    ports: object = None,
    privileged: bool | None = None,
    publish_all_ports: bool | None = None,
    read_only: bool | None = None,
    restart_policy: object = None,
    runtime: str | None = None,
    security_opt: str | list[str] | None = None,
    shm_size: str | None = None,
    stdin_open: bool | None = None,
    stop_signal: str | None = None,
    stop_timeout: int | None = None,
    storage_opt: object = None,
    sysctls: object = None,
    tmpfs: object = None,
    tty: bool | None = None,
    ulimits: object = None,
    user: str | None = None,
    userns_mode: str | None = None,
    uts_mode: str | None = None,
    volume_driver: str | None = None,
    volumes: object = None,
    volumes_from: str | list[str] | None = None,
    working_dir: str | None = None,
    bind: object = None,
    cmd: str | list[str] | None = None,
    cpu_group: int | None = None,
    cpuset: str | None = None,
    dns_option: str | list[str] | None = None,
    env: object = None,
    expose: object = None,
    interactive: bool | None = None,
    ipc: str | None = None,
    label: object = None,
    memory: str | None = None,
    memory_swap: str | None = None,
    publish: object = None,
    publish_all: bool | None = None,
    restart: object = None,
    rm: bool | None = None,
    security_opts: str | list[str] | None = None,
    sysctl: object = None,
    ulimit: object = None,
    user_ns_mode: str | None = None,
    volume: object = None,
    workdir: str | None = None,
) -> Result:
    """Make sure that a container exists as described, and runs.

    A container that differs is replaced; the old one is removed only when the new one has started. An image
    that is missing is pulled.

    Args:
        name: the name of the container.
        image: the image, ``name:tag``.
        networks: exactly the networks it is in: names, or ``{name: [{ipv4_address: 10.0.0.7},
            {aliases: [web]}]}`` with
            ``ipv4_address``, ``ipv6_address``, ``link_local_ips``, ``aliases``, ``links``.
        start: ``False`` starts it only when it is first created.
        force: always replace it.
        watch_action: ``force`` replaces it when a watched state has changed; anything else is a signal
            to send to it instead, such as ``SIGHUP``.
        shutdown_timeout: seconds to wait for the old one to end; the value it was created with, or 10, if
            not given.
        client_timeout: seconds to wait for a response of the engine.
        skip_translate: arguments that are given in the form of the engine's API; ``True`` for all.
        ignore_collisions: if both an argument and its alias are given, use the argument instead of failing.
        validate_ip_addrs: fail for invalid IP addresses.
        auto_remove: the engine removes it when it ends; also ``rm``.
        binds: ``/here:/there[:ro]``, a list of them, or ``{/here: {bind: /there, mode: ro}}``; also ``bind``.
        blkio_weight: its share of disk time, 10 to 1000.
        blkio_weight_device: the same for a device, ``/dev/sda:500``.
        cap_add: capabilities to add, such as ``NET_ADMIN``.
        cap_drop: capabilities to drop.
        cgroup_parent: the parent of its control group.
        command: the command it runs, a line or a list of words; also ``cmd``.
        cpu_period: the length of a CPU period in microseconds.
        cpu_quota: microseconds of CPU time in each period; also ``cpu_group``.
        cpu_shares: its weight relative to other containers; the default is 1024.
        cpuset_cpus: the CPUs it may use, ``0-2,4``; also ``cpuset``.
        cpuset_mems: the memory nodes it may use.
        detach: has no effect: it always runs in the background.
        device_read_bps: bytes per second it may read, ``/dev/sda:10mb``.
        device_read_iops: reads per second, ``/dev/sda:1000``.
        device_write_bps: bytes per second it may write.
        device_write_iops: writes per second.
        devices: devices to add, ``/dev/here:/dev/there:rwm``.
        dns: its name servers.
        dns_opt: options of its resolver; also ``dns_option``.
        dns_search: domains its resolver searches.
        domainname: its domain.
        entrypoint: the program that gets the command as its arguments.
        environment: ``{NAME: value}`` or ``NAME=value``, or a list; values are never shown. Also ``env``.
        extra_hosts: lines of its /etc/hosts, ``name:address``.
        group_add: further groups of its user.
        healthcheck: ``{test: command, interval: 30s, timeout: 5s, retries: 3, start_period: 10s}``.
        host_config: settings by the engine's own names, such as ``{Memory: 67108864}``; they take precedence
            over the other arguments.
        hostname: its host name.
        init: run a small init process that reaps zombies.
        ipc_mode: ``host``, ``private``, ``container:NAME``; also ``ipc``.
        isolation: how it is isolated, on Windows.
        labels: ``{name: value}``, ``name=value``, ``name``, or a list; also ``label``.
        links: legacy links to other containers, ``name:alias``.
        log_driver: where its output goes; the engine's default if not given.
        log_opt: options of the log driver, ``{max-size: 10m}``.
        log_config: both, in the form of the engine's API: ``{Type: …, Config: {…}}``.
        lxc_conf: has no effect: engines no longer support LXC.
        mac_address: its MAC address.
        mem_limit: memory it may use, ``512m``; also ``memory``.
        mem_reservation: memory that is reserved for it when memory is scarce.
        mem_swappiness: how readily its memory is swapped, 0 to 100.
        memswap_limit: memory and swap together, ``-1`` for no limit; also ``memory_swap``.
        nano_cpus: CPU time in billionths of a CPU.
        network_disabled: give it no network.
        network_mode: ``bridge``, ``host``, ``none``, ``container:NAME`` or a network.
        oom_kill_disable: do not kill it when memory runs out.
        oom_score_adj: how likely it is killed when memory runs out, -1000 to 1000.
        pid_mode: ``host`` or ``container:NAME``: whose processes it sees.
        pids_limit: the maximum number of its processes.
        port_bindings: ``8080:80``, ``127.0.0.1:53:53/udp``, ``8000-8009:9000-9009``; also ``publish``.
        ports: ports it exposes, ``80`` or ``53/udp``; published ones need not be listed. Also ``expose``.
        privileged: give it full access to this machine.
        publish_all_ports: publish each port at a free port; also ``publish_all``.
        read_only: make its root filesystem read-only.
        restart_policy: ``no``, ``always``, ``unless-stopped``, ``on-failure:5``; also ``restart``.
        runtime: the program that starts it, such as ``runc``.
        security_opt: ``no-new-privileges``, ``apparmor=…``; also ``security_opts``.
        shm_size: the size of its /dev/shm, ``64m``.
        stdin_open: keep its stdin open; also ``interactive``.
        stop_signal: the signal that asks it to end.
        stop_timeout: seconds between the stop signal and the kill.
        storage_opt: options of the storage driver, ``{size: 10G}``.
        sysctls: its kernel parameters, ``{net.ipv4.ip_forward: 1}``; also ``sysctl``.
        tmpfs: ``{/run: size=64m}``: directories in memory.
        tty: give it a terminal.
        ulimits: ``nofile=1024:2048``, or a list; also ``ulimit``.
        user: the user it runs as, a name or ``uid:gid`` of the image.
        userns_mode: ``host`` to be outside the user namespace; also ``user_ns_mode``.
        uts_mode: ``host`` to share the host name of the machine.
        volume_driver: the driver of its volumes.
        volumes: paths in the container that are volumes; also ``volume``.
        volumes_from: containers whose volumes it mounts.
        working_dir: the directory its command runs in; also ``workdir``.
        bind: see ``binds``.
        cmd: see ``command``.
        cpu_group: see ``cpu_quota``.
        cpuset: see ``cpuset_cpus``.
        dns_option: see ``dns_opt``.
        env: see ``environment``.
        expose: see ``ports``.
        interactive: see ``stdin_open``.
        ipc: see ``ipc_mode``.
        label: see ``labels``.
        memory: see ``mem_limit``.
        memory_swap: see ``memswap_limit``.
        publish: see ``port_bindings``.
        publish_all: see ``publish_all_ports``.
        restart: see ``restart_policy``.
        rm: see ``auto_remove``.
        security_opts: see ``security_opt``.
        sysctl: see ``sysctls``.
        ulimit: see ``ulimits``.
        user_ns_mode: see ``userns_mode``.
        volume: see ``volumes``.
        workdir: see ``working_dir``.

    Example:
        ```yaml
        web:
          docker_container.running:
            - image: busybox:1.36
            - command: sleep 3600
            - environment:
              - MODE: production
            - binds: /srv:/srv:ro
            - restart_policy: always
            - memory: 64m
        ```
    """
    arguments = {key: value for key, value in locals().items() if key not in OWN}
    read = read_arguments(
        arguments,
        skip_translate=skip_translate,
        ignore_collisions=ignore_collisions,
        validate_ip_addrs=validate_ip_addrs,
    )
    manner = Manner(start=start, force=force, timeout=shutdown_timeout, patience=client_timeout)
    return Keeper(ctx, name, _check_image(image), read, networks, manner, validate_ip_addrs).keep()


def _check_image(image: str | None) -> str:
    if not image:
        raise Refused("the argument 'image' is missing: name the image to create the container from")
    return image


def react(ctx: Context, name: str, args: Mapping[str, object]) -> Result:
    """Recreate the container, or send a signal to it if it is as specified and runs."""
    action = str(args.get("watch_action") or "force")
    if action == "force":
        return running.body(ctx, name, **bind(schema(running), {**args, "force": True}))  # type: ignore[arg-type]
    result = running.body(ctx, name, **bind(schema(running), {**args, "force": False}))  # type: ignore[arg-type]
    if result.outcome is not Outcome.OK or result.changes:
        return result
    return _signal(ctx, name, action, result)


def _signal(ctx: Context, name: str, signal: str, result: Result) -> Result:
    changes: dict[str, object] = {"signal": signal}
    if ctx.test:
        comment = f"Signal {signal} would be sent to container {name!r}"
        return replace(result, outcome=Outcome.WOULD_CHANGE, comment=comment, changes=changes)
    engine(ctx).ask("POST", f"/containers/{name}/kill", {"signal": signal})
    return replace(result, comment=f"Sent signal {signal} to container {name!r}", changes=changes)
