"""``file.serialize``: data from SLS or pillar, written as JSON, YAML or another format."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace as altered

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import result_of
from saltern.modules.api.declare import state
from saltern.modules.api.params import Ignored
from saltern.modules.api.refused import Refused
from saltern.modules.lib.files.facts import absolute, facts
from saltern.modules.lib.files.serializers import FORMATS, Format
from saltern.modules.lib.files.write import Wanted, place
from saltern.system import files

Mode = str


UNREAD = "deserializer_opts is ignored unless merge_if_exists is True: nothing is read"


@state(name_is="path")
def serialize(
    ctx: Context,
    /,
    name: str,
    *,
    dataset: object = None,
    dataset_pillar: str | None = None,
    user: str | None = None,
    group: str | None = None,
    mode: Mode | None = None,
    backup: str = "",
    makedirs: bool = False,
    dir_mode: Mode | None = None,
    show_changes: bool = True,
    create: bool = True,
    merge_if_exists: bool = False,
    encoding: str | None = None,
    encoding_errors: str = "strict",
    serializer: str | None = None,
    formatter: str | None = None,
    serializer_opts: object = None,
    deserializer_opts: object = None,
    check_cmd: str | None = None,
    tmp_dir: str | None = None,
    tmp_ext: str = "",
    **_: Ignored,
) -> Result:
    """Write data to a file in one of several formats.

    Args:
        name: the absolute path of the file.
        dataset: the data.
        dataset_pillar: the pillar key of the data, instead of ``dataset``.
        serializer, formatter: ``yaml`` (the default), ``json``, ``toml``, ``configparser``,
            ``keyvalue``, ``plist``, ``msgpack``, ``python``.
        serializer_opts, deserializer_opts: options of the format, such as ``indent: 4`` for JSON.
        merge_if_exists: merge the data into the existing data of the file; a file that has all of it already
            is left as it is.
        user, group, mode, backup, makedirs, dir_mode, show_changes, create, encoding,
            encoding_errors, check_cmd, tmp_dir, tmp_ext: as for ``file.managed``.

    Example:
        ```yaml
        /etc/app.json:
          file.serialize:
            - serializer: json
            - dataset:
                port: 8080
                names: [example.org, www.example.org]
        ```
    """
    ctx.facts = {"path": name}
    path = absolute(name)
    if not create and files.look(path, follow=True) is None:
        return result_of(ctx, {}, f"{path} does not exist, and create is False", facts(ctx, path, None))
    kind = serializer or formatter or "yaml"
    form = FORMATS.get(kind.lower())
    if form is None:
        raise Refused(f"no serializer is called {kind!r}; use one of {', '.join(FORMATS)}")
    data = _dataset(ctx, dataset, dataset_pillar)
    old = files.read(path) if merge_if_exists else None
    content = None
    if old and old.strip():
        existing = _existing_data(path, old, form, _options(deserializer_opts), encoding or "utf-8")
        data = merge(existing, data)
        content = old if data == existing else None
    if content is None:
        usual: dict[str, object] = {"allow_unicode": True} if encoding and kind.lower() == "yaml" else {}
        content = _serialize(
            kind, form, data, usual | _options(serializer_opts), encoding or "utf-8", encoding_errors
        )
    wanted = Wanted(
        path=path,
        user=user,
        group=group,
        mode=None if mode == "keep" else mode,
        makedirs=makedirs,
        dir_mode=dir_mode,
        backup=backup,
        show_changes=show_changes,
        check_cmd=check_cmd or "",
        tmp_dir=tmp_dir or "",
        tmp_ext=tmp_ext,
    )
    result = place(ctx, wanted, content)
    return altered(result, warnings=(UNREAD,)) if deserializer_opts and not merge_if_exists else result


def _dataset(ctx: Context, dataset: object, pillar: str | None) -> object:
    if dataset is not None and pillar is not None:
        raise Refused("give either dataset or dataset_pillar")
    if dataset is not None:
        return dataset
    if pillar is None:
        raise Refused("give dataset or dataset_pillar")
    missing = object()
    found = ctx.functions["pillar.get"](pillar, missing)
    if found is missing:
        raise Refused(f"Pillar {pillar} does not exist")
    return found


def _options(given: object) -> dict[str, object]:
    """A mapping, or a list of mappings."""
    listed = given if isinstance(given, list) else [given] if given else []
    options: dict[str, object] = {}
    for item in listed:
        if not isinstance(item, Mapping):
            raise Refused(f"serializer options must be {{name: value}}, not {item!r}")
        options |= item
    return options


def _existing_data(path: str, old: bytes, form: Format, options: dict[str, object], encoding: str) -> object:
    """The data that the file holds now."""
    if form.read is None:
        raise Refused("merge_if_exists: this format cannot be read back")
    try:
        return form.read(old.decode(encoding), options)
    except Exception as problem:  # each library has its own family of errors
        raise Refused(f"merge_if_exists: {path} cannot be read: {problem}") from None


def merge(existing: object, new: object) -> object:
    """Merge ``new`` over ``existing``, key by key; anything but a mapping is replaced."""
    if not (isinstance(existing, Mapping) and isinstance(new, Mapping)):
        return new
    return dict(existing) | {
        key: merge(existing[key], value) if key in existing else value for key, value in new.items()
    }


def _serialize(
    kind: str, form: Format, data: object, options: dict[str, object], encoding: str, errors: str
) -> bytes:
    try:
        text = form.write(data, options)
    except Refused:
        raise
    except Exception as problem:
        raise Refused(f"the data cannot be written as {kind}: {problem}") from None
    if isinstance(text, bytes):
        return text
    try:
        return (text if text.endswith("\n") else f"{text}\n").encode(encoding, errors)
    except LookupError:
        raise Refused(f"no encoding is called {encoding!r}") from None
