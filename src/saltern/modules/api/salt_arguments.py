"""Arguments of Salt that have no effect here, and mistyped ones that are refused; one row per argument.

``tools/arguments.py`` compares these tables with Salt's signatures, and the reference pages show them.
"""

from __future__ import annotations

from collections.abc import Mapping

from saltern.modules.api.salt_unsupported import NO_EFFECT, UNSAFE_TO_IGNORE, UNSUPPORTED

__all__ = [
    "ALSO_READ",
    "DECISIVE",
    "FURTHER",
    "MEANT",
    "NO_EFFECT",
    "REFUSED",
    "TAKES_ARGUMENTS_OF",
    "UNSAFE_TO_IGNORE",
    "UNSUPPORTED",
]

CLOSE = 0.8
NOTHING_ASKED: tuple[object, ...] = (None, False, "", [], {})  # values that request nothing

_GUARDS = (("unless",), ("onlyif",), ("creates",))
_COMMAND = (("runas",), ("cwd",), *_GUARDS)
_CONTENT = ("source", "contents", "contents_pillar", "contents_grains")

# Arguments that decide what is done, of functions that accept others: mistyping one fails the state. In a
# row with several tuples, one given argument of a tuple is enough.
DECISIVE: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "cmd.call": _GUARDS,
    "cmd.run": (*_COMMAND, ("root",)),
    "cmd.script": (("source",), *_COMMAND),
    "cmd.wait": (*_COMMAND, ("root",)),
    "cmd.wait_script": (("source",), *_COMMAND),
    "file.managed": (_CONTENT, ("source_hash",), ("replace",), ("create",)),
    "file.tidied": tuple((one,) for one in ("age", "exclude", "full_path_match", "matches", "size")),
    "mysql_grants.absent": (("host",), ("escape",)),
    "mysql_grants.present": (("host",), ("escape",), ("grant_option",)),
    "mysql_user.absent": (("host",),),
    "mysql_user.present": (("host",), ("password",), ("password_hash",), ("allow_passwordless",)),
    "pkg.downloaded": (("pkgs",), ("version",)),
    "pkg.installed": (("pkgs", "sources"), ("version",)),
    "pkg.latest": (("pkgs",),),
    "pkg.purged": (("pkgs",), ("version",)),
    "pkg.removed": (("pkgs",), ("version",)),
}
# Mistyped arguments that Salt itself refuses.
REFUSED: Mapping[str, Mapping[str, str]] = {
    "service.dead": {"enabled": "enable"},
    "service.running": {"enabled": "enable"},
}

# Hints for names that are similar to nothing, or to the wrong argument.
MEANT: Mapping[str, Mapping[str, str]] = {
    "cmd.run": {"user": "did you mean 'runas'?", "args": "put them in the command"},
    "cmd.script": {"user": "did you mean 'runas'?"},
    "file.managed": {
        "data": "did you mean 'contents'?",
        "show_diff": "did you mean 'show_changes'?",
        "text": "did you mean 'contents'?",
    },
    "pkg.installed": {"packages": "did you mean 'pkgs'?"},
}

# Arguments that are keywords of Python, which a signature cannot have: they are among the further ones.
ALSO_READ: Mapping[str, tuple[str, ...]] = {
    "git.config_set": ("global",),
    "git.config_unset": ("global",),
}

# Names with their own use that are similar to an argument, of functions that take any.
_OF_NAMES = ("serialNumber", "SERIALNUMBER", "algorithm")
FURTHER: Mapping[str, tuple[str, ...]] = {
    "network.managed": ("addr", "hwaddress", "ipv6ipaddr", "ipv6ipaddrs", "iface_type", "macaddr"),
    "pkgrepo.managed": ("gpgcakey", "localpkg_gpgcheck", "pkg_gpgcheck", "repo_gpgcheck"),
    "x509.certificate_managed": _OF_NAMES,
    "x509.csr_managed": _OF_NAMES,
}

# Functions that accept the arguments of another one: those that keep them until a watched state changes, and
# those that remove things, since trees switch between ``installed`` and ``removed`` by one word.
_FILES = ("file.managed", "file.directory", "file.recurse", "file.symlink", "file.serialize")
TAKES_ARGUMENTS_OF: Mapping[str, tuple[str, ...]] = {
    "cmd.wait": ("cmd.run",),
    "cmd.wait_call": ("cmd.call",),
    "cmd.wait_script": ("cmd.script",),
    "cron.absent": ("cron.present",),
    "file.absent": _FILES,
    "file.missing": _FILES,
    "mount.unmounted": ("mount.mounted",),
    "pip.removed": ("pip.installed",),
    "pkg.purged": ("pkg.installed", "pkg.latest"),
    "pkg.removed": ("pkg.installed", "pkg.latest"),
    "schedule.absent": ("schedule.present",),
    "schedule.disabled": ("schedule.present",),
    "schedule.enabled": ("schedule.present",),
    "service.dead": ("service.running",),
    "service.disabled": ("service.running",),
    "service.enabled": ("service.running",),
}


def effect_of_ignoring(key: str, name: str) -> str | None:
    """The effect of ignoring an argument of Salt, maybe empty; None if there is no such argument."""
    if name in NO_EFFECT.get(key, ()) or name in UNSAFE_TO_IGNORE.get(key, ()):
        return ""
    return UNSUPPORTED.get(key, {}).get(name)


def harm_of_ignoring(key: str, name: str, value: object) -> str:
    """The unrequested change if an argument of Salt were ignored; empty if there is none."""
    return "" if value in NOTHING_ASKED else UNSAFE_TO_IGNORE.get(key, {}).get(name, "")


def decisive_slip(key: str, name: str, given: Mapping[str, object]) -> str:
    """The argument that ``name`` is a mistyping of, if the state would act differently without it."""
    from difflib import get_close_matches

    if meant := REFUSED.get(key, {}).get(name):
        return meant
    for group in DECISIVE.get(key, ()):
        if not any(word in given for word in group) and (
            near := get_close_matches(name, group, n=1, cutoff=CLOSE)
        ):
            return near[0]
    return ""
