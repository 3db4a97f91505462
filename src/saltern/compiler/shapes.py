"""High data in Salt's shape, for display."""

from __future__ import annotations

from saltern.language.high import High


def high_data(high: High) -> dict[str, object]:
    """IDs, each with its states as lists; extend and exclude under their own keys."""
    data: dict[str, dict[str, object]] = {}
    for one in high.declarations:
        body = data.setdefault(one.id, {})
        body[one.state] = [*one.items, {"order": one.order}] if one.order is not None else list(one.items)
    for one in high.declarations:
        body = data[one.id]
        body["__sls__"], body["__env__"] = one.ref.name, one.ref.env
        if one.included_from:
            body["__sls_included_from__"] = list(one.included_from)
    result: dict[str, object] = dict(data)
    if high.extensions:
        result["__extend__"] = [
            {
                one.id: {
                    **{key.partition(".")[0]: _add_function(key, items) for key, items in one.bodies.items()},
                    "__sls__": one.ref.name,
                    "__env__": one.ref.env,
                }
            }
            for one in high.extensions
        ]
    if high.exclusions:
        result["__exclude__"] = [rule.raw for rule in high.exclusions]
    return result


def _add_function(key: str, items: object) -> object:
    fun = key.partition(".")[2]
    return [*items, fun] if fun and isinstance(items, list) else items
