"""``archive.extracted``: unpack an archive into a directory."""

from __future__ import annotations

import os

from saltern.language.mask import mask
from saltern.language.result import Outcome, Result
from saltern.modules.api.commands import words
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words, result_of
from saltern.modules.api.declare import state
from saltern.modules.api.params import Unused
from saltern.modules.api.refused import Refused
from saltern.modules.api.unused_arguments import unused_warnings
from saltern.modules.lib.archives.entries import toplevel
from saltern.modules.lib.archives.formats import Packed, contents, form_of
from saltern.modules.lib.archives.material import digest_of, locate
from saltern.modules.lib.files.facts import absolute
from saltern.modules.lib.files.signatures import read_signing
from saltern.modules.lib.files.sources import Fetch
from saltern.modules.states.archive.job import (
    Job,
    changes_of,
    check_owned_path,
    needs,
    owner_changes,
    set_owners,
    unpack_all,
)

TRIMMED = 100
MEANINGLESS = frozenset({"tar_options", "zip_options", "archive_user", "list_options"})


@state(from_file=True)
def extracted(
    ctx: Context,
    /,
    name: str,
    *,
    source: str | list[str],
    source_hash: str | None = None,
    source_hash_name: str | None = None,
    source_hash_update: bool = False,
    skip_files_list_verify: bool = False,
    skip_verify: bool = False,
    verify_ssl: bool = True,
    password: str | None = None,
    options: object = None,
    force: bool = False,
    overwrite: bool = False,
    clean: bool = False,
    clean_parent: bool = False,
    user: str | None = None,
    group: str | None = None,
    if_missing: str | None = None,
    trim_output: object = False,
    use_cmd_unzip: bool = False,
    extract_perms: bool = True,
    enforce_toplevel: bool = True,
    enforce_ownership_on: str | None = None,
    archive_format: str | None = None,
    keep_source: bool | None = None,
    keep: bool = True,
    use_etag: bool = False,
    signature: object = None,
    source_hash_sig: object = None,
    signed_by_any: object = None,
    signed_by_all: object = None,
    keyring: object = None,
    gnupghome: object = None,
    sig_backend: str = "gpg",
    **rest: Unused,
) -> Result:
    """Unpack an archive, unless all its files exist already.

    An archive that would write outside of the directory (``..``, absolute names, links that lead
    out), that holds devices, or that unpacks to more than ``archive_max_size`` bytes or
    ``archive_max_entries`` entries (both in the configuration) is refused.

    Args:
        name: the directory to unpack into; created if it is missing.
        source: ``salt://``, an absolute path, ``http(s)://`` or ``ftp://``; of a list, the first that exists.
        source_hash: ``sha256=…`` or bare digits, or the location of a file of checksums.
        source_hash_name: the name to look for in a file of checksums.
        source_hash_update: unpack again when the checksum has changed since the last time.
        skip_files_list_verify: with ``source_hash_update``, do not check for missing files.
        skip_verify: accept a source from the web without a hash.
        verify_ssl: False accepts any certificate.
        password: the password of an encrypted zip archive.
        options: options for ``tar`` or ``unzip``; ``--strip-components`` and ``--exclude`` work without
            the program.
        force: replace a file where the archive has a directory, and the other way round.
        overwrite: unpack every time, over existing files.
        clean: first remove the directories and files that have the names of those at the top of the archive.
        clean_parent: first remove everything in the directory.
        user, group: the owner of everything that is unpacked.
        if_missing: do nothing if this path exists.
        trim_output: name only the first 100 files, or that many, in the changes.
        use_cmd_unzip: use the program ``unzip``.
        extract_perms: False ignores the modes in a zip archive.
        enforce_toplevel: False allows an archive with more than one directory, or files, at its top.
        enforce_ownership_on: change the owner only of this path in the directory.
        archive_format: ``tar``, ``zip``, ``rar`` or ``7z``, if the name of the source does not show it.
        keep_source, keep: keep the download in the cache; ``keep_source`` takes precedence.
        use_etag: compare the cached copy with the server by its ETag; no hash is needed then.
        signature: the location of a file with a signature of the archive; nothing is unpacked unless it is
            valid and made by a key that ``gpg`` knows here.
        source_hash_sig: the same for the file of checksums; True if the file contains its signature.
        signed_by_any, signed_by_all: fingerprints of keys, of which one, or each, must have signed.
        keyring, gnupghome: where ``gpg`` finds the keys.
        sig_backend: ``gpg``, or ``asymmetric``, with which the signers are public keys in PEM form.

    Example:
        ```yaml
        /opt:
          archive.extracted:
            - source: http://localhost:8000/tool-1.2.tar.gz
            - source_hash: http://localhost:8000/tool-1.2.tar.gz.sha256
            - if_missing: /opt/tool-1.2
        ```
    """
    ctx.facts = {"path": name}
    if clean and clean_parent:
        raise Refused("give either clean or clean_parent")
    into = absolute(name).rstrip("/") or "/"
    first = source[0] if isinstance(source, list) and source else source
    if if_missing and os.path.lexists(absolute(if_missing)):
        data: dict[str, object] = {"path": into, "source": mask(first), "if_missing": if_missing}
        return Result(outcome=Outcome.OK, comment=f"Path {if_missing} exists", data=data)
    job = Job(
        into=into,
        user=user,
        group=group,
        force=force,
        overwrite=overwrite,
        clean=clean,
        clean_parent=clean_parent,
        enforce_toplevel=enforce_toplevel,
        enforce_ownership_on=enforce_ownership_on,
        trim=_trim(trim_output),
        hash_update=source_hash_update,
        skip_list=source_hash_update and skip_files_list_verify,
    )
    check_owned_path(job)
    fetch = Fetch(
        source_hash=source_hash or "",
        source_hash_name=source_hash_name or "",
        skip_verify=skip_verify,
        keep_source=keep if keep_source is None else keep_source,
        verify_ssl=verify_ssl,
        use_etag=use_etag,
        signing=read_signing(
            signature, source_hash_sig, signed_by_any, signed_by_all, keyring, gnupghome, sig_backend
        ),
    )
    with locate(ctx, source, fetch) as (url, path):
        packed = Packed(
            path=path,
            form=form_of(archive_format, url, path),
            options=tuple(_options(options)),
            password=password,
            by_program=use_cmd_unzip,
            perms=extract_perms,
        )
        return _extract(ctx, job, packed, url, unused_warnings(rest, MEANINGLESS))


