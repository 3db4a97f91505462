"""Salt's ``gitfs_remotes``, read from the configuration: every setting that Salt documents has a row."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from saltern.language.diagnostics import Diagnostic, OperationError, did_you_mean
from saltern.language.mask import mask
from saltern.sources.git.access import access_of, secrets_of
from saltern.sources.git.places import Option, Place, located_at, nowhere
from saltern.sources.git.refspecs import Pairs, read_refspecs
from saltern.sources.git.remote import Remote, check_remote, plain_url

PER_ENV = ("ref", "root", "mountpoint")
KINDS = {"branch": "refs/heads/", "tag": "refs/tags/", "sha": ""}
SETTINGS: Mapping[str, str] = {
    "all_saltenvs": "the branch or tag that all environments use",
    "base": "the branch, tag or commit for the environment `base`",
    "depth": "no effect: one commit of each branch is fetched in any case",
    "disable_saltenv_mapping": "only `base` and those in `saltenv` are environments",
    "fallback": "the branch or tag for environments without one in this remote",
    "insecure_auth": "allow `user` and `password` to be sent over http://",
    "mountpoint": "the directory below `salt://` in which its files appear",
    "name": "no effect: saltern names its caches itself",
    "passphrase": "refused: nothing can enter it",
    "password": "with `user`, for https://",
    "privkey": "the key for ssh://",
    "proxy": "for http:// and https://",
    "pubkey": "no effect: ssh finds it by `privkey`",
    "ref_types": "which of `branch`, `tag` and `sha` are searched for",
    "refspecs": "which references of the remote are its branches and tags",
    "root": "the directory of the repository that is the root",
    "saltenv": "`ref`, `root` and `mountpoint` of single environments",
    "saltenv_blacklist": "environments that do not use this remote; patterns or regular expressions",
    "saltenv_whitelist": "the only environments that use this remote",
    "ssl_verify": "false: certificates are not verified",
    "update_interval": "seconds until the remote is contacted again",
    "user": "with `password`, for https://",
}


class GitfsRemote(Struct, frozen=True, kw_only=True):
    """One entry. ``envs`` are settings for single environments: ``ref``, ``root``, ``mountpoint``."""

    remote: Remote
    base: str = "master"
    all_envs: str = ""
    kinds: tuple[str, ...] = tuple(KINDS)
    mapped: bool = True  # branches and tags are environments, too
    fallback: str = ""
    envs: Mapping[str, Mapping[str, str]] = {}
    allowed: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    interval: float | None = None


def gitfs_remotes(config: Mapping[str, object], place: Place = nowhere) -> list[GitfsRemote]:
    """The entries of the configuration. Raises ``OperationError`` for an invalid one."""
    entries = config.get("gitfs_remotes") or []
    usual = {key.removeprefix("gitfs_"): value for key, value in config.items() if key.startswith("gitfs_")}
    found = []
    for index, one in enumerate(entries if isinstance(entries, list) else [entries]):
        option: Option = ("gitfs_remotes", index)
        with located_at(place, option, ""):
            found.append(_entry(one, usual, option))
    return found


def _entry(entry: object, usual: Mapping[str, object], option: Option) -> GitfsRemote:
    url, own = entry, None
    if isinstance(entry, Mapping) and len(entry) == 1:
        ((url, own),) = entry.items()
    if not isinstance(url, str):
        raise invalid(f"{url!r} is neither an address nor an address with settings below it")
    given = as_mapping(own)
    check_settings(url, given, SETTINGS)
    said = {key: value for key, value in usual.items() if key in SETTINGS} | given
    envs = _both(_envs(usual.get("saltenv"), url), _envs(given.get("saltenv"), url))
    return GitfsRemote(
        remote=replace(make_remote(url, said), option=option, written=url),
        base=envs.get("base", {}).get("ref") or str(said.get("base") or "master"),
        all_envs=str(said.get("all_saltenvs") or ""),
        kinds=_kinds(url, said.get("ref_types")),
        mapped=not said.get("disable_saltenv_mapping"),
        fallback=str(said.get("fallback") or ""),
        envs=envs,
        allowed=tuple(map(str, as_list(said.get("saltenv_whitelist")))),
        refused=tuple(map(str, as_list(said.get("saltenv_blacklist")))),
        interval=interval_of(url, said),
    )


def make_remote(url: str, said: Mapping[str, object], ref: str = "") -> Remote:
    """Make the remote that the settings of ``gitfs_remotes`` or of the pillar ``git`` describe."""
    address = plain_url(url)
    return check_remote(
        Remote(
            url=address,
            ref=ref,
            folder=str(said.get("root") or "").strip("/"),
            mountpoint=mountpoint(said.get("mountpoint")),
            access=access_of(said, address),
            secrets=secrets_of(said),
            refspecs=_refspecs(url, said.get("refspecs")),
        )
    )


def check_settings(url: str, given: Mapping[str, object], known: Mapping[str, str]) -> None:
    """Raise ``OperationError`` for an unknown setting."""
    unknown = sorted(set(given) - set(known))
    if unknown:
        hint = did_you_mean(unknown[0], known)
        names = ", ".join(map(repr, unknown))
        raise invalid(
            f"{mask(url)}: no setting of a remote is called {names}" + (f"; {hint}" if hint else "")
        )


def interval_of(url: str, said: Mapping[str, object]) -> float | None:
    given = said.get("update_interval")
    if given is not None and (isinstance(given, bool) or not isinstance(given, int | float) or given < 0):
        raise invalid(f"{mask(url)}: update_interval needs a number of seconds")
    return None if given is None else float(given)


def mountpoint(value: object) -> str:
    return str(value or "").removeprefix("salt://").strip("/")


def _kinds(url: str, given: object) -> tuple[str, ...]:
    kinds = tuple(str(one).lower() for one in as_list(given)) or tuple(KINDS)
    if unknown := [one for one in kinds if one not in KINDS]:
        raise invalid(f"{mask(url)}: ref_types can be {', '.join(KINDS)}, not {', '.join(unknown)}")
    return kinds


def _refspecs(url: str, given: object) -> Pairs:
    try:
        return read_refspecs(as_list(given))
    except ValueError as problem:
        what = f"the refspec {str(problem)!r} leads neither to refs/remotes/origin/… nor to refs/tags/…"
        raise invalid(f"{mask(url)}: {what}") from None


Envs = dict[str, dict[str, str]]


def _envs(value: object, url: str) -> Envs:
    """``saltenv``: a list of ``{env: [{ref: x}, …]}``, or one mapping."""
    found: Envs = {}
    for env, words in as_mapping(value).items():
        given = as_mapping(words)
        check_settings(f"{url}: saltenv {env}", given, dict.fromkeys(PER_ENV, ""))
        found[env] = {key: str(one) for key, one in given.items()}
    return found


def _both(usual: Envs, own: Envs) -> Envs:
    return {env: usual.get(env, {}) | own.get(env, {}) for env in dict.fromkeys((*usual, *own))}


def as_mapping(value: object) -> dict[str, object]:
    """One mapping, from a mapping or a list of mappings, as Salt accepts them."""
    if isinstance(value, Mapping):
        return {str(key): inner for key, inner in value.items()}
    return {
        key: inner
        for one in as_list(value)
        if isinstance(one, Mapping)
        for key, inner in as_mapping(one).items()
    }


def as_list(value: object) -> list[object]:
    """A list, from a list, a single value, or a text with commas."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return list(value) if isinstance(value, list | tuple) else [] if value is None else [value]


def invalid(what: str) -> OperationError:
    fix = "see the guide on git sources for the settings of a remote"
    return OperationError(Diagnostic(code="git-address", what=f"gitfs_remotes: {what}", fix=fix))
