"""Random cases for states that change the text of files."""

from __future__ import annotations

from tests.compat.chance import Case, Chance, Maker

LINES = (
    "a",
    "b",
    "foo",
    "bar",
    "foo bar",
    "# foo",
    "#foo",
    "foo=1",
    "foo = 1",
    "Port 22",
    "bar: 2",
    "x.y",
    "",
)
ENDS = ("\n", "\n", "\n", "\r\n")


def line(chance: Chance) -> Case:
    mode = chance.choice(("ensure", "replace", "delete", "insert", "Replace"))
    args = {"mode": mode, "content": chance.choice((*LINES[:-1], "new", "bar=3"))}
    if mode in ("ensure", "insert"):
        places = ("^b$", "Port", "x.y", "zzz")
        sides = ("before", "after") if chance.random() < 0.2 else (chance.choice(("before", "after")),)
        args |= {side: chance.choice(places) for side in sides}
        args["content"] = chance.choice(("new", "other line"))
    else:
        args["match"] = chance.choice(("Port", "x.y", "zzz", "bar:"))
    text = "".join(f"{one}\n" for one in chance.sample(LINES[:-1], chance.randrange(1, 8)))
    options = chance.some(
        indent=(True, False),
        show_changes=(False,),
        backup=(True,),
        quiet=(False,),
        create=(True,) if mode in ("ensure", "insert") else (False,),
    )
    return {"args": args | options, "files": {"a": text} if chance.random() < 0.9 else {}}


def replace(chance: Chance) -> Case:
    patterns = (
        "foo",
        "^foo",
        "fo+",
        "bar$",
        r"(foo)=(\d)",
        r"^#\s*(Port)",
        "zzz",
        "x.y",
        "a|b",
        "foo.*",
        "FOO",
        r"a\nb",
        "b.*bar",
    )
    options = chance.some(
        count=(0, 1, 2),
        append_if_not_found=(True,),
        prepend_if_not_found=(True,),
        not_found_content=("absent", "x\ny"),
        backup=(False, ".orig", ""),
        show_changes=(False,),
        ignore_if_missing=(True,),
        backslash_literal=(True,),
        flags=(["IGNORECASE", "MULTILINE"], ["MULTILINE", "DOTALL"], 8, "MULTILINE", 10),
        bufsize=("file", 1, 1024),
    )
    repl = chance.choice(("new", r"\g<0>!", "", "bar=9", r"\1", r"a\\b", "x\ny"))
    if options.get("prepend_if_not_found"):
        options.pop("append_if_not_found", None)
    args = {"pattern": chance.choice(patterns), "repl": repl}
    files = {"a": chance.lines(LINES, end=chance.choice(ENDS))} if chance.random() < 0.9 else {}
    return {"args": args | options, "files": files}


def comment(chance: Chance) -> Case:
    patterns = ("^foo", "^bar", "^Port", "^foo=1", "^(foo|bar).*", "^#foo", "^x.y", "^foo$", "^zzz")
    options = chance.some(char=("//", ";", "# "), backup=(False, ".orig"), ignore_missing=(True,))
    lines = tuple(line for line in LINES if not line.startswith("# "))
    text = chance.choice(("foo\nbar\nPort 22\nx.y\n", chance.lines(lines)))
    regex = chance.choice(patterns)
    if regex.endswith("$"):  # Salt looks without it, then with it, and fails
        options.pop("ignore_missing", None)
    return {"args": {"regex": regex} | options, "files": {"a": text}}


def uncomment(chance: Chance) -> Case:
    char = chance.choice(("#", "#", "//", ";"))
    text = "".join(
        chance.choice((char, f"{char} ", "")) + f"{word}\n" for word in ("foo", "bar", "Port 22", "foo")
    )
    args = {"regex": chance.choice(("foo", "^foo", "bar", "Port", "^foo$", "zzz", "fo.*"))}
    args |= {"char": char} if char != "#" else {}
    return {"args": args | chance.some(backup=(False, ".orig")), "files": {"a": text}}


def blockreplace(chance: Chance) -> Case:
    start, end = chance.choice(("# start", "#-- s --")), chance.choice(("# end", "#-- e --"))
    inner, rest = (
        chance.choice(("", "old\n", "x\ny\n", f"{start}\nq\n")),
        chance.choice(("", "\n", "\nrest\n")),
    )
    block = f"{chance.lines(LINES)}{start}\n{inner}{end}{rest}"
    options = chance.some(append_newline=(True, False, None), backup=(False, ".old"), show_changes=(False,))
    where = {"append_if_not_found": True, "prepend_if_not_found": True, "insert_before_match": "foo"}
    place = chance.choice((*where, "insert_after_match"))
    options |= {place: where.get(place, "^b")}
    args: Case = {"marker_start": start, "marker_end": end}
    if chance.random() < 0.2:
        args |= {"source": chance.choice(("salt://lines", "salt://named.j2")), "context": {"name": "N"}}
    else:
        args |= {"content": chance.choice(("new", "x\ny", "x\ny\n", ""))}
    text = chance.choice((block, block, chance.lines(LINES), chance.lines(LINES, end="\r\n")))
    return {"args": args | options, "files": {"a": text} if chance.random() < 0.95 else {}}