def _trim(given: object) -> int:
    if isinstance(given, bool) or given is None:
        return TRIMMED if given else 0
    if isinstance(given, int) or (isinstance(given, str) and given.isdecimal()):
        return int(given)
    raise Refused(f"trim_output needs true, false or a number, got {given!r}")


def _options(given: object) -> list[str]:
    if given is None or given == "":
        return []
    return [str(one) for one in given] if isinstance(given, list) else words(str(given))


def _extract(ctx: Context, job: Job, packed: Packed, url: str, warnings: tuple[str, ...]) -> Result:
    url = mask(url)
    lying, landing = contents(ctx, packed)
    directories, others = toplevel(lying)
    if job.enforce_toplevel and (len(directories) > 1 or others):
        top = ", ".join([*directories, *others][:10])
        raise Refused(
            f"{url} has more than one directory, or files, at its top ({top}), which would all be "
            f"unpacked into {job.into}; set enforce_toplevel: False to allow that"
        )
    data: dict[str, object] = {
        "path": job.into,
        "source": url,
        "format": packed.form,
        "entries": len(landing),
        "size": sum(entry.size for entry in landing),
        "toplevel": [*directories, *others],
    }
    digest = digest_of(packed.path) if job.hash_update else ""
    todo = needs(ctx, job, landing, digest)
    changes = changes_of(ctx, job, landing) if todo else owner_changes(ctx, job, landing)
    if changes and not ctx.test:
        if todo:
            unpack_all(ctx, job, packed, landing, digest)
        set_owners(ctx, job, landing)
    return result_of(
        ctx,
        changes,
        Words(
            f"All files in archive are already present in {job.into}",
            f"{url} would be extracted to {job.into}" if todo else f"{job.into} would get new owners",
            f"{url} extracted to {job.into}" if todo else f"Updated the owners in {job.into}",
        ),
        data,
        warnings,
    )
