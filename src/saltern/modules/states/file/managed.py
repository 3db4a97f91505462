"""``file.managed``: a file with its content, mode and owner."""

from __future__ import annotations

from msgspec.structs import replace as altered

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import result_of
from saltern.modules.api.declare import state
from saltern.modules.api.params import Variables
from saltern.modules.api.refused import Refused
from saltern.modules.lib.files import sources
from saltern.modules.lib.files.content import (
    Given,
    Template,
    given_bytes,
    render,
    render_source,
    template_of,
)
from saltern.modules.lib.files.facts import absolute, facts
from saltern.modules.lib.files.own_source import refuse_own_source, right_already
from saltern.modules.lib.files.signatures import read_signing
from saltern.modules.lib.files.write import Same, Wanted, place
from saltern.system import files

Mode = str
PLAIN = Template()


@state(name_is="path", from_file=True)
def managed(
    ctx: Context,
    /,
    name: str,
    *,
    source: str | list[str] | None = None,
    source_hash: str = "",
    source_hash_name: str | None = None,
    keep_source: bool = True,
    user: str | None = None,
    group: str | None = None,
    mode: Mode | None = None,
    template: str | None = None,
    makedirs: bool = False,
    dir_mode: Mode | None = None,
    context: object = None,
    replace: bool = True,
    defaults: object = None,
    backup: str = "",
    show_changes: bool = True,
    create: bool = True,
    contents: object = None,
    tmp_dir: str | None = None,
    tmp_ext: str = "",
    contents_pillar: object = None,
    contents_grains: object = None,
    contents_newline: bool = True,
    contents_delimiter: str = ":",
    encoding: str | None = None,
    encoding_errors: str = "strict",
    allow_empty: bool = True,
    follow_symlinks: bool = True,
    check_cmd: str | None = None,
    skip_verify: bool = False,
    verify_ssl: bool = True,
    use_etag: bool = False,
    signature: object = None,
    source_hash_sig: object = None,
    signed_by_any: object = None,
    signed_by_all: object = None,
    keyring: object = None,
    gnupghome: object = None,
    sig_backend: str = "gpg",
    ignore_ordering: bool = False,
    ignore_whitespace: bool = False,
    ignore_comment_characters: str | list[str] | None = None,
    new_file_diff: bool = False,
    owner: str | None = None,
    **variables: Variables,
) -> Result:
    """Manage a file: its content, mode and owner.

    The content comes from ``source``, or from ``contents`` and similar arguments, or stays unchanged if
    neither is given. The file is replaced atomically; a mode or owner that is not given
    stays as it was.

    Args:
        name: the absolute path of the file.
        source: ``salt://`` (``?saltenv=…`` allowed), an absolute path, ``http(s)://``, ``ftp://``
            or ``file://``; of a list, the first that exists. An item may be ``{url: hash}``.
        source_hash: ``sha256=…`` or bare digits, or the location of a file of checksums. Needed
            for sources from the web, checked for all.
        source_hash_name: the name to look for in a file of checksums.
        keep_source: keep the download in the cache.
        user, group: the owner, by name or number.
        owner: an alias of ``user``, as on other systems.
        mode: such as ``0644``; ``keep`` uses the mode of the source.
        template: render the content with this engine (``jinja``, ``mako`` …).
        makedirs: create missing parent directories.
        dir_mode: the mode of created directories; if not given, those who may read the file may enter them.
        context: variables for the template.
        **variables: with ``template`` and ``source``, further arguments are variables for the template,
            as in Salt; ``defaults`` and ``context`` override them.
        replace: False writes the content only into a new file.
        defaults: variables for the template that ``context`` overrides.
        backup: ``minion`` keeps the old file under ``file_backup`` in the cache; a suffix such as
            ``.bak`` keeps it beside the new one.
        show_changes: False leaves the difference out of the result.
        create: False does nothing if the file does not exist.
        contents: a text, or a list of lines.
        contents_pillar, contents_grains: the key of the content in pillar or grains.
        contents_newline: end the content with a newline.
        contents_delimiter: the separator of the parts of these keys.
        encoding, encoding_errors: how the text is encoded.
        allow_empty: False fails rather than write an empty file.
        follow_symlinks: False replaces a link with a file; True writes to the target of the link.
        check_cmd: a command that is run with the path of the new file before it replaces the old
            one; if it fails, nothing is changed.
        tmp_dir, tmp_ext: the directory and the suffix of that new file, for commands that need them.
        skip_verify: accept a source from the web without a hash.
        verify_ssl: False accepts any certificate.
        ignore_ordering, ignore_whitespace, ignore_comment_characters: ignore differences in the order
            of lines, in white space around lines, or in lines that start with these characters.
        new_file_diff: show the content of a new file as a difference.
        signature: the location of a file with a signature of the source, or True if the source contains it;
            nothing is changed unless it is valid and made by a key that ``gpg`` knows here.
        source_hash_sig: the same for the file of checksums that ``source_hash`` names.
        signed_by_any, signed_by_all: fingerprints of keys, of which one, or each, must have signed.
        keyring, gnupghome: where ``gpg`` finds the keys.
        sig_backend: ``gpg``, or ``asymmetric``, with which the signers are public keys in PEM form.
        use_etag: compare the cached copy with the server by its ETag; no hash is needed then.

    Example:
        ```yaml
        /etc/nginx/conf.d/site.conf:
          file.managed:
            - source: salt://web/site.conf.jinja
            - template: jinja
            - context:
                port: {{ pillar['web']['port'] }}
            - user: root
            - group: root
            - mode: '0644'
            - makedirs: true
        ```
    """
    ctx.facts = {"path": name}
    wanted = Wanted(
        path=absolute(name),
        user=user or owner,
        group=group,
        mode=mode,
        makedirs=makedirs,
        dir_mode=dir_mode,
        backup=backup,
        show_changes=show_changes,
        new_file_diff=new_file_diff,
        follow=follow_symlinks,
        check_cmd=check_cmd or "",
        tmp_dir=tmp_dir or "",
        tmp_ext=tmp_ext,
    )
    if not create and files.look(wanted.path, follow=True) is None:
        return result_of(
            ctx, {}, f"{wanted.path} does not exist, and create is False", facts(ctx, wanted.path, None)
        )
    plain = not (template or encoding or context or defaults)
    more = variables if source else {}  # Salt passes them only to templates from sources
    how = PLAIN if plain else template_of(template, context, defaults, encoding, encoding_errors, more)
    given = Given(
        contents=contents,
        pillar=contents_pillar,
        grains=contents_grains,
        delimiter=contents_delimiter,
        newline=contents_newline,
        allow_empty=allow_empty,
    )
    fetch = sources.Fetch(
        source_hash=source_hash or "",
        source_hash_name=source_hash_name or "",
        skip_verify=skip_verify,
        keep_source=keep_source,
        verify_ssl=verify_ssl,
        use_etag=use_etag,
        signing=read_signing(
            signature, source_hash_sig, signed_by_any, signed_by_all, keyring, gnupghome, sig_backend
        ),
    )
    same = _sameness(ignore_ordering, ignore_whitespace, ignore_comment_characters)
    return _manage(ctx, wanted, source, fetch, given, how, replace, same)


