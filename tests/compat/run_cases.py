"""Random cases for the environment, queued commands and locales."""

from __future__ import annotations

from tests.compat.chance import Case, Chance, Maker


def environ_setenv(chance: Chance) -> Case:
    values = ("one", "two words", False)
    several = {
        key: chance.choice(values) for key in chance.sample(("ONE", "HOME", "NEW"), chance.randrange(1, 4))
    }
    value = several if chance.random() < 0.5 else chance.choice(values)
    args = {"value": value} | chance.some(false_unsets=(True,))
    if chance.random() < 0.1:
        args["clear_all"] = True  # which Salt does again
        return {"name": "ONE", "args": args, "runs": 2}
    return {"name": chance.choice(("ONE", "HOME", "NEW")), "args": args}


LOOK_AT_QUEUE = (
    "for job in $(atq | sort -n | cut -f1); do at -c $job | tail -n 2; atq | cut -f2- | cut -c12-16; done"
)
QUEUES = (
    "true",
    "echo /bin/one | at 09:30 2035-01-02",
    "printf '### SALT: tag\\n/bin/one' | at 09:30 2035-01-02",
    "printf '### SALT: other\\n/bin/two' | at 09:30 2035-01-02; echo /bin/one | at 10:00 2035-01-02",
)


def at_present(chance: Chance) -> Case:
    args: Case = {"timespec": chance.choice(("09:30 2035-01-02", "10:00 2035-01-02", "no time"))}
    args |= chance.some(tag=("tag", "other"), job=("/bin/new two",))
    case: Case = {"name": "/bin/new", "args": args, "setup": chance.choice(QUEUES), "look": LOOK_AT_QUEUE}
    if "tag" in args and chance.random() < 0.5:
        args["unique_tag"] = True
        return case
    return case | {"runs": 2}  # without it Salt adds another one each time


def at_absent(chance: Chance) -> Case:
    args = chance.some(tag=("tag", "other"), hour=(9, 10), minute=(30,), year=(35,), runas=("daemon",))
    queues = QUEUES if args else QUEUES[:3]  # of several Salt removes none
    return {
        "name": "some" if args else "all",
        "args": args,
        "setup": chance.choice(queues),
        "look": LOOK_AT_QUEUE,
    }


def locale_present(chance: Chance) -> Case:
    lines = ("# de_DE.UTF-8 UTF-8", "en_US.UTF-8 UTF-8", "de_DE ISO-8859-1", "# remark")
    name = chance.choice(("de_DE.UTF-8", "en_US.UTF-8", "C.UTF-8", "xx_YY.UTF-8", "de_DE.utf8"))
    return {"name": name, "args": {}, "files": {"/etc/locale.gen": chance.distinct(lines, 4)}, "only": "test"}


ENVIRONMENT: dict[str, Maker] = {"environ.setenv": environ_setenv}
QUEUED: dict[str, Maker] = {
    "at.present": at_present,
    "at.absent": at_absent,
    "locale.present": locale_present,
}
