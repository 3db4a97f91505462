"""Random cases for users, groups and their keys."""

from __future__ import annotations

from tests.compat.chance import Case, Chance, Maker

ONE = "AAAAC3NzaC1lZDI1NTE5AAAAIHx+lOAvEymbzgKbkHz92XQf+YKxdhHsY/S50WFoRRhp"
TWO = "AAAAC3NzaC1lZDI1NTE5AAAAIMulbR+prxk+0Px+y3eS32/z31sVLAs29E78ZPO3qe7E"
RSA = (
    "AAAAB3NzaC1yc2EAAAADAQABAAAAgQC+uLNPIf5dWb+wPBHzHUO7JwgD4WSzdC9cwSFjxzYH3sJvg0FUH/6Rh8oLKOYi0RUfCTTdw8HAP0Q"
    "DW3tgBNGy1zJkbf36TCmfQyrgvtvWdqoa4haS+/HMTuvI0dzFC3nSMXhpgKRGh+J9Y8Ye6pHqGJW94Dn6DlfRv0JwKDugTQ=="
)
KEYS = (
    f"ssh-ed25519 {ONE} ann@one",
    f"ssh-ed25519 {TWO}",
    f'from="10.0.0.1",no-pty ssh-ed25519 {ONE} ann@one',
    f"ssh-rsa {RSA} old",
    "# a remark",
    "",
)
KNOWN = (f"one ssh-ed25519 {ONE}", f"two ssh-ed25519 {TWO}", f"[one]:2222 ssh-ed25519 {TWO}")
PEOPLE = ("ann", "bob", "carl", "mail")


def user_present(chance: Chance) -> Case:
    options = chance.some(
        uid=(1001, 1002, 1500, "1501"),
        gid=(2000, "wheel", "ann", "none-such"),
        usergroup=(True, False),
        groups=(["wheel"], [], ["empty", "mail"], ["none-such"]),
        optional_groups=(["empty"], ["none-such"], ["wheel"]),
        remove_groups=(True, False),
        home=("/home/ann", "/srv/none"),
        password=("$6$x$y", "$6$a$b", "*", "!"),
        enforce_password=(False,),
        shell=("/bin/sh", "/bin/bash", "/usr/sbin/nologin"),
        system=(True,),
        fullname=("Ann", "Ann B", ""),
        roomnumber=("1", 7),
        workphone=("2", "9"),
        homephone=("3", ""),
        other=("4", "x"),
        mindays=(0, 3),
        maxdays=(99999, 30),
        inactdays=(5,),
        warndays=(7, 9),
        expire=(20000,),
        date=(19000,),
        allow_uid_change=(True,),
        allow_gid_change=(True,),
        password_lock=(True, False),
    )
    most = chance.randrange(0, 7)
    options = dict(chance.sample(sorted(options.items()), min(most, len(options))))
    name = chance.choice(PEOPLE)
    if "password" in options:  # Salt fails with this date beside it
        options.pop("date", None)
    if "password" in options or name != "ann":  # it fails without a password, or with a new one
        options.pop("password_lock", None)
    if "home" in options:  # Salt makes another home without the files that useradd copies
        options["createhome"] = False
    return {"name": name, "args": options, "files": {"/home/ann/x": "x"}}


def user_absent(chance: Chance) -> Case:
    options = chance.some(purge=(True,), force=(True,), local=(True,))
    files = {"/home/ann/x": "x", "/home/bob/x": "x"}
    return {"name": chance.choice(PEOPLE), "args": options, "files": files}


def group_present(chance: Chance) -> Case:
    people: tuple[list[str], ...] = (["ann"], ["bob"], ["ann", "bob"], [])
    options = chance.some(gid=(3000, "3001"), system=(True,), local=(True,))
    options |= {"gid": chance.choice((2000, 2001, 100)), "non_unique": True} if not options else {}
    kind = chance.choice(("members", "addusers", "delusers", "gid"))
    if kind != "gid":
        options[kind] = chance.choice(people)
    return {"name": chance.choice(("wheel", "empty", "new", "mail")), "args": options, "files": {}}


def group_absent(chance: Chance) -> Case:
    return {"name": chance.choice(("wheel", "empty", "new", "ann", "users")), "args": {}, "files": {}}


def authorized(chance: Chance) -> dict[str, str]:
    text = chance.distinct(KEYS[1:] if chance.random() < 0.5 else (*KEYS[:2], *KEYS[3:]), 5)
    return {"/home/ann/.ssh/authorized_keys": text} if chance.random() < 0.8 else {}


def key(chance: Chance) -> tuple[str, dict[str, object]]:
    """A whole line; or a key alone, with its kind beside it."""
    if chance.random() < 0.5:
        return chance.choice(KEYS[:4]), {"user": "ann"}
    name = chance.choice((ONE, TWO, RSA))
    return name, {"user": "ann", "enc": "ssh-rsa" if name == RSA else "ed25519"}


def ssh_auth_present(chance: Chance) -> Case:
    name, args = key(chance)
    if "enc" in args:
        args["comment"] = chance.choice(("ann@one", "new"))
    args |= chance.some(options=(["no-pty"], ['from="10.0.0.1"', "no-pty"]))
    return {"name": name, "args": args, "files": authorized(chance)}


def ssh_auth_absent(chance: Chance) -> Case:
    name, args = key(chance)
    return {"name": name, "args": args, "files": authorized(chance)}


def ssh_auth_manage(chance: Chance) -> Case:
    keys = chance.sample((*KEYS[:2], KEYS[3]), chance.randrange(1, 3))
    return {"name": "all", "args": {"ssh_keys": keys, "user": "ann"}, "files": authorized(chance)}


def known(chance: Chance) -> dict[str, str]:
    text = "".join(f"{line}\n" for line in chance.sample(KNOWN, chance.randrange(1, 4)))
    return {"/home/ann/.ssh/known_hosts": text} if chance.random() < 0.8 else {}


def ssh_known_hosts_present(chance: Chance) -> Case:
    args = {"key": chance.choice((ONE, TWO)), "enc": "ssh-ed25519", "user": "ann"}
    args |= {"hash_known_hosts": False} | chance.some(port=(2222, 22))
    return {"name": chance.choice(("one", "two", "new")), "args": args, "files": known(chance)}


def ssh_known_hosts_absent(chance: Chance) -> Case:
    return {"name": chance.choice(("one", "two", "new")), "args": {"user": "ann"}, "files": known(chance)}


ACCOUNTS: dict[str, Maker] = {
    "user.present": user_present,
    "user.absent": user_absent,
    "group.present": group_present,
    "group.absent": group_absent,
    "ssh_auth.present": ssh_auth_present,
    "ssh_auth.absent": ssh_auth_absent,
    "ssh_auth.manage": ssh_auth_manage,
    "ssh_known_hosts.present": ssh_known_hosts_present,
    "ssh_known_hosts.absent": ssh_known_hosts_absent,
}
