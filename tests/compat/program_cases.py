"""Random cases for states that run programs: commands, repositories, archives, packages of Python."""

from __future__ import annotations

from tests.compat.chance import Case, Chance, Maker

MAKE_ORIGIN = """
export GIT_AUTHOR_DATE=2020-01-01T00:00:00Z GIT_COMMITTER_DATE=2020-01-01T00:00:00Z
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
if [ ! -e ../origin ]; then
    git init -q -b main ../origin
    cd ../origin
    echo one >f; git add f; git commit -qm one; git tag v1
    git branch old
    echo two >f; git commit -qam two; git tag -a -m v2 v2
    git checkout -q -b side v1; echo side >s; git add s; git commit -qm side; git checkout -q main
    cd "$OLDPWD"
fi
"""
CLONES = (  # what there is at the target before
    "",
    "",
    "git clone -q ../origin t",
    "git clone -q ../origin t; git -C t reset -q --hard v1",
    "git clone -q ../origin t; echo changed >t/f",
    "git clone -q ../origin t; echo new >t/new",
    "git clone -q -b side ../origin t",
    "git clone -q ../origin t; git -C t checkout -q --detach v1",
    "git clone -q ../origin t; cd t; echo own >own; git add own; git commit -qm own",
    "mkdir t; echo x >t/x",
    "mkdir t",
)
LOOK_AT_CLONE = """
cd t 2>/dev/null || exit 0
[ -e .git ] || [ -e HEAD ] || { ls -A; exit 0; }
git symbolic-ref -q HEAD || echo detached
git rev-parse -q --verify HEAD
git status --porcelain 2>/dev/null
git branch --format '%(refname) %(objectname)'
git tag -l
git remote -v | sort
git config --get-all some.key
git rev-parse --is-bare-repository
"""


def git_latest(chance: Chance) -> Case:
    args = {"target": "WORK/t"} | chance.some(
        rev=("main", "side", "v1", "v2", "old", "none-such"),
        force_reset=(True, "remote-changes"),
        force_checkout=(True,),
        force_clone=(True,),
        force_fetch=(True,),
        update_head=(False,),
        remote=("origin", "other"),
        sync_tags=(False,),
        fetch_tags=(False,),
    )
    if args.get("rev") not in ("side", "main", "old"):
        args |= chance.some(branch=("main", "own"))
    if chance.random() < 0.1:
        args = {key: args[key] for key in ("target", "force_clone") if key in args}
        args |= {chance.choice(("bare", "mirror")): True}
    setup = chance.choice(CLONES[:7] if "rev" in args else CLONES)
    if ({"bare", "mirror"} & args.keys() and "clone" in setup) or "detach" in setup:
        setup = ""
    if "changed" in setup:  # Salt leaves the remote where it refuses the rest
        args.pop("remote", None)
    if "remote" in args or "clone" not in setup:
        args.pop("update_head", None)
    if "reset" not in setup and setup and args.get("branch") == "own":  # which it does not report
        del args["branch"]
    return {"name": "WORK/../origin", "args": args, "setup": f"{MAKE_ORIGIN}{setup}", "look": LOOK_AT_CLONE}


def git_cloned(chance: Chance) -> Case:
    args = {"target": "WORK/t"} | chance.some(branch=("main", "side", "none-such"))
    setup = chance.choice(CLONES[:-1])
    return {"name": "WORK/../origin", "args": args, "setup": f"{MAKE_ORIGIN}{setup}", "look": LOOK_AT_CLONE}


def git_detached(chance: Chance) -> Case:
    args = {"target": "WORK/t", "rev": chance.choice(("v1", "side", "old"))}
    args |= chance.some(
        force_clone=(True,), force_checkout=(True,), fetch_remote=(False,), hard_reset=(True,)
    )
    setup = chance.choice(CLONES)
    if "detach" in setup or "side" in setup or "reset" in setup:  # Salt leaves a branch that is at the commit
        setup = ""
    return {"name": "WORK/../origin", "args": args, "setup": f"{MAKE_ORIGIN}{setup}", "look": LOOK_AT_CLONE}


