"""``config``: values from the configuration, the grains or the pillar."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

from saltern.language import merge as merging
from saltern.language.ordered import like
from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.nested_data import fresh

MISSING = object()

# Defaults of options that Salt's own modules expect.
DEFAULTS: dict[str, object] = {
    "aliases.file": "/etc/aliases",
    "ca.cert_base_path": "/etc/pki",
    "docker.exec_driver": "docker-exec",
    "docker.compare_container_networks": {
        "static": ["Aliases", "Links", "IPAMConfig"],
        "automatic": ["IPAddress", "Gateway", "GlobalIPv6Address", "IPv6Gateway"],
    },
    "hosts.file": "/etc/hosts",
    "ldap.anonymous": True,
    "ldap.attrs": None,
    "ldap.binddn": "",
    "ldap.bindpw": "",
    "ldap.no_verify": False,
    "ldap.port": "389",
    "ldap.scope": 2,
    "ldap.server": "localhost",
    "ldap.tls": False,
    "ldap.uri": "",
    "mongo.db": "salt",
    "mongo.password": "",
    "mongo.port": 27017,
    "mongo.user": "",
    "redis.db": "0",
    "redis.host": "salt",
    "redis.port": 6379,
    "solr.host": "localhost",
    "solr.port": "8983",
    "test.foo": "unconfigured",
    "virt": {"tunnel": False, "images": "/srv/salt-images"},
}


@function
def get(
    ctx: Context,
    key: str,
    default: object = "",
    delimiter: str = ":",
    merge: object = None,
    omit_opts: bool = False,
    omit_pillar: bool = False,
    omit_master: bool = False,
    omit_grains: bool = False,
) -> object:
    """A value from the first of: configuration, grains, pillar, ``master`` in pillar, Salt's defaults; or the
    default.

    Args:
        merge: ``recurse`` or ``overwrite``: merge all of them, the first on top; ``omit_…`` are ignored
            then. ``overwrite`` takes a top-level key from the first that has it.

    Example:
        ```console
        $ saltern call config.get web:port
        local:
            8080
        ```
    """
    from saltern.targeting.traverse import traverse

    if merge is not None:
        places = [_merge_places(ctx, key.partition(delimiter)[0] if delimiter else key, str(merge))]
    else:
        places = [*_places(ctx, (omit_opts, omit_grains, omit_pillar, omit_master)), DEFAULTS]
    for place in places:
        if (value := traverse(place, key, MISSING, delimiter)) is not MISSING:
            return fresh(value)
    return default


def _places(ctx: Context, omitted: tuple[bool, ...]) -> list[Mapping[str, object]]:
    master = ctx.pillar.get("master")
    places = (ctx.opts, ctx.grains, ctx.pillar, master if isinstance(master, Mapping) else {})
    return [place for place, omit in zip(places, omitted, strict=True) if not omit]


def _merge_places(ctx: Context, key: str, strategy: str) -> Mapping[str, object]:
    """One top-level key, merged from all places."""
    how = strategy if strategy == "overwrite" else "recurse"
    result: object = {}
    for place in reversed([*_places(ctx, (False,) * 4), DEFAULTS]):
        if key in place:
            result = merging.merge(result, {key: place[key]}, strategy=how)
    return result if isinstance(result, Mapping) else {}


@function
def option(
    ctx: Context,
    value: str,
    default: object = None,
    omit_opts: bool = False,
    omit_grains: bool = False,
    omit_pillar: bool = False,
    omit_master: bool = False,
    omit_all: bool = False,
    wildcard: bool = False,
) -> object:
    """The value of one key, which is not split at ``:``. ``wildcard`` returns all keys that match a glob.

    Example:
        ```console
        $ saltern call config.option role
        local:
            web
        ```
    """
    omitted = tuple(omit or omit_all for omit in (omit_opts, omit_grains, omit_pillar, omit_master))
    places = [*_places(ctx, omitted), DEFAULTS]
    if wildcard:
        return _matching_values(places, value) or ({} if default is None else default)
    for place in places:
        if value in place:
            return fresh(place[value])
    return "" if default is None else default


def _matching_values(places: list[Mapping[str, object]], pattern: str) -> dict[str, object]:
    result: dict[str, object] = {}
    for place in reversed(places):
        result |= {key: fresh(inner) for key, inner in place.items() if fnmatchcase(str(key), pattern)}
    return result


@function
def merge(
    ctx: Context,
    value: str,
    default: object = "",
    omit_opts: bool = False,
    omit_master: bool = False,
    omit_pillar: bool = False,
) -> object:
    """The value of a key from the configuration, ``master`` in pillar, and pillar: mappings and lists are
    merged, texts come from the first. Grains are not used.

    Example:
        ```console
        $ saltern call config.merge web
        local:
            ----------
            names:
                - example.org
                - www.example.org
            port:
                8080
        ```
    """
    opts, _grains, pillar, master = _places(ctx, (False,) * 4)
    places = ((opts, omit_opts), (master, omit_master), (pillar, omit_pillar), (DEFAULTS, False))
    found = [place[value] for place, omit in places if not omit and value in place]
    found = [one for one in found if one is not None]
    result = found[0] if found else default
    for one in found[1:]:
        if isinstance(result, Mapping) and isinstance(one, Mapping):
            result = like(one, {**one, **result})
        elif isinstance(result, list | tuple) and isinstance(one, list | tuple):
            result = [*result, *one]
    return fresh(result)


@function
def items(ctx: Context) -> object:
    """The whole configuration.

    Example:
        ```console
        $ saltern call config.items
        ```
    """
    return fresh(ctx.opts)


@function
def dot_vals(ctx: Context, value: str) -> dict[str, object]:
    """All settings in the pillar and the configuration that begin with ``value.``.

    Example:
        ```console
        $ saltern call config.dot_vals mail --pillar '{mail.host: mx.example.org}'
        local:
            ----------
            mail.host:
                mx.example.org
        ```
    """
    places = _places(ctx, (False, True, False, True))
    return {
        key: fresh(inner)
        for place in reversed(places)
        for key, inner in place.items()
        if str(key).startswith(f"{value}.")
    }


@function
def valid_fileproto(ctx: Context, uri: str) -> bool:
    """True if files can be fetched from such a URL.

    Example:
        ```console
        $ saltern call config.valid_fileproto salt://web/motd
        local:
            True
        ```
    """
    return uri.partition("://")[0] in ("salt", "http", "https", "ftp", "file")


@function
def manage_mode(ctx: Context, mode: object) -> str | None:
    """A file mode as four octal digits.

    Example:
        ```console
        $ saltern call config.manage_mode 644
        local:
            0644
        ```
    """
    return None if mode is None else str(mode).strip("'\"").removeprefix("0o").lstrip("0").zfill(4)


@function
def backup_mode(ctx: Context, backup: object = "") -> object:
    """The backup mode to use: this one, or the configured one.

    Example:
        ```console
        $ saltern call config.backup_mode minion
        local:
            minion
        ```
    """
    return backup or option(ctx, "backup_mode")
