"""``test.provider``: the file of Salt that a module corresponds to; templates compare its name."""

from __future__ import annotations

from collections.abc import Callable

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.registry import FUNCTIONS

# Salt's files that are not named like the module.
FILES: dict[str, str] = {
    "cmd": "cmdmod",
    "debconf": "debconfmod",
    "docker": "dockermod",
    "group": "groupadd",
    "ini": "ini_manage",
    "locale": "localemod",
    "log": "logmod",
    "lvm": "linux_lvm",
    "random": "mod_random",
    "shadow": "linux_shadow",
    "sys": "sysmod",
    "sysctl": "linux_sysctl",
    "user": "useradd",
    "virtualenv": "virtualenv_mod",
    "x509": "x509_v2",
}
PACKAGES: dict[str, tuple[str, str]] = {  # by our package manager: the files of ``pkg`` and ``lowpkg``
    "apt": ("aptpkg", "dpkg_lowpkg"),
    "dnf": ("yumpkg", "rpm_lowpkg"),
    "yum": ("yumpkg", "rpm_lowpkg"),
    "zypper": ("zypperpkg", "rpm_lowpkg"),
    "apk": ("apkpkg", ""),
    "pacman": ("pacmanpkg", ""),
}
SERVICES: dict[str, str] = {
    "systemd": "systemd_service",
    "offline": "systemd_service",
    "openrc": "gentoo_service",
}
INIT_SCRIPTS: dict[str, str] = {"Debian": "debian_service", "RedHat": "rh_service"}
NETWORKS: dict[str, str] = {"Debian": "debian_ip", "RedHat": "rh_ip", "Suse": "suse_ip"}


def _packages(ctx: Context, at: int) -> str:
    from shutil import which

    from saltern.modules.lib.packages.choose import choose
    from saltern.modules.lib.packages.model import PackageError

    try:
        row = choose(ctx.grains, lambda program: which(program) is not None)
    except PackageError:
        return ""
    return PACKAGES[row.name][at]


def _service(ctx: Context) -> str:
    from saltern.modules.lib.services.providers import choose_provider

    name = choose_provider(ctx).name
    return SERVICES.get(name) or INIT_SCRIPTS.get(str(ctx.grains.get("os_family")), "service")


CHOSEN: dict[str, Callable[[Context], str]] = {
    "ip": lambda ctx: NETWORKS.get(str(ctx.grains.get("os_family")), ""),
    "lowpkg": lambda ctx: _packages(ctx, 1),
    "pkg": lambda ctx: _packages(ctx, 0),
    "service": _service,
}


def _modules(ctx: Context) -> list[str]:
    from saltern.modules.functions.sys import list_modules

    return list_modules(ctx)


@function
def provider(ctx: Context, module: str) -> str:
    """Salt's name of the file that provides a module; empty if there is no such module.

    Example:
        ```console
        $ saltern call test.provider user
        local:
            useradd
        ```
    """
    if module in CHOSEN:
        return CHOSEN[module](ctx)
    is_known = module in FUNCTIONS or module in _modules(ctx)
    return FILES.get(module, module) if is_known else ""


@function
def providers(ctx: Context) -> dict[str, str]:
    """All files that provide modules, each with its module.

    Example:
        ```console
        $ saltern call test.providers
        ```
    """
    return {file: module for module in _modules(ctx) if (file := provider(ctx, module))}
