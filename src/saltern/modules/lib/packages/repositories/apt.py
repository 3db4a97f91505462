"""Repositories of apt: ``sources.list``, the files beside it, and signing keys."""

from __future__ import annotations

import os

from msgspec.structs import replace

from saltern.modules.api.context import Context
from saltern.modules.api.params import TRUE_WORDS, BadArgument
from saltern.modules.api.programs import PLAIN_UTF8
from saltern.modules.lib.addresses import is_web
from saltern.modules.lib.packages.apt import Apt
from saltern.modules.lib.packages.model import PackageError
from saltern.modules.lib.packages.repositories import keys, lines
from saltern.modules.lib.packages.repositories.lines import Entry
from saltern.modules.lib.packages.repositories.model import DesiredRepository, RepositoryPlan
from saltern.modules.lib.packages.tool import why
from saltern.system import files
from saltern.system.process import NOT_FOUND

KEY_MODE = 0o644
SERVER = "keyserver.ubuntu.com"
SHOWN = ("comps", "architectures", "options", "disabled", "line")


def present(ctx: Context, want: DesiredRepository) -> RepositoryPlan:
    """Add or change the entry."""
    if want.ppa:
        return _ppa(ctx, want.ppa)
    etc = Apt(ctx.host, ctx.clock).place("Dir::Etc")
    entry = _entry(want)
    path = _file(ctx, etc, want, entry)
    text = ctx.host.read(path) or ""
    base = "" if want.clean_file else text
    found = lines.find_entry(list(lines.parse(text, path)), entry)
    new = base if found == entry and not want.clean_file else lines.with_entry(base, path, entry, found)
    changes = _entry_changes(want, entry, found)
    if want.clean_file and new != text and not changes:
        changes = {"file": {"old": text.splitlines(), "new": new.splitlines()}}
    key_path, key = _key(ctx, etc, want, entry, path)
    if key is not None:
        changes["key"] = {"old": None, "new": key_path}

    def act() -> None:
        if key is not None:
            ctx.host.makedirs(os.path.dirname(key_path))
            ctx.host.write(key_path, key, mode=KEY_MODE)
        if new != text:
            ctx.host.makedirs(os.path.dirname(path))
            files.write(path, new.encode(), files.Attributes(mode=None if text else 0o644))

    data: dict[str, object] = {"file": path, **_entry_facts(entry)}
    return RepositoryPlan(changes=changes, act=act, data=data)


def absent(ctx: Context, want: DesiredRepository) -> RepositoryPlan:
    """Remove the entry from every file that has it; files that become empty are removed, too."""
    etc = Apt(ctx.host, ctx.clock).place("Dir::Etc")
    entry = _ppa_entry(ctx, want.ppa) if want.ppa else lines.parse_line(want.name)
    if entry is None:
        raise BadArgument(f"{want.name!r} is not a repository of apt; write it as 'deb uri distribution'")
    places = [want.file] if want.file else sources(etc)
    rewritten: dict[str, str] = {}
    for path in places:
        text = ctx.host.read(path) or ""
        if any(one.key == entry.key for one in lines.parse(text, path)):
            rewritten[path] = lines.without_entry(text, path, entry)

    def act() -> None:
        for path, text in rewritten.items():
            if not text.strip() and "sources.list.d" in path:
                ctx.host.remove(path)
            else:
                ctx.host.write(path, text)

    changes: dict[str, object] = {"repo": want.name} if rewritten else {}
    return RepositoryPlan(changes=changes, act=act, data=_entry_facts(entry))


def sources(etc: str) -> list[str]:
    """All files of repositories that apt reads."""
    parts = os.path.join(etc, "sources.list.d")
    names = sorted(os.listdir(parts)) if os.path.isdir(parts) else []
    listed = [os.path.join(parts, name) for name in names if name.endswith((".list", ".sources"))]
    main = os.path.join(etc, "sources.list")
    return [path for path in (main, *listed) if os.path.isfile(path)]


def configured_repositories(ctx: Context) -> dict[str, list[tuple[str, Entry]]]:
    """All repositories by URL, each with its file."""
    found: dict[str, list[tuple[str, Entry]]] = {}
    for path in sources(Apt(ctx.host, ctx.clock).place("Dir::Etc")):
        for entry in lines.parse(ctx.host.read(path) or "", path):
            found.setdefault(entry.uri, []).append((path, entry))
    return found


def describe_entry(path: str, entry: Entry) -> dict[str, object]:
    """An entry by Salt's keys, with its file."""
    return {
        "file": path,
        "line": entry.line(),
        **_fields(entry),
        "disabled": entry.disabled,
        "signedby": entry.signed_by,
    }


def _entry(want: DesiredRepository) -> Entry:
    entry = lines.wanted_entry(want.name)
    options = dict(entry.options)
    if want.architectures:
        options["arch"] = want.architectures
    if want.signedby:
        options["signed-by"] = want.signedby
    trusted = want.values.get("trusted", want.values.get("Trusted"))
    if trusted is not None:
        options["trusted"] = "yes" if str(trusted).lower() in TRUE_WORDS else "no"
    return replace(
        entry,
        dist=want.dist or entry.dist,
        comps=want.comps or entry.comps,
        options=tuple(sorted(options.items())),
        disabled=entry.disabled if want.enabled is None else not want.enabled,
    )


