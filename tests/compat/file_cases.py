"""Random cases for files, directories and links as a whole."""

from __future__ import annotations

from tests.compat.chance import Case, Chance, Maker
from tests.compat.text_cases import PATCHES

TREE = {  # below salt://
    "lines": "foo\nnew line\n",
    "named.j2": "Hello {{ name }}\n{{ more }}\n",
    "empty": "",
    "script.sh": '#!/bin/sh\necho "$# $1 $ONE" >>made\n',
    "script.j2": "#!/bin/sh\necho {{ name }} >>made\nexit 4\n",
    "d/a": "1\n",
    "d/named.j2": "I am {{ name }}\n",
    "d/sub/b": "two\n",
    "d/sub/deep/c.bak": "c",
    "d/sub/run.sh": {"text": "#!/bin/sh\n", "mode": 0o755},
    "d/hollow": {"folder": True},
    "d/link": {"link": "a"},
    "d/sublink": {"link": "sub"},
} | {f"patches/{name}": text for name, text in PATCHES.items()}
HERE = {
    "f": "file\n",
    "g": "file\n",
    "h": {"text": "other\n", "mode": 0o600},
    "t/a": "1\n",
    "t/sub/b": "2\n",
    "t/sub/deep/c.bak": "c",
    "l": {"link": "f"},
    "anns": {"link": "f", "owner": 1},
    "lost": {"link": "nowhere"},
    "lt": {"link": "t"},
}
OWNERS = {"user": ("daemon", 0, "none-such"), "group": ("daemon", 0, "none-such")}


def owners(chance: Chance) -> Case:
    return chance.some(**OWNERS) if chance.random() < 0.4 else {}


def directory(chance: Chance) -> Case:
    options = chance.some(
        mode=("0750", 755, "700"),
        dir_mode=("0711",),
        file_mode=("0600", "640"),
        makedirs=(True,),
        clean=(True,),
        force=(True,),
        exclude_pat=("a", "sub*", "E@^sub"),
        max_depth=(0, 1),
        backupname=("WORK/old", "WORK/f"),
        allow_symlink=(False,),
        follow_symlinks=(True,),
        children_only=(True,),
    )
    options |= owners(chance)
    if "none-such" in options.values():
        options.pop("children_only", None)
    if chance.random() < 0.4:
        more = chance.choice(([], ["ignore_files"], ["ignore_dirs"], ["silent"]))
        options["recurse"] = ["mode", *(key for key in OWNERS if key in options), *more]
    names = (
        "WORK/t",
        "WORK/t",
        "WORK/new",
        "WORK/new/x",
        "WORK/f",
        "WORK/t/sub",
        "WORK/l",
        "WORK/lt",
        "WORK/lost",
    )
    return {"name": chance.choice(names), "args": options, "files": HERE}


def managed(chance: Chance) -> Case:
    contents = ("x", "x\n", "a\nb", ["a", "b"], ["a", "", "b"], 5, True, "", "é", [1, 2], "file", "file\n")
    options = chance.some(
        mode=("0600", 640),
        makedirs=(True,),
        replace=(False,),
        contents_newline=(False,),
        create=(False,),
        show_changes=(False,),
        backup=("minion", False),
        allow_empty=(False,),
        follow_symlinks=(False,),
        dir_mode=("0711",),
        check_cmd=("grep -q e", "/bin/false", "true"),
        tmp_ext=(".conf",),
        encoding=("utf-8", "latin-1"),
        new_file_diff=(True,),
        ignore_whitespace=(True,),
        ignore_ordering=(True,),
    )
    kind = chance.random()
    if kind < 0.5:
        options["contents"] = chance.choice(contents)
    elif kind < 0.9:
        sources = (
            "salt://lines",
            "salt://named.j2",
            "salt://empty",
            "salt://none",
            "WORK/g",
            "salt://d/sub/run.sh",
        )
        options["source"] = chance.choice(sources)
        options["source"] = (
            [chance.choice(sources), options["source"]] if chance.random() < 0.2 else options["source"]
        )
        options |= chance.some(
            template=("jinja", "jinja", "py", "none-such"),
            context=({"name": "N"},),
            defaults=({"name": "D", "more": 1},),
        )
        options |= chance.some(mode=("keep",))
    else:
        options.pop("check_cmd", None)  # which Salt does not run for an empty file
    if "ignore_whitespace" in options or "ignore_ordering" in options:
        options.pop("show_changes", None)
    if "ignore_ordering" in options:
        options.pop("check_cmd", None)
    if "create" in options:
        options.pop("allow_empty", None)
    names = ["WORK/new", "WORK/x/new", "WORK/f", "WORK/h", "WORK/t/a"]
    names += ["WORK/t"] if "create" not in options else []
    names += ["WORK/l"] if "backup" not in options else []
    return {"name": chance.choice(names), "args": options | owners(chance), "files": HERE}


