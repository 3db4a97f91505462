"""Random cases for files of settings, and what two such files mean."""

from __future__ import annotations

from collections.abc import Callable

from tests.compat.chance import Case, Chance, Maker
from tests.compat.network_cases import NETWORK_FILES
from tests.compat.schedule_cases import FILE, jobs

INI = ("a = 1", "b=2", "# remark", "; other", "", "key with space = v")
ROTATE = ("weekly", "rotate 4", "create", "#compress", "/var/log/x {\n    daily\n    rotate 2\n}")


def ini_text(chance: Chance) -> dict[str, str]:
    text = f"[one]\ny = 1\n{chance.distinct(INI, 5)}"
    if chance.random() < 0.6:
        text += f"[two]\ny = 1\n{chance.distinct(INI, 5)}"
    return {"a": text} if chance.random() < 0.9 else {}


def ini_options_present(chance: Chance) -> Case:
    values = ("1", "2", 3, True, "x y")
    sections = {
        name: {key: chance.choice(values) for key in chance.sample("abcd", chance.randrange(1, 3))}
        for name in chance.sample(("one", "two", "new"), chance.randrange(1, 3))
    }
    args = {"sections": sections} | chance.some(strict=(True, False), no_spaces=(True,))
    return {"args": args, "files": ini_text(chance)}


def ini_options_absent(chance: Chance) -> Case:
    sections = {name: list(chance.sample("abcd", 2)) for name in chance.sample(("one", "two", "new"), 2)}
    return {"args": {"sections": sections}, "files": ini_text(chance)}


def ini_sections_present(chance: Chance) -> Case:
    sections: Case = {name: {} for name in chance.sample(("one", "two", "new"), 2)}
    return {"args": {"sections": sections}, "files": ini_text(chance)}


def ini_sections_absent(chance: Chance) -> Case:
    sections = chance.sample(("one", "two", "new"), chance.randrange(1, 3))
    return {"args": {"sections": sections}, "files": ini_text(chance)}


def logrotate_set(chance: Chance) -> Case:
    choices = (
        {"key": "rotate", "value": chance.choice(("4", "9"))},
        {"key": "/var/log/x", "value": "rotate", "setting": chance.choice(("2", "7"))},
        {"key": "/var/log/x", "value": "compress", "setting": True},
        {"key": "/var/log/new", "value": "rotate", "setting": "3"},
        {"key": "weekly", "value": chance.choice((True, False))},
        {"key": "dateext", "value": True},
    )
    args = {"conf_file": "WORK/a"} | chance.choice(choices)
    return {"name": "x", "args": args, "files": {"a": chance.distinct(ROTATE, 4) + "create\n"}}


def locale_system(chance: Chance) -> Case:
    files = {"/etc/default/locale": chance.choice(("LANG=C.UTF-8\n", "LANG=en_US.UTF-8\nLC_ALL=C\n"))}
    return {"name": chance.choice(("C.UTF-8", "en_US.UTF-8", "de_DE.UTF-8", "C")), "args": {}, "files": files}


def timezone_system(chance: Chance) -> Case:
    zone = chance.choice(("Europe/Berlin", "UTC", "Etc/UTC", "America/New_York"))
    return {"name": zone, "args": {}, "files": {}}


def kmod_present(chance: Chance) -> Case:
    args = chance.some(persist=(True,), mods=(["zz_a", "zz_b"], ["zz_a"]))
    files = {"/etc/modules": chance.choice(("", "zz_a\n", "# zz_a\nzz_b\n"))}
    return {"name": "zz_a", "args": args, "files": files, "only": "test"}


SETTINGS: dict[str, Maker] = {
    "ini.options_present": ini_options_present,
    "ini.options_absent": ini_options_absent,
    "ini.sections_present": ini_sections_present,
    "ini.sections_absent": ini_sections_absent,
    "logrotate.set": logrotate_set,
    "locale.system": locale_system,
    "timezone.system": timezone_system,
    "kmod.present": kmod_present,
}


def hosts(text: str) -> str:
    """The names of each address, whichever lines they are in."""
    names: dict[str, set[str]] = {}
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if words[1:]:
            names.setdefault(words[0], set()).update(words[1:])
    return str(sorted((ip, sorted(words)) for ip, words in names.items()))


def table(text: str) -> str:
    """The lines without the head that crontab writes, and without Salt's mark where nothing follows it."""
    head = ("# DO NOT EDIT", "# (/", "# (- ", "# (Cron version")
    lines = [line for line in text.splitlines() if not line.startswith(head)]
    if lines and lines[-1].startswith("# Lines below here are managed"):
        lines.pop()
    return "\n".join(lines)


def words(text: str) -> str:
    """The lines that say something, without quotes and without space around their words."""
    lines = (" ".join(line.replace('"', "").replace("=", " = ").split()) for line in text.splitlines())
    return "\n".join(filter(None, lines))


def ini(text: str) -> str:
    """The lines of each section, in any order."""
    parts = (sorted(words(part).splitlines()) for part in f"\n{text}".split("\n["))
    return str(sorted(part for part in parts if part))


def rotation(text: str) -> str:
    """As above, in any order."""
    return "\n".join(sorted(words(text).splitlines()))


LOOSE = {  # states whose changes have another form: see docs/internals/quirks.md
    "archive.extracted",
    "at.absent",
    "at.present",
    "augeas.change",
    "cron.file",
    "environ.setenv",
    "git.cloned",
    "git.detached",
    "git.latest",
    "git.present",
    "group.present",
    "host.only",
    "kmod.present",
    "locale.present",
    "logrotate.set",
    "network.managed",
    "network.routes",
    "network.system",
    "pip.installed",
    "schedule.disabled",
    "schedule.enabled",
    "ssh_known_hosts.present",
    "user.present",
}
SILENT = {"schedule.disabled", "schedule.enabled"}  # states of Salt that report no change
MEANING: dict[str, Callable[[str], str]] = {  # of files that have many forms
    "/etc/hosts": hosts,
    "/var/spool/cron/crontabs/root": table,
    "/var/spool/cron/crontabs/ann": table,
    "/home/ann/.ssh/authorized_keys": words,
    "/home/ann/.ssh/known_hosts": words,
    "/etc/aliases": words,
    "/etc/fstab": words,
    "/etc/default/locale": words,
    "ini": ini,
    "logrotate": rotation,
    "schedule": jobs,
    **NETWORK_FILES,
}
NAMED = {"schedule": FILE}  # the file whose meaning it is, where that is not WORK/a


def meanings(case: Case, files: dict[str, str]) -> dict[str, str]:
    """What changed below the files' forms."""
    family = case["function"].partition(".")[0]
    found = {}
    for path, text in files.items():
        own = NAMED.get(family, "a")
        read = MEANING.get(path) or (MEANING.get(family) if path.endswith(f"/here/{own}") else None)
        mode, owner, data = (*text.split(" ", 2), "", "")[:3]
        before = case.get("files", {}).get(path if path in MEANING else own, "")
        before = before if isinstance(before, str) else before["text"]
        if read is None or text == "gone":
            found[path] = text
        elif read(data) != read(before):
            found[path] = f"{mode} {owner} {read(data)}"
    return found
