"""``kmod``: kernel modules."""

from __future__ import annotations

import os

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.tables import kernel_modules as modules


@function
def lsmod(ctx: Context) -> list[dict[str, object]]:
    """The loaded modules.

    Example:
        ```console
        $ saltern call kmod.lsmod
        ```
    """
    return [
        {
            "size": row[1],
            "module": row[0],
            "depcount": row[2],
            "deps": [] if row[3] == "-" else row[3].split(",")[:-1],
        }
        for row in modules.rows(ctx)
        if len(row) > 3
    ]


@function
def available(ctx: Context) -> list[str]:
    """The modules that this kernel can load.

    Example:
        ```console
        $ saltern call kmod.available
        ```
    """
    text = ctx.host.read(f"/lib/modules/{os.uname().release}/modules.dep") or ""
    paths = (line.partition(":")[0] for line in text.splitlines())
    return sorted({os.path.basename(path).partition(".")[0].replace("-", "_") for path in paths})


@function
def check_available(ctx: Context, mod: str) -> bool:
    """True if this kernel can load a module.

    Example:
        ```console
        $ saltern call kmod.check_available no_such_module
        local:
            False
        ```
    """
    return mod.replace("-", "_") in available(ctx)


@function
def is_loaded(ctx: Context, mod: str) -> bool:
    """True if a module is loaded or built into the kernel.

    Example:
        ```console
        $ saltern call kmod.is_loaded no_such_module
        local:
            False
        ```
    """
    return modules.is_loaded(ctx, mod)


@function
def mod_list(ctx: Context, only_persist: bool = False) -> list[str]:
    """The loaded modules, or those to load at boot.

    Example:
        ```console
        $ saltern call kmod.mod_list only_persist=true
        ```
    """
    return sorted(modules.kept_modules(ctx) if only_persist else modules.loaded_modules(ctx))


@function
def load(ctx: Context, mod: str, persist: bool = False) -> list[str]:
    """Load a module. Returns all modules that were loaded.

    Example:
        ```console
        $ saltern call kmod.load dummy
        ```
    """
    before = set(modules.loaded_modules(ctx))
    modules.load(ctx, mod)
    if persist and mod not in modules.kept_modules(ctx):
        modules.keep(ctx, mod)
    return sorted(set(modules.loaded_modules(ctx)) - before)


@function
def remove(ctx: Context, mod: str, persist: bool = False, comment: bool = True) -> list[str]:
    """Unload a module. Returns all modules that were unloaded.

    Example:
        ```console
        $ saltern call kmod.remove dummy
        ```
    """
    before = set(modules.loaded_modules(ctx))
    modules.remove(ctx, mod)
    if persist:
        modules.forget(ctx, mod, comment=comment)
    return sorted(before - set(modules.loaded_modules(ctx)))