def _manage(
    ctx: Context,
    wanted: Wanted,
    source: object,
    fetch: sources.Fetch,
    given: Given,
    template: Template,
    replace: bool,
    same: Same | None,
) -> Result:
    if fetch.signing and not source:
        raise Refused("only the signature of a source can be checked; give source")
    if source and given.named:
        raise Refused(f"source and {given.named[0]} cannot be combined")
    if given.named and wanted.mode == "keep":
        raise Refused(f"{given.named[0]} has no mode to keep; give an octal mode")
    if not replace and files.look(wanted.path, follow=wanted.follow) is not None:
        return place(ctx, _without_keep(wanted, None), None)
    if source and (here := right_already(ctx, wanted.path, source, fetch, template)) is not None:
        content: bytes | None = here
        wanted = _without_keep(wanted, None)
    elif source:
        found = _find_source(ctx, source, fetch)
        refuse_own_source(ctx, wanted.path, found, template)
        content = render_source(ctx, wanted.path, found, template, wanted.names)
        wanted = _without_keep(wanted, found.mode)
    else:
        content = given_bytes(ctx, given)
        wanted = _without_keep(wanted, None)
        if content is not None:
            content = render(ctx, wanted.path, content, template)
    return place(ctx, wanted, content, same)


def _find_source(ctx: Context, source: object, fetch: sources.Fetch) -> sources.Source:
    try:
        return sources.find(ctx, source, fetch)
    except Refused as refusal:
        raise Refused(f"Unable to manage file: {refusal}") from None


def _without_keep(wanted: Wanted, mode: int | None) -> Wanted:
    """The attributes without ``mode: keep``, which means nothing without a source."""
    if wanted.mode != "keep":
        return wanted
    return altered(wanted, mode=None if mode is None else f"{mode:04o}")


def _sameness(ordering: bool, whitespace: bool, comments: str | list[str] | None) -> Same | None:
    if not (ordering or whitespace or comments):
        return None
    marks = tuple([comments] if isinstance(comments, str) else comments or ())

    def essence(content: bytes) -> list[str]:
        text = content.decode("utf-8", "surrogateescape")
        lines = text.splitlines(keepends=ordering and not marks)  # a missing end of the last line counts
        if whitespace:
            lines = [line.strip() for line in lines if line.strip()]
        if marks:
            lines = [line for line in lines if not line.lstrip().startswith(marks)]
        return sorted(lines) if ordering else lines

    return lambda old, new: essence(old) == essence(new)
