"""Salt's ``gitfs_remotes``: which branch or tag of which repository is part of which environment.

Read from the configuration into ``GitfsRemote``; ``environments`` is pure: a remote and its references give
the roots of each environment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from msgspec import Struct
from msgspec.structs import replace

from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.sources.git.mirror import Refs
from saltern.sources.git.remote import Remote, checked, plain_url

ANY = "__env__"
PER_ENV = ("ref", "root", "mountpoint")
KINDS = {"branch": "refs/heads/", "tag": "refs/tags/"}
_KEYS = frozenset(
    (
        *(
            "name",
            "base",
            "root",
            "mountpoint",
            "saltenv",
            "all_saltenvs",
            "ref_types",
            "disable_saltenv_mapping",
        ),
        *("saltenv_whitelist", "saltenv_blacklist", "fallback", "user", "password", "privkey", "pubkey"),
        *("passphrase", "insecure_auth", "ssl_verify", "proxy", "depth", "update_interval", "refspecs"),
    )
)
# The password is in the environment of git, not on a command line.
HELPER = """!f() { test "$1" = get && printf 'username=%s\npassword=%s\n' \
"$SALTERN_USER" "$SALTERN_PASSWORD"; }; f"""


class GitfsRemote(Struct, frozen=True, kw_only=True):
    """One entry. ``envs`` are settings for single environments: ``ref``, ``root``, ``mountpoint``."""

    remote: Remote
    base: str = "master"
    all_envs: str = ""
    kinds: tuple[str, ...] = ("branch", "tag")
    mapped: bool = True  # branches and tags are environments by themselves
    fallback: str = ""
    envs: Mapping[str, Mapping[str, str]] = {}
    allowed: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


def gitfs_remotes(config: Mapping[str, object]) -> list[GitfsRemote]:
    """The entries of the configuration. Raises ``OperationError`` for what cannot be meant."""
    entries = config.get("gitfs_remotes") or []
    usual = {key.removeprefix("gitfs_"): value for key, value in config.items() if key.startswith("gitfs_")}
    return [_entry(one, usual) for one in (entries if isinstance(entries, list) else [entries])]


def _entry(entry: object, usual: Mapping[str, object]) -> GitfsRemote:
    url, own = entry, None
    if isinstance(entry, Mapping) and len(entry) == 1:
        ((url, own),) = entry.items()
    given = _merged(own)
    unknown = sorted(set(given) - _KEYS)
    if unknown or not isinstance(url, str):
        raise _wrong(
            f"{url}: no setting of a remote is called {', '.join(unknown)}" if unknown else f"{url!r}"
        )
    said = {**{key: value for key, value in usual.items() if key in _KEYS}, **given}
    remote = Remote(
        url=plain_url(url),
        folder=str(said.get("root") or "").strip("/"),
        mountpoint=_mountpoint(said.get("mountpoint")),
        access=access_of(said),
        secrets=secrets_of(said),
    )
    return GitfsRemote(
        remote=checked(remote),
        base=str(said.get("base") or "master"),
        all_envs=str(said.get("all_saltenvs") or ""),
        kinds=tuple(str(one) for one in _list(said.get("ref_types")) or ("branch", "tag")),
        mapped=not said.get("disable_saltenv_mapping"),
        fallback=str(said.get("fallback") or ""),
        envs={
            env: {key: str(one) for key, one in words.items()} for env, words in _envs(said.get("saltenv"))
        },
        allowed=tuple(map(str, _list(said.get("saltenv_whitelist")))),
        refused=tuple(map(str, _list(said.get("saltenv_blacklist")))),
    )


def environments(one: GitfsRemote, refs: Refs, others: Iterable[str]) -> dict[str, Remote]:
    """The root that each environment has of this remote; ``others`` are environments in any case."""
    short = _short_names(refs, one.kinds)
    found: dict[str, Remote] = {}
    if one.mapped and not one.all_envs:
        found |= {("base" if name == one.base else name): replace(one.remote, ref=name) for name in short}
        if one.base != "base" and "base" in short and one.base not in short:
            del found["base"]  # a branch called base is no environment: that one has another branch
    if one.all_envs and one.all_envs in short:
        every = dict.fromkeys(("base", *others, *one.envs, ANY))
        found |= dict.fromkeys(every, replace(one.remote, ref=one.all_envs))
    for env, words in one.envs.items():
        if (ref := words.get("ref", one.base if env == "base" else env)) in short:
            found[env] = _special(one.remote, ref, words)
    if one.fallback and one.fallback in short:
        found.setdefault(ANY, replace(one.remote, ref=one.fallback))
    return {env: checked(root) for env, root in found.items() if _is_allowed(env, one)}


def wanted_refs(one: GitfsRemote, refs: Refs) -> list[str]:
    """The full names of the references that any environment may need."""
    needed = {
        one.base,
        one.all_envs,
        one.fallback,
        *(words.get("ref", env) for env, words in one.envs.items()),
    }
    return [
        name
        for name in refs.commits
        if any(name.startswith(KINDS[kind]) for kind in one.kinds if kind in KINDS)
        if name.split("/", 2)[2] in needed
        or (one.mapped and not one.all_envs and _is_allowed(name.split("/", 2)[2], one))
    ]


def _short_names(refs: Refs, kinds: Sequence[str]) -> dict[str, None]:
    """Branches win over tags of the same name."""
    prefixes = [KINDS[kind] for kind in ("tag", "branch") if kind in kinds]
    names = [name.split("/", 2)[2] for prefix in prefixes for name in refs.commits if name.startswith(prefix)]
    return dict.fromkeys(names)


def _special(remote: Remote, ref: str, words: Mapping[str, str]) -> Remote:
    folder = words["root"].strip("/") if "root" in words else remote.folder
    mount = _mountpoint(words["mountpoint"]) if "mountpoint" in words else remote.mountpoint
    return replace(remote, ref=ref, folder=folder, mountpoint=mount)


def _is_allowed(env: str, one: GitfsRemote) -> bool:
    listed = not one.allowed or any(fnmatchcase(env, pattern) for pattern in one.allowed)
    return env == ANY or (listed and not any(fnmatchcase(env, pattern) for pattern in one.refused))


def _mountpoint(value: object) -> str:
    return str(value or "").removeprefix("salt://").strip("/")


def access_of(said: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Options of git, for what the configuration says beside git's own."""
    found: list[tuple[str, str]] = []
    if said.get("user") and said.get("password"):
        found += [("credential.helper", ""), ("credential.helper", HELPER)]
    if said.get("ssl_verify") is False:
        found.append(("http.sslVerify", "false"))
    if said.get("proxy"):
        found.append(("http.proxy", str(said["proxy"])))
    if said.get("privkey"):
        from shlex import quote

        key = quote(str(said["privkey"]))
        found.append(("core.sshCommand", f"ssh -oBatchMode=yes -oIdentitiesOnly=yes -i {key}"))
    return tuple(found)


def secrets_of(said: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    if not (said.get("user") and said.get("password")):
        return ()
    from saltern.language import secrets

    secrets.add(said["password"])
    return (("SALTERN_USER", str(said["user"])), ("SALTERN_PASSWORD", str(said["password"])))


def _envs(value: object) -> list[tuple[str, dict[str, object]]]:
    """``saltenv``: a list of ``{env: [{ref: x}, …]}``, or one mapping."""
    pairs = [pair for one in _list(value) if isinstance(one, Mapping) for pair in one.items()]
    return [
        (str(env), {key: one for key, one in _merged(words).items() if key in PER_ENV})
        for env, words in pairs
    ]


def _merged(value: object) -> dict[str, object]:
    """A mapping, or a list of mappings, as Salt has them."""
    if isinstance(value, Mapping):
        return {str(key): inner for key, inner in value.items()}
    return {
        key: inner for one in _list(value) for key, inner in _merged(one).items() if isinstance(one, Mapping)
    }


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _wrong(what: str) -> OperationError:
    fix = "see the guide on git sources for the settings of a remote"
    return OperationError(Diagnostic(code="git-address", what=f"gitfs_remotes: {what}", fix=fix))
