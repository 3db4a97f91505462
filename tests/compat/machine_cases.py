"""Random cases for the names, jobs, mounts and other tables of a machine."""

from __future__ import annotations

from tests.compat.chance import Case, Chance, Maker

HOSTS = (
    "127.0.0.1\tlocalhost",
    "# a remark",
    "",
    "10.0.0.1 one",
    "10.0.0.1\tone two",
    "10.0.0.2   two three # why",
    "::1 localhost ip6",
    "#10.0.0.3 old",
    "10.0.0.4 four",
    "10.0.0.4 four more",
)
NAMES = ("one", "two", "three", "four", "new")
ADDRESSES = ("10.0.0.1", "10.0.0.2", "10.0.0.9", "::1")
OWN = (
    "MAILTO=root",
    "PATH = /bin:/usr/bin",
    "* * * * * /bin/one",
    "5 4 * * * /bin/two x",
    "@reboot /bin/three",
)
SALTS = (
    "# SALT_CRON_IDENTIFIER:one\n0 1 2 3 4 /bin/one",
    "# why SALT_CRON_IDENTIFIER:two\n*/5 * * * * /bin/two",
    "# SALT_CRON_IDENTIFIER:four\n#DISABLED#1 * * * * /bin/four",
)
COMMANDS = ("/bin/one", "/bin/two x", "/bin/two", "/bin/three", "/bin/four", "/bin/five", "/bin/new  x %")
FSTAB = (
    "# remark",
    "/dev/sda1 / ext4 defaults 0 1",
    "tmpfs WORK/one tmpfs size=1m 0 0",
    "UUID=1234 WORK/two ext4 noatime,ro 1 2",
    "/dev/sdb1   WORK/three  xfs  defaults  0  0",
    "LABEL=x none swap sw 0 0",
)
ALIASES = ("root: ann", "mail: root", "# remark", "", "bob:  ann, root", "x: |/bin/cat")
APT = (
    "deb http://one.invalid/debian stable main",
    "# deb http://one.invalid/debian stable main",
    "deb-src http://one.invalid/debian stable main",
    "deb [arch=amd64] http://two.invalid/debian stable main contrib",
)


def names(chance: Chance) -> dict[str, str]:
    return {"/etc/hosts": chance.lines(HOSTS, 0, 6)}


def host_present(chance: Chance) -> Case:
    ips = chance.choice(ADDRESSES) if chance.random() < 0.7 else chance.sample(ADDRESSES, 2)
    name = chance.choice(NAMES)
    args = {"ip": ips} | chance.some(clean=(True, False))
    args |= {"comment": "new"} if name == "new" else {}
    return {"name": name, "args": args, "files": names(chance)}


def host_absent(chance: Chance) -> Case:
    return {"name": chance.choice(NAMES), "args": {"ip": chance.choice(ADDRESSES)}, "files": names(chance)}


def host_only(chance: Chance) -> Case:
    wanted = chance.choice(NAMES) if chance.random() < 0.4 else chance.sample(NAMES, chance.randrange(0, 3))
    return {"name": chance.choice(ADDRESSES), "args": {"hostnames": wanted}, "files": names(chance)}


def jobs(chance: Chance, user: str) -> dict[str, str]:
    text = chance.lines(OWN, 1, 3)
    if chance.random() < 0.7:
        text += "# Lines below here are managed by Salt, do not edit\n" + chance.distinct(SALTS, 3)
    return {f"/var/spool/cron/crontabs/{user}": text} if chance.random() < 0.9 else {}


def cron_present(chance: Chance) -> Case:
    args = chance.some(
        minute=(5, "*/5", "0"),
        hour=(1, "4"),
        daymonth=("2",),
        month=(3,),
        dayweek=("mon", 4),
        comment=("why", "a\nb", ""),
        commented=(True, False),
        identifier=("one", "two", "SALT", False, "3"),
    )
    if chance.random() < 0.2:
        args = {"special": chance.choice(("@reboot", "@hourly"))}
        return {"name": "/bin/special", "args": args | {"user": "ann"}, "files": {}}
    user = chance.choice(("root", "ann"))
    return {"name": chance.choice(COMMANDS), "args": args | {"user": user}, "files": jobs(chance, user)}


def cron_absent(chance: Chance) -> Case:
    args = chance.some(identifier=("one", "two", False), minute=("5",))
    user = chance.choice(("root", "ann"))
    return {"name": chance.choice(COMMANDS), "args": args | {"user": user}, "files": jobs(chance, user)}


def cron_env_present(chance: Chance) -> Case:
    args = {"value": chance.choice(("root", "me", "a b", "/bin:/usr/bin")), "user": "root"}
    return {"name": chance.choice(("MAILTO", "PATH", "NEW")), "args": args, "files": jobs(chance, "root")}