def _file(ctx: Context, etc: str, want: DesiredRepository, entry: Entry) -> str:
    """The given file; else the one that has the entry; else the main one, as in Salt."""
    if want.file:
        if not os.path.isabs(want.file):
            raise BadArgument(f"file needs an absolute path, got {want.file!r}")
        if "sources.list.d/" in want.file and not want.file.endswith((".list", ".sources")):
            raise BadArgument(f"apt does not read {want.file}; its name must end in .list or .sources")
        return want.file
    for path in sources(etc):
        if lines.find_entry(list(lines.parse(ctx.host.read(path) or "", path)), entry) is not None:
            return path
    return os.path.join(etc, "sources.list")


def _entry_changes(want: DesiredRepository, entry: Entry, found: Entry | None) -> dict[str, object]:
    if found is None:
        return {"repo": want.name}
    old, new = _entry_facts(found), _entry_facts(entry)
    return {key: {"old": old[key], "new": new[key]} for key in SHOWN if old[key] != new[key]}


def _entry_facts(entry: Entry) -> dict[str, object]:
    return {
        **_fields(entry),
        "options": {key: value for key, value in entry.options if key != "arch"},
        "disabled": entry.disabled,
        "line": entry.line(),
    }


def _fields(entry: Entry) -> dict[str, object]:
    return {
        "type": entry.type,
        "uri": entry.uri,
        "dist": entry.dist,
        "comps": list(entry.comps),
        "architectures": [one for one in dict(entry.options).get("arch", "").split(",") if one],
    }


# -- keys --------------------------------------------------------------------------------------


def _key(
    ctx: Context, etc: str, want: DesiredRepository, entry: Entry, file: str
) -> tuple[str, bytes | None]:
    """The path of the key, and its data if it has to be written."""
    path = entry.signed_by if entry.signed_by.startswith("/") else ""
    path = path or os.path.join(etc, "trusted.gpg.d", os.path.basename(keys.keyring_path(file)))
    if not (want.key_urls or want.key_text or want.keyids):
        return path, None
    old = ctx.host.read_bytes(path)
    if old is not None and _is_as_desired(ctx, want, path):
        return path, None
    new = keys.for_file(_fetch_key(ctx, want), path)
    return path, None if new == old else new


def _is_as_desired(ctx: Context, want: DesiredRepository, path: str) -> bool:
    """True if the key file exists as wanted; a key from the web is not fetched again to compare it."""
    if want.key_text:
        return False
    if want.keyids:
        there = keys.key_ids(ctx, path)
        return all(any(one.endswith(_plain(wanted)) for one in there) for wanted in want.keyids)
    return all(is_web(url) for url in want.key_urls)


def _plain(key_id: str) -> str:
    return key_id.upper().removeprefix("0X")


def _fetch_key(ctx: Context, want: DesiredRepository) -> bytes:
    if want.key_text:
        return keys.check_key(want.key_text.encode(), "key_text")
    if want.key_urls:
        return b"".join(keys.fetch_key(ctx, url) for url in want.key_urls)
    return keys.from_server(ctx, list(want.keyids), want.keyserver or SERVER)


# -- ppa ---------------------------------------------------------------------------------------


def _ppa_entry(ctx: Context, ppa: str) -> Entry:
    owner, slash, name = ppa.removeprefix("ppa:").partition("/")
    if not (owner and slash and name) or owner.startswith("-"):
        raise BadArgument(f"ppa needs owner/name, got {ppa!r}")
    if ctx.grains.get("os") == "Debian":
        raise BadArgument(f"the personal archive {ppa} is for Ubuntu; on Debian write 'deb uri dist comps'")
    uri = f"https://ppa.launchpadcontent.net/{owner}/{name}/ubuntu"
    dist = str(ctx.grains.get("oscodename") or "")
    return Entry(type="deb", uri=uri, dist=dist, comps=("main",))


def _ppa(ctx: Context, ppa: str) -> RepositoryPlan:
    entry = _ppa_entry(ctx, ppa)
    there = any(entry.uri.partition("//")[2] in uri for uri in configured_repositories(ctx))

    named = f"ppa:{ppa.removeprefix('ppa:')}"

    def act() -> None:
        argv = ["add-apt-repository", "--yes", "--no-update", named]
        ran = ctx.host.run(argv, env=PLAIN_UTF8)
        if ran.code == NOT_FOUND:
            raise PackageError(
                f"{named} is added with add-apt-repository; install software-properties-common first"
            )
        if ran.code:
            raise PackageError(f"{named} cannot be added: {why(argv, ran)}")

    return RepositoryPlan(changes={} if there else {"repo": named}, act=act, data=_entry_facts(entry))
