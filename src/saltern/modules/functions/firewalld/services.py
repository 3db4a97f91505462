"""Functions of ``firewalld`` for the definitions of services."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.refused import Refused
from saltern.modules.functions.firewalld.daemon import ask, reload_if
from saltern.modules.lib.firewalls import firewalld


def _parts(ctx: Context, service: str, what: str) -> list[str]:
    found = firewalld.service(ctx, firewalld.reach(ctx), service)
    if found is None:
        raise Refused(f"there is no service {service!r}")
    return found[what]


def _change(ctx: Context, service: str, option: str, which: str) -> str:
    name = firewalld.check_name(service, "a service")
    return ask(ctx, f"--service={name}", f"{option}={firewalld.value(which, option)}", permanent=True)


@function
def get_services(ctx: Context, permanent: bool = True) -> list[str]:
    """The names of all services.

    Args:
        permanent: use the configuration; false for the rules in force.

    Example:
        ```console
        $ saltern call firewalld.get_services
        ```
    """
    return ask(ctx, "--get-services", permanent=permanent).split()


@function
def new_service(ctx: Context, name: str, restart: bool = True) -> str:
    """Create a service.

    Args:
        name: the service.
        restart: load the configuration afterwards.

    Example:
        ```console
        $ saltern call firewalld.new_service saltern
        ```
    """
    said = ask(ctx, f"--new-service={firewalld.check_name(name, 'a service')}", permanent=True)
    reload_if(ctx, restart)
    return said


@function
def delete_service(ctx: Context, name: str, restart: bool = True) -> str:
    """Delete a service.

    Args:
        name: the service.
        restart: load the configuration afterwards.

    Example:
        ```console
        $ saltern call firewalld.delete_service saltern
        ```
    """
    said = ask(ctx, f"--delete-service={firewalld.check_name(name, 'a service')}", permanent=True)
    reload_if(ctx, restart)
    return said


@function
def get_service_ports(ctx: Context, service: str) -> list[str]:
    """The ports of a service.

    Args:
        service: the service.

    Example:
        ```console
        $ saltern call firewalld.get_service_ports ssh
        ```
    """
    return _parts(ctx, service, "ports")


@function
def add_service_port(ctx: Context, service: str, port: str) -> str:
    """Add a port to a service.

    Args:
        service: the service.
        port: the port.

    Example:
        ```console
        $ saltern call firewalld.add_service_port saltern 8080/tcp
        ```
    """
    return _change(ctx, service, "--add-port", port)


@function
def remove_service_port(ctx: Context, service: str, port: str) -> str:
    """Remove a port from a service.

    Args:
        service: the service.
        port: the port.

    Example:
        ```console
        $ saltern call firewalld.remove_service_port saltern 8080/tcp
        ```
    """
    return _change(ctx, service, "--remove-port", port)


@function
def get_service_protocols(ctx: Context, service: str) -> list[str]:
    """The protocols of a service.

    Args:
        service: the service.

    Example:
        ```console
        $ saltern call firewalld.get_service_protocols ssh
        ```
    """
    return _parts(ctx, service, "protocols")


@function
def add_service_protocol(ctx: Context, service: str, protocol: str) -> str:
    """Add a protocol to a service.

    Args:
        service: the service.
        protocol: the protocol.

    Example:
        ```console
        $ saltern call firewalld.add_service_protocol saltern gre
        ```
    """
    return _change(ctx, service, "--add-protocol", protocol)


@function
def remove_service_protocol(ctx: Context, service: str, protocol: str) -> str:
    """Remove a protocol from a service.

    Args:
        service: the service.
        protocol: the protocol.

    Example:
        ```console
        $ saltern call firewalld.remove_service_protocol saltern gre
        ```
    """
    return _change(ctx, service, "--remove-protocol", protocol)
