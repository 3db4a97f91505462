"""Words that users of Salt type, and what to type in saltern. Imported only when a command line is wrong."""

from __future__ import annotations

from collections.abc import Iterable

# Words such as test=True, which salt-call takes after the SLS names.
KEYWORDS: dict[str, str] = {
    "test": "write --test",
    "pillar": "write --pillar '{key: value}'",
    "pillarenv": "write --pillarenv ENV",
    "saltenv": "write --saltenv ENV",
    "env": "write --saltenv ENV",
    "exclude": "write --exclude NAME",
    "mods": "name the SLS as words: web.nginx web.php",
    "sls": "name the SLS as words: web.nginx web.php",
    "queue": "write --queue SECONDS",
    "concurrent": "runs of one machine wait for each other: write --queue SECONDS",
    "failhard": "write --failhard",
    "state_output": "write --state-output HOW",
    "state_verbose": "write --state-verbose BOOL",
    "sls_id": "write --only-id ID",
    "id_": "write --only-id ID",
    "output": "write --out FORMAT",
    "out": "write --out FORMAT",
}
FLAGS: dict[str, str] = {
    "-l": "problems are always reported; --profile says where the time went",
    "--log-level": "problems are always reported; --profile says where the time went",
    "--log-file": "reports go to stdout, and all else to stderr: redirect them",
    "--local": "leave it out: saltern always works on this machine",
    "--output": "write --out FORMAT",
    "--output-file": "redirect the output: > FILE",
    "--out-file": "redirect the output: > FILE",
    "--output-indent": "leave it out",
    "--out-indent": "leave it out",
    "--force-color": "write --color",
    "--no-colour": "write --no-color",
    "-c": "write --config FILE",
    "--config-dir": "write --config FILE",
    "--retcode-passthrough": "leave it out: the exit code always says how the run went",
    "-m": "put modules in _states and _modules of a file root",
    "--module-dirs": "put modules in _states and _modules of a file root",
    "-G": "leave the target out: saltern works on this machine",
    "-E": "leave the target out: saltern works on this machine",
    "-C": "leave the target out: saltern works on this machine",
    "-L": "leave the target out: saltern works on this machine",
    "-I": "leave the target out: saltern works on this machine",
    "--state_output": "write --state-output HOW",
    "--state-out": "write --state-output HOW",
    "--test=True": "write --test",
    "test=True": "write --test",
}
COMMANDS: dict[str, str] = {
    "state.apply": "saltern apply",
    "state.highstate": "saltern apply",
    "state.sls": "saltern apply SLS",
    "state.sls_id": "saltern apply SLS --only-id ID",
    "state.single": "saltern single FUNCTION name=NAME",
    "state.show_highstate": "saltern show highstate",
    "state.show_lowstate": "saltern show lowstate",
    "state.show_sls": "saltern show sls SLS",
    "state.show_low_sls": "saltern show low-sls SLS",
    "state.show_top": "saltern show top",
    "grains.items": "saltern show grains",
    "grains.ls": "saltern show grains",
    "pillar.items": "saltern show pillar",
    "sys.doc": "saltern docs MODULE",
    "sys.state_doc": "saltern docs MODULE",
}


def of_words(words: Iterable[str]) -> list[str]:
    """Hints for keywords among the SLS names."""
    found = []
    for word in words:
        key, equals, _ = word.partition("=")
        if equals and key in KEYWORDS:
            found.append(f"{word!r} is a word of salt-call: {KEYWORDS[key]}")
        elif equals and key.isidentifier():
            found.append(f"{word!r} is not the name of an SLS: options begin with two dashes")
    return found


def of_flag(flag: str, known: Iterable[str]) -> str:
    """A hint for an unknown flag; empty for a flag that the command has."""
    name = flag.partition("=")[0]
    short = name[:2] if name.startswith("-") and not name.startswith("--") else name
    wanted = FLAGS.get(flag) or FLAGS.get(name) or FLAGS.get(short, "")
    asked = wanted.removeprefix("write ").partition(" ")[0]
    return "" if asked.startswith("--") and wanted.startswith("write ") and asked not in known else wanted


def of_command(name: str) -> str:
    if name in COMMANDS:
        return f"write '{COMMANDS[name]}'"
    if name.count(".") == 1 and name.replace(".", "").replace("_", "").isalnum():
        return f"to call a function, write 'saltern call {name}'"
    return "leave the target out: saltern works on this machine" if name in ("*", "-G", "-E", "-C") else ""
