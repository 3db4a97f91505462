"""``salt.utils.state``: for states that call other states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saltern.compat.shim.state import _gen_tag as gen_tag

__all__ = ("check_result", "gen_tag", "get_sls_opts", "merge_subreturn")


def check_result(running: Any, recurse: bool = False, highstate: object = None) -> bool:  # noqa: ARG001
    """True if no result in it is a failure."""
    if not isinstance(running, Mapping) or not running:
        return False
    return all(_fine(value) for value in running.values())


def _fine(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return True
    if "result" in value:
        return value["result"] is not False
    return all(map(_fine, value.values()))


def merge_subreturn(original_return: Any, sub_return: Mapping[str, Any], subkey: str | None = None) -> Any:
    """Merge the return of another state into that of this one, which is changed."""
    if sub_return["result"] is False:
        original_return["result"] = False
    comment = sub_return["comment"]
    lines = comment if isinstance(comment, list) else [comment]
    so_far = original_return.get("comment", [])
    if isinstance(so_far, list):
        original_return["comment"] = [*so_far, *lines]
    else:
        original_return["comment"] = "\n".join([*([so_far] if so_far else []), *lines])
    if sub_return["changes"]:
        changes = original_return.setdefault("changes", {})
        changes[subkey or sub_return["name"]] = sub_return["changes"]
    return original_return


def get_sls_opts(opts: Any, **kwargs: Any) -> dict[str, Any]:
    return {**opts, **{key: kwargs[key] for key in ("saltenv", "pillarenv") if key in kwargs}}