def keyvalue(chance: Chance) -> Case:
    keys = chance.sample(("foo", "bar", "Port", "new"), chance.randrange(1, 3))
    args: Case = {"key_values": {key: chance.choice(("1", "2", 22, "x y")) for key in keys}}
    if chance.random() < 0.2:
        args = {"key": keys[0], "value": chance.choice(("1", "x y"))}
    options = chance.some(
        append_if_not_found=(True,),
        prepend_if_not_found=(True,),
        key_ignore_case=(True,),
        value_ignore_case=(True,),
        uncomment=("#", "# "),
    )
    if options.get("prepend_if_not_found"):
        options.pop("append_if_not_found", None)
    options |= {"separator": chance.choice(("=", " ", ": ", " = "))}
    adds = options.get("append_if_not_found") or options.get("prepend_if_not_found")
    options |= {"count": 0} if not adds and chance.random() < 0.2 else {}
    files = {"a": chance.lines(LINES)} if chance.random() < 0.8 else {}
    last = chance.choice(
        ({"create_if_missing": True}, {"create_if_missing": True}, {"ignore_if_missing": True}, {})
    )
    return {"args": args | options | last, "files": files}


def append(chance: Chance) -> Case:
    texts = ("new", "foo", "x\ny\nz", ["foo", "new"], ["a", "b"], 5, "a\n\nb", "foo=1\n\n", "Port 22")
    options: Case = {"text": chance.choice(texts)}
    if chance.random() < 0.3:
        sources = ("salt://lines", "salt://named.j2")
        one: Case = {"source": chance.choice(sources)}
        options = one if chance.random() < 0.5 else {"sources": list(sources)}
        options |= chance.some(context=({"name": "N"},), defaults=({"name": "D"},))
    options |= chance.some(makedirs=(True,), show_changes=(False,))
    name = chance.choice(("WORK/a", "WORK/a", "WORK/a", "WORK/x/new"))
    text = chance.lines(LINES, end=chance.choice(ENDS))
    text = chance.choice((text, text, text, "no end", ""))
    return {"name": name, "args": options, "files": {"a": text} if chance.random() < 0.9 else {}}


def prepend(chance: Chance) -> Case:
    case = append(chance)
    return case | {"args": case["args"] | chance.some(header=(True,))}


def serialize(chance: Chance) -> Case:
    data = (
        {"a": 1, "b": {"c": [1, "x"]}},
        {"a": "é", "n": None, "t": True},
        {"z": 1, "a": 2},
        {"s": {"k": "v"}},
        {"l": [1, 2]},
    )
    form, old = chance.choice((("json", '{"a": 1, "l": [3]}'), ("yaml", "a: 1\nb:\n  d: 2\n")))
    options = chance.some(
        merge_if_exists=(True,),
        mode=("0600", "640"),
        show_changes=(False,),
        create=(False,),
        makedirs=(True,),
        backup=("minion", False),
        encoding=("utf-8", "latin-1"),
    )
    if options.get("merge_if_exists"):  # which Salt reads as UTF-8
        options.pop("encoding", None)
    if form == "json":
        options |= chance.some(serializer_opts=([{"indent": 4}], [{"sort_keys": False}, {"indent": 1}]))
    if form == "yaml":
        options |= chance.some(
            serializer_opts=([{"default_flow_style": True}], [{"explicit_start": True}, {"indent": 4}])
        )
    args = {"dataset": chance.choice(data), "serializer": form}
    name = chance.choice(("WORK/a", "WORK/a", "WORK/x/a"))
    return {"name": name, "args": args | options, "files": {"a": old} if chance.random() < 0.8 else {}}


PATCHES = {
    "plain": "--- a\n+++ a\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n",
    "tree": "--- old/t/a\n+++ new/t/a\n@@ -1 +1 @@\n-1\n+11\n"
    "--- old/f\n+++ new/f\n@@ -1 +1 @@\n-file\n+FILE\n",
    "broken": "no patch at all\n",
    "named": "--- a\n+++ a\n@@ -1,3 +1,3 @@\n one\n-two\n+{{ name }}\n three\n",
}


def patch(chance: Chance) -> Case:
    source = chance.choice(("plain", "tree", "broken", "named", "missing"))
    options = chance.some(
        strip=(0, 1),
        options=("", "--ignore-whitespace"),
        template=("jinja",),
    )
    options |= {"context": {"name": "N"}} if options.get("template") else {}
    if source == "tree":
        options["strip"] = chance.choice((1, 1, 0))
    name = "WORK" if source == "tree" else chance.choice(("WORK/a", "WORK/a", "WORK/none"))
    text = chance.choice(
        ("one\ntwo\nthree\n", "one\nTWO\nthree\n", "one\nzwei\nthree\n", "one\ntwo\nthree\nfour\n")
    )
    files = {"a": text} | chance.choice(({"f": "file\n", "t/a": "1\n"}, {"f": "FILE\n", "t/a": "11\n"}))
    return {"name": name, "args": {"source": f"salt://patches/{source}"} | options, "files": files}


def decode(chance: Chance) -> Case:
    args = {"encoded_data": chance.choice(("aGVsbG8=", "aGVs\nbG8=\n", "/wA=")), "encoding_type": "base64"}
    return {
        "args": args | chance.some(checksum=("md5", "sha256")),
        "files": {"a": "hello"} if chance.random() < 0.5 else {},
    }


TEXTS: dict[str, Maker] = {
    "file.line": line,
    "file.replace": replace,
    "file.comment": comment,
    "file.uncomment": uncomment,
    "file.blockreplace": blockreplace,
    "file.keyvalue": keyvalue,
    "file.append": append,
    "file.prepend": prepend,
    "file.serialize": serialize,
    "file.patch": patch,
    "file.decode": decode,
}