def cron_env_absent(chance: Chance) -> Case:
    name = chance.choice(("MAILTO", "PATH", "NEW"))
    return {"name": name, "args": {"user": "root"}, "files": jobs(chance, "root")}


def cron_file(chance: Chance) -> Case:
    files = jobs(chance, "ann") | {"table": chance.lines(OWN, 1, 4)}
    args = {"user": "ann"} | chance.some(replace=(True, False))
    return {"name": "WORK/table", "args": args, "files": files}


def fstab(chance: Chance) -> dict[str, str]:
    return {"/etc/fstab": chance.distinct(FSTAB, 5)}


def mount_fstab_present(chance: Chance) -> Case:
    device, place, kind = chance.choice(
        (
            ("tmpfs", "one", "tmpfs"),
            ("tmpfs", "new", "tmpfs"),
            ("UUID=1234", "two", "ext4"),
            ("UUID=1234", "new", "ext4"),
            ("/dev/none", "new", "xfs"),
        )
    )
    args = {"fs_file": f"WORK/{place}", "fs_vfstype": kind, "mount": False} | chance.some(
        fs_mntops=("defaults", "ro", ["ro", "noatime"], "size=1m"),
        fs_freq=(0, 1),
        fs_passno=(0, 2),
        match_on=("auto", "name", ["name", "device"]),
        not_change=(True,),
    )
    return {"name": device, "args": args, "files": fstab(chance)}


def mount_fstab_absent(chance: Chance) -> Case:
    device, place = chance.choice((("tmpfs", "one"), ("UUID=1234", "two"), ("/dev/sdb1", "three")))
    line = next(line for line in FSTAB if line.startswith(device))
    rest = chance.distinct(tuple(one for one in FSTAB if one != line), 3)
    return {"name": device, "args": {"fs_file": f"WORK/{place}"}, "files": {"/etc/fstab": f"{rest}{line}\n"}}


def mount_mounted(chance: Chance) -> Case:
    args = {"device": "tmpfs", "fstype": "tmpfs"} | chance.some(
        mkmnt=(True, True, False),
        opts=("defaults", "ro", ["ro", "nosuid"], "size=1m"),
        dump=(0, 1),
        pass_num=(0, 2),
        match_on=("auto", "name"),
    )
    args |= chance.some(**{chance.choice(("mount", "persist")): (False, True)})
    name = chance.choice(("WORK/one", "WORK/new"))
    return {"name": name, "args": args, "files": fstab(chance) | {"one/x": "x"}}


def mount_unmounted(chance: Chance) -> Case:
    args = chance.some(device=("tmpfs",), persist=(True,))
    name = chance.choice(("WORK/one", "WORK/new"))
    return {"name": name, "args": args, "files": fstab(chance) | {"one/x": "x"}}


def alias_present(chance: Chance) -> Case:
    args = {"target": chance.choice(("ann", "ann, root", "new"))}
    files = {"/etc/aliases": chance.distinct(ALIASES, 5)}
    return {"name": chance.choice(("root", "bob", "new")), "args": args, "files": files}


def alias_absent(chance: Chance) -> Case:
    files = {"/etc/aliases": chance.distinct(ALIASES, 5)}
    return {"name": chance.choice(("root", "bob", "new")), "args": {}, "files": files}


def pkgrepo_managed(chance: Chance) -> Case:
    name = chance.choice((APT[0], APT[2], APT[3], "deb http://two.invalid/debian stable main"))
    args = {"file": "/etc/apt/sources.list.d/zz.list", "refresh": False}
    args |= chance.some(disabled=(True, False), humanname=("x",))
    lines = chance.distinct(APT, 3)
    if APT[0] in lines.splitlines():  # beside the same in a remark Salt leaves two equal lines
        lines = lines.replace(f"{APT[1]}\n", "")
    return {"name": name, "args": args, "files": {args["file"]: lines}}


def pkgrepo_absent(chance: Chance) -> Case:
    return pkgrepo_managed(chance) | {"args": {"refresh": False}}


MACHINE: dict[str, Maker] = {
    "host.present": host_present,
    "host.absent": host_absent,
    "host.only": host_only,
    "cron.present": cron_present,
    "cron.absent": cron_absent,
    "cron.env_present": cron_env_present,
    "cron.env_absent": cron_env_absent,
    "cron.file": cron_file,
    "mount.fstab_present": mount_fstab_present,
    "mount.fstab_absent": mount_fstab_absent,
    "mount.mounted": mount_mounted,
    "mount.unmounted": mount_unmounted,
    "alias.present": alias_present,
    "alias.absent": alias_absent,
    "pkgrepo.managed": pkgrepo_managed,
    "pkgrepo.absent": pkgrepo_absent,
}
