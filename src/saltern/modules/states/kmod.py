"""``kmod``: kernel modules."""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.lib.tables import kernel_modules as modules


@state
def present(ctx: Context, name: str, *, persist: bool = False, mods: list[str] | None = None) -> Result:
    """Make sure that kernel modules are loaded.

    Args:
        name: the module.
        persist: load it at boot as well.
        mods: several modules, instead of ``name``.

    Example:
        ```yaml
        br_netfilter:
          kmod.present:
            - persist: true
        ```
    """
    wanted = [modules.check_name(one) for one in mods or [name]]

    def differs() -> Changes:
        return {one: "loaded" for one in wanted if not _is_right(ctx, one, persist)}

    def act(changes: Changes) -> None:
        for one in changes:
            if not modules.is_loaded(ctx, one):
                modules.load(ctx, one)
            if persist and not _is_kept(ctx, one):
                modules.keep(ctx, one)

    return bring(
        ctx,
        differs,
        act,
        facts=lambda: _facts(ctx, wanted),
        words=_words(wanted, "loaded", "loaded"),
    )


def _is_kept(ctx: Context, name: str) -> bool:
    return any(modules.same(name, one) for one in modules.kept_modules(ctx))


def _is_right(ctx: Context, name: str, persist: bool) -> bool:
    return modules.is_loaded(ctx, name) and (not persist or _is_kept(ctx, name))


def _facts(ctx: Context, names: list[str]) -> Changes:
    return {one: {"loaded": modules.is_loaded(ctx, one), "persisted": _is_kept(ctx, one)} for one in names}


def _words(names: list[str], already: str, verb: str) -> Words:
    what = f"Kernel module {', '.join(names)}"
    return Words(f"{what} is {already}", f"{what} would be {verb}", f"{what} was {verb}")


@state(removes=True)
def absent(
    ctx: Context, name: str, *, persist: bool = False, comment: bool = True, mods: list[str] | None = None
) -> Result:
    """Make sure that kernel modules are not loaded.

    Args:
        name: the module.
        persist: do not load it at boot, either.
        comment: with ``persist``: comment its line out instead of removing it.
        mods: several modules, instead of ``name``.

    Example:
        ```yaml
        pcspkr:
          kmod.absent:
            - persist: true
        ```
    """
    unwanted = [modules.check_name(one) for one in mods or [name]]

    def there(one: str) -> bool:
        return any(modules.same(one, other) for other in modules.loaded_modules(ctx))

    def differs() -> Changes:
        return {one: "removed" for one in unwanted if there(one) or (persist and _is_kept(ctx, one))}

    def act(changes: Changes) -> None:
        for one in changes:
            if there(one):
                modules.remove(ctx, one)
            if persist and _is_kept(ctx, one):
                modules.forget(ctx, one, comment=comment)

    return bring(
        ctx,
        differs,
        act,
        facts=lambda: _facts(ctx, unwanted),
        words=_words(unwanted, "not loaded", "removed"),
    )