def hardlink(chance: Chance) -> Case:
    args = {"target": chance.choice(("WORK/h", "WORK/h", "WORK/t", "/none-such", "f", "WORK/l"))}
    args |= chance.some(force=(True,), makedirs=(True,), dir_mode=("0711",))
    names = ("WORK/new", "WORK/x/new", "WORK/g", "WORK/t")
    return {"name": chance.choice(names), "args": args | owners(chance), "files": HERE}


def symlink(chance: Chance) -> Case:
    args = {"target": chance.choice(("WORK/f", "f", "WORK/t", "/none-such", "../x"))}
    args |= chance.some(
        force=(True,),
        makedirs=(True,),
        backupname=("old", "WORK/old", "WORK/g"),
        mode=("0711",),
        atomic=(True,),
        inherit_user_and_group=(True,),
        follow_symlinks=(False,),
        disallow_copy_and_unlink=(True,),
    )
    name = chance.choice(
        (
            "WORK/new",
            "WORK/x/new",
            "WORK/g",
            "WORK/t",
            "WORK/l",
            "WORK/anns",
            "WORK/lost",
            "WORK/lt",
            "WORK/t/new",
        )
    )
    if name == args["target"]:
        name = "WORK/new"
    if name == "WORK/t":  # with force Salt fails
        args.pop("force", None)
    if name == "WORK/g" and "force" not in args:
        args.pop("atomic", None)  # with which it replaces a file all the same
    people = {key: who for key, who in owners(chance).items() if who != 0}  # which Salt takes for a name here
    return {"name": name, "args": args | people, "files": HERE}


def absent(chance: Chance) -> Case:
    names = ("WORK/f", "WORK/t", "WORK/none", "WORK/l", "WORK/lt", "WORK/lost", "WORK/lt/", "WORK/t/../f")
    return {"name": chance.choice(names), "args": {}, "files": HERE}


def recurse(chance: Chance) -> Case:
    options = chance.some(
        clean=(True,),
        dir_mode=("0711", 755, "2775"),
        file_mode=("0600", "keep", 640),
        sym_mode=("0777",),
        template=("jinja",),
        replace=(False,),
        include_empty=(True,),
        include_pat=("a", "E@sub", "*.bak", "sub/*", "E@(a|b)$"),
        exclude_pat=("a", "E@sub", "*.bak", "sub/*", "sub"),
        maxdepth=(0, 1, 2),
        keep_symlinks=(True,),
        force_symlinks=(True,),
        backup=("minion",),
    )
    options |= {"context": {"name": "N"}} if options.get("template") else {}
    args: Case
    sources = (
        "salt://d",
        "salt://d",
        "salt://d/",
        "salt://d/sub",
        "salt://none",
        "salt://lines",
        ["salt://none", "salt://d"],
    )
    args = {"source": chance.choice(sources)}
    if chance.random() < 0.15:
        args = {"source": ["salt://d/sub", "salt://d"], "merge": True}
    if options.get("clean"):  # what is spared in it stays here, see docs/internals/quirks.md
        options.pop("maxdepth", None)
        if options.get("exclude_pat") in ("*.bak", "sub/*"):
            del options["exclude_pat"]
    if (
        args["source"] != "salt://d" or {"maxdepth", "exclude_pat"} & options.keys()
    ):  # of what matches nothing Salt reports nothing
        options.pop("include_pat", None)
    names = ["WORK/new", "WORK/t", "WORK/new/x", "WORK/f", "WORK/full"]
    files = HERE | {"full/a": "other\n", "full/sub": "a file", "full/extra/x": "x", "full/link": "no link"}
    people = {key: who for key, who in owners(chance).items() if who == "daemon"}
    return {"name": chance.choice(names), "args": args | options | people, "files": files}


