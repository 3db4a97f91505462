"""Commands in conditions: run in a shell with the options of their state; only the exit code counts."""

from __future__ import annotations

from collections.abc import Mapping

from saltern.modules.context import Context


def run_guard(ctx: Context, command: str, options: Mapping[str, object]) -> int:
    env = environment(options.get("env"))
    if path := options.get("prepend_path"):
        import os

        env["PATH"] = f"{path}:{env.get('PATH') or os.environ.get('PATH', os.defpath)}"
    umask, timeout = options.get("umask"), options.get("timeout")
    words: str | list[str] = command
    if root := options.get("root"):
        words = ["chroot", str(root), "/bin/sh", "-c", command]
    return ctx.host.run(
        words,
        shell=text_or_none(options.get("shell")),
        cwd=text_or_none(options.get("cwd")),
        env=env,
        user=text_or_none(options.get("runas")),
        umask=int(str(umask), 8) if umask is not None else None,
        timeout=float(str(timeout)) if timeout else None,
    ).code


def environment(value: object) -> dict[str, str]:
    """``env``: a mapping, or a list of mappings or ``NAME=value``."""
    if isinstance(value, Mapping):
        return {str(key): "" if inner is None else str(inner) for key, inner in value.items()}
    result: dict[str, str] = {}
    for item in value if isinstance(value, list) else ():
        if isinstance(item, Mapping):
            result |= environment(item)
        elif isinstance(item, str) and "=" in item:
            name, _, text = item.partition("=")
            result[name] = text
    return result


def text_or_none(value: object) -> str | None:
    return None if value is None or value == "" else str(value)
