"""``slsutil``: merge, render and write data while an SLS is rendered."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from posixpath import dirname, join
from typing import TypeVar

from saltern.language.diagnostics import did_you_mean
from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import TRUE_WORDS, BadArgument
from saltern.modules.lib.nested_data import each, fresh, merge_data

F = TypeVar("F")


@function
def merge(
    ctx: Context,
    obj_a: object,
    obj_b: object,
    strategy: str = "smart",
    renderer: str = "yaml",
    merge_lists: bool = False,
) -> object:
    """Merge ``obj_b`` over ``obj_a``; neither is changed.

    Args:
        strategy: ``smart``, ``recurse``, ``overwrite``, ``list`` or ``aggregate``.
        merge_lists: join lists instead of replacing them.

    Example:
        ```jinja
        {{ salt['slsutil.merge']({'port': 80, 'names': ['a']}, {'names': ['b']}, merge_lists=true) }}
        ```
        ```text
        {'port': 80, 'names': ['a', 'b']}
        ```
    """
    return merge_data(obj_a, obj_b, strategy=strategy, merge_lists=merge_lists)


@function
def merge_all(
    ctx: Context,
    lst: object,
    strategy: str = "smart",
    renderer: str = "yaml",
    merge_lists: bool = False,
) -> object:
    """Merge all mappings of a list, later ones on top.

    Example:
        ```jinja
        {{ salt['slsutil.merge_all']([{'port': 80}, {'port': 8080}, {'root': '/var/www'}]) }}
        ```
        ```text
        {'port': 8080, 'root': '/var/www'}
        ```
    """
    result: object = {}
    for item in each(lst):
        result = merge_data(result, item, strategy=strategy, merge_lists=merge_lists)
    return result


@function
def update(
    ctx: Context,
    dest: object,
    upd: object,
    recursive_update: bool = True,
    merge_lists: bool = False,
) -> object:
    """Merge ``upd`` over ``dest``, which is changed.

    Example:
        ```jinja
        {{ salt['slsutil.update']({'port': 80, 'root': '/var/www'}, {'port': 8080}) }}
        ```
        ```text
        {'port': 8080, 'root': '/var/www'}
        ```
    """
    strategy = "recurse" if recursive_update else "overwrite"
    result = merge_data(dest, upd, strategy=strategy, merge_lists=merge_lists)
    if isinstance(dest, MutableMapping) and isinstance(result, dict):
        dest.update(result)
        return dest
    return result


@function
def renderer(
    ctx: Context,
    /,
    path: str | None = None,
    string: str | None = None,
    default_renderer: str = "jinja|yaml",
    **kwargs: object,
) -> object:
    """Render a file (``salt://`` or a path) or a text through a pipe of renderers.

    Args:
        default_renderer: the pipe, if there is no ``#!`` line.
        kwargs: values for the template.

    Example:
        ```console
        $ saltern call slsutil.renderer salt://web/defaults.yaml
        local:
            ----------
            port:
                80
            root:
                /var/www
        ```
    """
    if (path is None) == (string is None):
        raise BadArgument("slsutil.renderer needs either a path or a string")
    place = ""
    if path is not None:
        from saltern.modules.lib import addresses

        saltenv = kwargs.get("saltenv")
        found = addresses.on_disk(ctx, path, str(saltenv) if saltenv else None)
        if found is None:
            raise BadArgument(f"slsutil.renderer cannot find {path}")
        place, string = path.removeprefix("salt://"), addresses.read(found).decode("utf-8", "replace")
    return ctx.templates.data(string or "", pipe=default_renderer, env=ctx.env, path=place, values=kwargs)


@function
def serialize(ctx: Context, /, serializer: str, obj: object, **mod_kwargs: object) -> str:
    """Data as text: ``json``, ``yaml``, ``configparser`` or ``python``.

    Example:
        ```jinja
        {{ salt['slsutil.serialize']('json', pillar['web']) }}
        ```
        ```text
        {"port": 8080, "names": ["example.org", "www.example.org"]}
        ```
    """
    from saltern.modules.lib.data_formats import WRITERS

    return _format(WRITERS, serializer)(obj, mod_kwargs)


@function
def deserialize(ctx: Context, /, serializer: str, stream_or_string: str, **mod_kwargs: object) -> object:
    """Text as data: ``json``, ``yaml``, ``toml`` or ``configparser``.

    Example:
        ```jinja
        {{ salt['slsutil.deserialize']('yaml', 'port: 8080') }}
        ```
        ```text
        {'port': 8080}
        ```
    """
    from saltern.modules.lib.data_formats import READERS

    return _format(READERS, serializer)(stream_or_string)


def _format(table: Mapping[str, F], name: str) -> F:
    if name not in table:
        hint = did_you_mean(name, table) or f"use one of {', '.join(table)}"
        raise BadArgument(f"no such format here: {name!r}; {hint}")
    return table[name]


@function
def boolstr(ctx: Context, value: object, true: str = "true", false: str = "false") -> str:
    """One of two texts, for true or false.

    Example:
        ```jinja
        {{ salt['slsutil.boolstr'](pillar['web']['port'] > 1024, true='high', false='low') }}
        ```
        ```text
        high
        ```
    """
    truth = value.strip().lower() in TRUE_WORDS if isinstance(value, str) else bool(value)
    return true if truth else false


TITLE = "THIS FILE IS MANAGED - DO NOT EDIT IT BY HAND"
TEXT = "Salt states write this file. What is changed here by hand is lost when they are applied again."


@function
def banner(
    ctx: Context,
    width: int = 72,
    commentchar: str = "#",
    borderchar: str = "#",
    blockstart: str | None = None,
    blockend: str | None = None,
    title: str | None = None,
    text: str | None = None,
    newline: bool = False,
) -> str:
    """A comment in a box, for the top of a managed file.

    Example:
        ```jinja
        {{ salt['slsutil.banner'](width=40, title='Managed by saltern', text='Do not edit') }}
        ```
        ```text
        ########################################
        #                                      #
        #          Managed by saltern          #
        #                                      #
        # Do not edit                          #
        ########################################
        ```
    """
    from textwrap import wrap

    start = commentchar if blockstart is None else blockstart
    inside = width - 2 * len(commentchar)
    border = commentchar + borderchar * inside + commentchar
    lines = ["", *(line.center(inside) for line in wrap(title or TITLE, inside)), ""]
    lines += [f" {line}" for line in wrap(text or TEXT, inside - 2)]
    body = [f"{commentchar}{line.ljust(inside)}{commentchar}" for line in lines]
    box = [border, *body, border]
    if blockstart:
        box.insert(0, start)
    if blockend:
        box.append(blockend)
    return "\n".join(box) + ("\n" if newline else "")


@function
def file_exists(ctx: Context, path: str, saltenv: str | None = None) -> bool:
    """True if the tree has this file.

    Example:
        ```console
        $ saltern call slsutil.file_exists web/init.sls
        local:
            True
        ```
    """
    return ctx.files.find(path, saltenv or ctx.env) is not None


@function
def dir_exists(ctx: Context, path: str, saltenv: str | None = None) -> bool:
    """True if the tree has this directory.

    Example:
        ```console
        $ saltern call slsutil.dir_exists web
        local:
            True
        ```
    """
    return path.strip("/") in ctx.files.directories(saltenv or ctx.env)


@function
def path_exists(ctx: Context, path: str, saltenv: str | None = None) -> bool:
    """True if the tree has this file or directory.

    Example:
        ```console
        $ saltern call slsutil.path_exists web/files
        local:
            True
        ```
    """
    return file_exists(ctx, path, saltenv) or dir_exists(ctx, path, saltenv)


@function
def findup(ctx: Context, startpath: str, filenames: object, saltenv: str | None = None) -> str:
    """The nearest file with one of these names, in ``startpath`` or a parent directory.

    Example:
        ```console
        $ saltern call slsutil.findup web/files defaults.yaml
        local:
            web/defaults.yaml
        ```
    """
    here = startpath.strip("/")
    while True:
        for name in each(filenames):
            candidate = join(here, str(name))
            if path_exists(ctx, candidate, saltenv):
                return candidate
        if not here:
            raise BadArgument(f"none of {filenames!r} is in {startpath!r} or above it")
        here = dirname(here)


@function
def find_up(ctx: Context, startpath: str, filenames: object, saltenv: str | None = None) -> str:
    """The same as ``slsutil.findup``.

    Example:
        ```console
        $ saltern call slsutil.find_up web/files defaults.yaml
        local:
            web/defaults.yaml
        ```
    """
    return findup(ctx, startpath, filenames, saltenv)


@function
def deepcopy(ctx: Context, obj: object) -> object:
    """A copy that shares nothing with the original.

    Example:
        ```jinja
        {% set mine = salt['slsutil.deepcopy'](pillar['web']) %}
        {% do mine.update({'port': 81}) %}
        {{ mine['port'] }} {{ pillar['web']['port'] }}
        ```
        ```text
        81 8080
        ```
    """
    return fresh(obj)