def touch(chance: Chance) -> Case:
    args = chance.some(makedirs=(True,), atime=(1000000000, "2000000"), mtime=(1100000000,))
    names = ("WORK/new", "WORK/x/new", "WORK/f", "WORK/t", "f", "WORK/l", "WORK/lost")
    return {"name": chance.choice(names), "args": args, "files": HERE, "runs": 2}


def copy(chance: Chance) -> Case:
    args = {
        "source": chance.choice(
            ("WORK/f", "WORK/f", "WORK/h", "WORK/t", "WORK/l", "WORK/none", "f", "WORK/lost")
        )
    }
    args |= chance.some(
        makedirs=(True,), preserve=(True,), mode=("0600", 640), dir_mode=("0711",), subdir=(True,)
    )
    names = ["WORK/new", "WORK/x/new", "f"]
    people = owners(chance)
    if "none-such" not in people.values():
        names += ["WORK/g", "WORK/h", "WORK/t", "WORK/lost", "WORK/lt"]
    if chance.random() < 0.3 and args["source"] != "WORK/h":  # with force Salt copies again
        return {"name": "WORK/h", "args": args | {"force": True} | people, "files": HERE, "runs": 2}
    return {"name": chance.choice(names), "args": args | people, "files": HERE}


def rename(chance: Chance) -> Case:
    args = {"source": chance.choice(("WORK/f", "WORK/f", "WORK/t", "WORK/l", "WORK/none", "WORK/lost"))}
    args |= chance.some(force=(True,), makedirs=(True,))
    names = (
        "WORK/new",
        "WORK/x/new",
        "WORK/g",
        "WORK/h",
        "WORK/t",
        "WORK/l",
        "WORK/lost",
        "WORK/lt",
        "f",
        "WORK/f",
    )
    return {"name": chance.choice(names), "args": args, "files": HERE}


def tidied(chance: Chance) -> Case:
    args = {"time_comparison": "mtime"} | chance.some(
        age=(0, 1, 5, -1),
        matches=(["a"], [r".*\.bak"], ["[ab]", "deep"]),
        rmdirs=(True,),
        size=(0, 1, "1k", 3),
        exclude=([r"b"], [r".*\.bak"]),
        full_path_match=(True,),
        followlinks=(True,),
        age_size_logical_operator=("AND", "OR"),
        age_size_only=("age", "size"),
        rmlinks=(False,),
    )
    if args.get("rmdirs"):
        args.pop("exclude", None)
    old = 86400 * 3
    files = {
        "t/a": {"text": "1\n", "age": old},
        "t/big": "x" * 2000,
        "t/sub/b": "2\n",
        "t/sub/deep/c.bak": {"text": "c", "age": old * 3},
        "t/link": {"link": "a"},
        "t/none": {"folder": True},
        "f": "file\n",
    }
    return {
        "name": chance.choice(("WORK/t", "WORK/t", "WORK/t/sub", "WORK/f", "WORK/none", "t")),
        "args": args,
        "files": files,
    }


def pruned(chance: Chance) -> Case:
    args = chance.some(recurse=(True,), older_than=(0,))
    files = HERE | {"e/one": {"folder": True}, "e/two/three": {"folder": True}, "e/x/y": "y"}
    return {
        "name": chance.choice(("WORK/e", "WORK/e/one", "WORK/t", "WORK/f", "WORK/none")),
        "args": args,
        "files": files,
    }


def mknod(chance: Chance) -> Case:
    kind = chance.choice(("p", "p", "c", "b", "x"))
    args = {"ntype": kind} | chance.some(mode=("0600", "0644", 640))
    if kind in "cb":
        args |= {"major": chance.choice((1, 7)), "minor": chance.choice((3, 5))}
    names = ("WORK/new", "WORK/x/new", "WORK/f")
    people = {key: who for key, who in owners(chance).items() if who != "none-such"}
    return {"name": chance.choice(names), "args": args | people, "files": HERE}


FILES: dict[str, Maker] = {
    "file.directory": directory,
    "file.managed": managed,
    "file.hardlink": hardlink,
    "file.symlink": symlink,
    "file.absent": absent,
    "file.exists": absent,
    "file.missing": absent,
    "file.recurse": recurse,
    "file.touch": touch,
    "file.copy": copy,
    "file.rename": rename,
    "file.tidied": tidied,
    "file.pruned": pruned,
    "file.mknod": mknod,
}