def git_present(chance: Chance) -> Case:
    args = chance.some(bare=(True, False), force=(True,), shared=("group", "0640"))
    setup = chance.choice(("", *CLONES[1:4], *CLONES[-2:], "git init -q --bare t", "echo x >t"))
    if "git" in setup:  # with force Salt removes a repository of the other kind
        args.pop("force", None)
    return {"name": "WORK/t", "args": args, "setup": f"{MAKE_ORIGIN}{setup}", "look": LOOK_AT_CLONE}


def git_config_set(chance: Chance) -> Case:
    values = chance.choice(
        ({"value": "one"}, {"value": "two words"}, {"multivar": ["one", "two"]}, {"value": 5})
    )
    several = "git config --add some.key x; git config --add some.key y"
    before = chance.choice(("true", "git config some.key one", several))
    setup = f"git init -q t; cd t; {before}"
    return {"name": "some.key", "args": {"repo": "WORK/t"} | values, "setup": setup, "look": LOOK_AT_CLONE}


def cmd_run(chance: Chance) -> Case:
    commands: tuple[str, ...] = (
        "echo x >>made",
        "exit 3",
        "echo out; echo err >&2",
        "echo $ONE $TWO >made",
        "pwd >made",
        "cat none",
    )
    args = chance.some(
        cwd=("WORK/d", "/none-such"),
        shell=("/bin/bash", "/bin/sh"),
        env=([{"ONE": "1"}, {"TWO": 2}], {"ONE": "x"}),
        creates=("WORK/made", ["WORK/made", "WORK/none"]),
        unless=("test -e made", "false", ["true", "false"]),
        onlyif=("true", ["true", "false"]),
        success_retcodes=([3],),
        success_stdout=(["out"],),
        success_stderr=(["err"],),
        hide_output=(True,),
        umask=("077",),
        prepend_path=("WORK/bin",),
        stateful=(True, [{"test_name": "echo changed=yes"}]) if chance.random() < 0.3 else (False,),
        ignore_timeout=(True,),
        output_loglevel=("quiet",),
    )
    if args.get("stateful"):
        commands = (
            "echo; echo changed=yes comment=hi",
            'echo; echo \'{"changed": false, "comment": "x"}\'',
            "echo no",
        )
    if "cwd" not in args or {"creates", "unless", "onlyif"} & args.keys():
        args["cwd"] = "WORK"
    if args.get("stateful"):  # Salt reads nothing of what it hides
        args.pop("hide_output", None)
    return {"name": chance.choice(commands), "args": args, "files": {"d/x": "x"}}


def cmd_script(chance: Chance) -> Case:
    args: Case = {"source": chance.choice(("salt://script.sh", "salt://script.j2"))}
    args |= chance.some(
        args=("one two", ["one", "a b"]),
        template=("jinja",),
        context=({"name": "N"},),
        creates=("WORK/made",),
        env=([{"ONE": "1"}],),
        success_retcodes=([4],),
        shell=("/bin/bash",),
    )
    if args["source"].endswith("j2"):
        args |= {"template": "jinja", "context": {"name": "N"}}
    return {"name": "x", "args": args | {"cwd": "WORK"}, "files": {}}


PACKED = (
    "mkdir -p src/d/sub; cd src/d; echo 1 >one; echo 2 >sub/two; chmod 600 sub/two; echo f >../f; cd ../.."
)


def archive_extracted(chance: Chance) -> Case:
    kind = chance.choice(("tar", "tgz", "zip"))
    options = chance.some(
        enforce_toplevel=(False,),
        clean=(True,),
        overwrite=(True,),
        force=(True,),
        user=("daemon", 0),
        group=("daemon",),
        if_missing=("WORK/x/d", "WORK/none"),
        trim_output=(True, 1),
        skip_verify=(True,),
        extract_perms=(False,),
        keep_source=(False,),
        options=("-v",) if kind != "zip" else (None,),
    )
    if options.get("options", 1) is None:
        del options["options"]
    top = chance.choice(("d", "d f"))
    if top != "d":
        options["enforce_toplevel"] = chance.choice((False, False, True))
    pack = {"tar": "tar cf ../a", "tgz": "tar czf ../a", "zip": "zip -qr ../a.zip"}[kind]
    setup = f"{PACKED}; cd src; {pack} {top}; cd ..; rm -r src; mv a.zip a 2>/dev/null; "
    setup += chance.choice(
        ("true", "mkdir x", "mkdir -p x/d; echo old >x/d/one; echo mine >x/d/mine", "echo x >x")
    )
    args = {"source": "WORK/a", "archive_format": kind.replace("tgz", "tar")}
    if "mine" in setup:  # Salt also gives the user what was there before
        options = {key: value for key, value in options.items() if key not in ("user", "group")}
    if len({"user", "group"} & options.keys()) == 1:  # the directory gets both or none
        options = {key: value for key, value in options.items() if key not in ("user", "group")}
    name = "WORK/x" if "user" in options else "WORK/x/"
    return {"name": name, "args": args | options, "setup": setup}


PYTHON_PLACE = """
if [ ! -e ../python ]; then
    PYTHON -m venv ../python
    PYTHON WHEELS ../wheels
fi
rm -rf ../python/lib/python*/site-packages/demo* ../python/lib/python*/site-packages/other*
"""
LOOK_AT_PACKAGES = "ls ../python/lib/python*/site-packages | grep -e '^demo' -e '^other' | sort"


def pip_case(chance: Chance) -> Case:
    before = chance.sample(("demo-1.0", "demo-2.0", "other-1.0"), chance.randrange(0, 3))
    if {"demo-1.0", "demo-2.0"} <= set(before):
        before = ["demo-1.0"]
    install = "; ".join(
        f"PYTHON -m zipfile -e ../wheels/{one}-py3-none-any.whl ../python/lib/python*/site-packages"
        for one in before
    )
    return {"setup": f"{PYTHON_PLACE}{install}", "look": LOOK_AT_PACKAGES, "files": {}}


def pip_installed(chance: Chance) -> Case:
    specs = (
        "demo",
        "demo==1.0",
        "demo>=1.5",
        "demo<2",
        "demo>=1,<3",
        "Other",
        "none-such",
        "demo==9",
        "demo[x]",
    )
    args: Case = {"bin_env": "WORK/../python", "no_index": True, "find_links": "WORK/../wheels"}
    args |= chance.some(
        upgrade=(True,),
        force_reinstall=(True,),
        ignore_installed=(True,),
        no_deps=(True,),
        pre_releases=(True,),
    )
    kind = chance.random()
    name = chance.choice(specs)
    if kind < 0.3:
        name, args["pkgs"] = "some", chance.sample(specs[:6], 2)
    elif kind < 0.45:
        name, args["requirements"] = "some", chance.choice(("WORK/req.txt", "WORK/none.txt"))
    if chance.random() < 0.2:
        args["bin_env"] = "WORK/../python/bin/pip"
    files = {"req.txt": chance.choice(("demo==1.0\n", "# none\ndemo\nother==1.0\n"))}
    return pip_case(chance) | {"name": name, "args": args, "files": files}


def pip_removed(chance: Chance) -> Case:
    args: Case = {"bin_env": "WORK/../python"}
    name = chance.choice(("demo", "Demo", "other", "none-such", "demo==1.0"))
    return pip_case(chance) | {"name": name, "args": args, "files": {}}


PROGRAMS: dict[str, Maker] = {
    "git.latest": git_latest,
    "git.cloned": git_cloned,
    "git.detached": git_detached,
    "git.present": git_present,
    "git.config_set": git_config_set,
    "cmd.run": cmd_run,
    "cmd.script": cmd_script,
    "archive.extracted": archive_extracted,
}
SLOW: dict[str, Maker] = {  # only if they are asked for
    "pip.installed": pip_installed,
    "pip.removed": pip_removed,
}
