"""Run saltern on this minion: ``salt '*' saltern.apply web``.

saltern runs in a process and an environment of its own. The state files come from the master through the
minion's file client, each when it is needed; the pillar and the grains are the minion's. What ``apply`` and
``resume`` return has the form of ``state.apply``.

Minion configuration, all of it optional::

    saltern:
      program: /opt/saltern/bin/saltern
      options: {state_dir: /var/lib/saltern}    # any option of saltern
"""

import base64
import contextlib
import json
import os
import re
import shutil
import tempfile
import time

import salt.defaults.exitcodes
import salt.payload
import salt.pillar
import salt.utils.args
import salt.utils.jid
import salt.utils.path
from salt.exceptions import CommandExecutionError, SaltInvocationError

try:
    from salt.utils import secret
except ImportError:  # before Salt 3008
    secret = None

__func_alias__ = {"apply_": "apply"}
__outputter__ = {"apply_": "highstate", "resume": "highstate"}

PROGRAMS = ("/opt/saltern/bin/saltern", "saltern")
OPTIONS = (
    "allow_undefined",
    "default_top",
    "env_order",
    "failhard",
    "jinja_env",
    "jinja_sls_env",
    "lock_saltenv",
    "module_dirs",
    "nodegroups",
    "pillar_merge_lists",
    "pillar_source_merging_strategy",
    "renderer",
    "renderer_blacklist",
    "renderer_whitelist",
    "saltenv",
    "state_aggregate",
    "state_top",
    "state_top_saltenv",
    "top_file_merging_strategy",
    "split",
)
"""Options of the minion that mean the same to saltern."""
FLAGS = frozenset({"failhard", "strict"})
RUNS = {
    "test",
    "pillar",
    "saltenv",
    "pillarenv",
    "exclude",
    "queue",
    "concurrent",
    "timeout",
    "only_id",
    *FLAGS,
}
MODULES = ("modules", "states", "utils", "renderers")
"""Kinds of modules that saltern can use as Salt has synchronised them."""
COMPILE_ERROR, PILLAR_ERROR, REBOOT = 3, 5, 6  # exit codes of saltern
ENDED = (0, 1, 2, 3, 4, 5)
"""Exit codes after which there is nothing to resume."""
KEPT_FOR = 30 * 86400  # seconds


# -- state runs --------------------------------------------------------------------------------------------


def apply_(mods=None, **kwargs):
    """
    Apply state files, or the highstate if none is named; the return has the form of ``state.apply``.

    test, pillar, saltenv, pillarenv, exclude, queue, concurrent: as for ``state.apply``.
    timeout: seconds after which the run is ended; ``saltern.resume`` continues it.
    only_id: only the states with this ID and what they need. strict: unknown arguments are errors.

    CLI Example:

    .. code-block:: bash

        salt '*' saltern.apply web test=True
    """
    return _run_states("apply", _names(mods), kwargs)


def resume(run="last", **kwargs):
    """
    Resume a run that broke, at the first state that is not done.

    CLI Example:

    .. code-block:: bash

        salt '*' saltern.resume
    """
    return _run_states("resume", [run], kwargs)


def _run_states(verb, words, kwargs):
    given = _arguments(
        kwargs, RUNS if verb == "apply" else {"queue", "concurrent", "timeout", "saltenv", "pillar"}
    )
    refused = _wait_for_others(given.get("queue"), given.get("concurrent"))
    if refused:
        __context__["retcode"] = salt.defaults.exitcodes.EX_STATE_COMPILER_ERROR
        return refused
    if __opts__.get("autoload_dynamic_modules", True) and not given.get("test"):
        __salt__["saltutil.sync_all"](refresh=False)
    with _counted_as_state_run(verb):
        code, output, errors = _run([verb, *_flags(verb, given), "--", *words], given)
    return _state_answer(code, output, errors)


def _state_answer(code, output, errors):
    """What ``state.apply`` would return, and its return code."""
    answer = _decoded(output)
    found = answer.get("local") if isinstance(answer, dict) else None
    if code in (COMPILE_ERROR, PILLAR_ERROR) or not isinstance(found, dict):
        exits = salt.defaults.exitcodes
        __context__["retcode"] = (
            exits.EX_PILLAR_FAILURE if code == PILLAR_ERROR else exits.EX_STATE_COMPILER_ERROR
        )
        return found if isinstance(found, list) else [errors.strip() or _end(code)]
    if any(state.get("result") is False for state in found.values()):
        __context__["retcode"] = salt.defaults.exitcodes.EX_STATE_FAILURE
    elif code not in (0, 4, REBOOT):
        __context__["retcode"] = salt.defaults.exitcodes.EX_GENERIC
    for state in found.values():
        state.pop("data", None)  # Salt's outputters would add it to the comment
    return found


# -- questions ---------------------------------------------------------------------------------------------


def plan(mods=None, **kwargs):
    """
    What would be created, changed and deleted; nothing is changed.

    CLI Example:

    .. code-block:: bash

        salt '*' saltern.plan web
    """
    given = _arguments(kwargs, {"pillar", "saltenv", "pillarenv", "exclude", "only_id", "timeout", *FLAGS})
    return _ask(["plan", *_flags("plan", given), "--", *_names(mods)], given, fine=(0, 2, 4))


def check(mods=None, **kwargs):
    """
    Every problem of the state files, with its location; nothing is run.

    CLI Example:

    .. code-block:: bash

        salt '*' saltern.check web
    """
    given = _arguments(kwargs, {"pillar", "saltenv", "pillarenv", "timeout"})
    return _ask(["check", *_flags("check", given), "--", *_names(mods)], given, fine=(0, 1, 2, 3))


def show(what, *words, **kwargs):
    """
    What saltern would apply: highstate, sls, lowstate, low-sls, order, top, pillar, grains, or a run.

    CLI Example:

    .. code-block:: bash

        salt '*' saltern.show lowstate
        salt '*' saltern.show run last
    """
    given = _arguments(kwargs, {"pillar", "saltenv", "pillarenv", "timeout"})
    return _ask(["show", *_flags("show", given), "--", what, *map(str, words)], given)


def runs():
    """
    The runs of saltern on this minion, the newest first.

    CLI Example:

    .. code-block:: bash

        salt '*' saltern.runs
    """
    return _ask(["runs", "--out=json"], {})


def version():
    """
    The version of saltern on this minion.

    CLI Example:

    .. code-block:: bash

        salt '*' saltern.version
    """
    return __salt__["cmd.run_stdout"]([_program(), "--version"], python_shell=False).split()[-1]


# -- chains ------------------------------------------------------------------------------------------------


def chain_run(path, **kwargs):
    """
    Run what an action chain has for this minion. ``path``: a file of the minion, or ``salt://…``.

    token: a run started before with the same token is shown and not run again.

    CLI Example:

    .. code-block:: bash

        salt '*' saltern.chain_run salt://chains/patch.yaml token=2026-11
    """
    given = _arguments(kwargs, {"token", "pillar", "saltenv", "timeout"})
    if str(path).startswith("salt://"):
        source, path = path, __salt__["cp.cache_file"](path, saltenv=given.get("saltenv") or "base")
        if not path:
            raise CommandExecutionError(f"the master has no file {source}")
    token = [f"--token={given['token']}"] if given.get("token") else []
    return _chain("run", [path], given, token)


def chain_status(run=None):
    """
    The runs of action chains on this minion; with the number of one, each action of it.

    CLI Example:

    .. code-block:: bash

        salt '*' saltern.chain_status
    """
    return _chain("status", [run] if run else [], {})


def chain_resume(run="last", **kwargs):
    """
    Resume a run of a chain that broke.

    CLI Example:

    .. code-block:: bash

        salt '*' saltern.chain_resume
    """
    return _chain("resume", [run], _arguments(kwargs, {"pillar", "saltenv", "timeout"}))


def chain_retry(run="last", **kwargs):
    """
    Run again what failed in a run of a chain, and what has not run.

    CLI Example:

    .. code-block:: bash

        salt '*' saltern.chain_retry
    """
    return _chain("retry", [run], _arguments(kwargs, {"pillar", "saltenv", "timeout"}))


def chain_cancel(run="last", now=False, reason=""):
    """
    End a run of a chain before its next action; ``now=True`` also stops what runs.

    CLI Example:

    .. code-block:: bash

        salt '*' saltern.chain_cancel reason='wrong window'
    """
    words = [*(["--now"] if now else []), *([f"--reason={reason}"] if reason else [])]
    return _chain("cancel", [run], {}, words)


def chain_pause(run="last", reason=""):
    """
    Pause a run of a chain before its next action.

    CLI Example:

    .. code-block:: bash

        salt '*' saltern.chain_pause
    """
    return _chain("pause", [run], {}, [f"--reason={reason}"] if reason else [])


def _chain(verb, words, given, flags=()):
    return _ask(["chain", *_flags("chain", given), *flags, "--", verb, *words], given, fine=(0, 2, 4, REBOOT))


# -- the command -------------------------------------------------------------------------------------------


def _ask(words, given, fine=(0, 4)):
    """The decoded answer of a command; its errors, if it has none, raise."""
    code, output, errors = _run(words, given)
    answer = _decoded(output)
    if answer is None or code not in fine:
        __context__["retcode"] = code or salt.defaults.exitcodes.EX_GENERIC
        if answer is None:
            raise CommandExecutionError(errors.strip() or output.strip() or _end(code))
    elif code == 2:
        __context__["retcode"] = salt.defaults.exitcodes.EX_STATE_FAILURE
    return answer.get("local", answer) if isinstance(answer, dict) else answer


def _end(code):
    """How the command ended, if it has said nothing."""
    if code < 0:
        return f"saltern was ended by signal {-code}; saltern.resume continues the run"
    return f"saltern ended with exit code {code}"


def _decoded(output):
    try:
        return json.loads(output)
    except ValueError:
        return None


def _names(mods):
    if isinstance(mods, str):
        mods = mods.split(",")
    return [str(name).strip() for name in mods or () if str(name).strip()]


def _arguments(kwargs, known):
    """The arguments without Salt's own; an unknown one is refused."""
    given = {name: value for name, value in kwargs.items() if not name.startswith("__")}
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise SaltInvocationError(
            f"unknown argument {', '.join(unknown)}; known are {', '.join(sorted(known))}"
        )
    return given


def _flags(verb, given):
    """The options of the command line."""
    found = ["--out=json"]
    if verb == "apply" and salt.utils.args.test_mode(**{"test": __opts__.get("test"), **given}):
        found.append("--test")
    found += [f"--{name}" for name in sorted(FLAGS) if given.get(name)]
    found += [f"--{name}={given[name]}" for name in ("saltenv", "pillarenv") if given.get(name)]
    if given.get("only_id"):
        found.append(f"--only-id={given['only_id']}")
    if given.get("exclude"):
        found.append(f"--exclude={json.dumps(given['exclude'])}")
    return found


def _program():
    options = __opts__.get("saltern") or {}
    for name in [options["program"]] if options.get("program") else PROGRAMS:
        found = salt.utils.path.which(name)
        if found:
            return found
    raise CommandExecutionError(
        "saltern is not installed on this minion; install it with the state saltern.installed "
        "(salt ID state.single saltern.installed /opt/saltern)"
    )


def _run(words, given):
    """Run a command with a view of the master's files; its exit code, output and errors."""
    program = _program()
    kept = _kept_folders() if {"resume", "retry"} & set(words) else []
    folder = _new_folder()
    words = [*words[:1], f"--config={_write_configuration(folder)}", *words[1:]]
    if given.get("pillar"):
        words.insert(1, f"--pillar={_write(folder, 'pillar.yaml', given['pillar'])}")
    command = __utils__["saltern_process.start"]([program, *words], folder, kept, given.get("timeout"))
    for asked, question, reply in command.questions():
        reply(_answer(asked, question))
    code, *texts = command.result()
    if code in ENDED:
        _remove(folder, *(kept if len(kept) == 1 else ()))
    return code, *(_with_master_names(text, (folder, *kept)) for text in texts)


def _with_master_names(text, folders):
    """A text in which the files of the master have the names that people know them by."""
    for folder in folders:
        text = re.sub("/?" + re.escape(os.path.join(folder, "roots")[1:]) + r"/[^/\"]+/", "salt://", text)
    return text


# The folder of a run lasts as long as the run may be resumed: its journal names the files in it.


def _new_folder():
    parent = os.path.join(__opts__["cachedir"], "saltern")
    os.makedirs(parent, 0o700, exist_ok=True)
    return tempfile.mkdtemp(prefix=time.strftime("%Y%m%d%H%M%S-"), dir=parent)


def _kept_folders():
    """The folders of runs that broke and of those that reboot; very old ones are removed."""
    parent = os.path.join(__opts__["cachedir"], "saltern")
    found = [entry.path for entry in os.scandir(parent)] if os.path.isdir(parent) else []
    found = [path for path in found if not __utils__["saltern_process.is_served"](path)]
    old = [path for path in found if os.stat(path).st_mtime < time.time() - KEPT_FOR]
    _remove(*old)
    return sorted(set(found) - set(old))


def _remove(*folders):
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _write(folder, name, data):
    path = os.path.join(folder, name)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump(data, file, default=str)
    return path


def _write_configuration(folder):
    """The configuration of this run: what the minion has, and where its files and its pillar come from."""
    listing = {env: _listing(env) for env in __salt__["cp.envs"]()} or {"base": ([], [], {})}
    found = {name: __opts__[name] for name in OPTIONS if __opts__.get(name) not in (None, "", [], {})}
    found |= (__opts__.get("saltern") or {}).get("options") or {}
    found |= {
        "id": __opts__["id"],
        "file_roots": __utils__["saltern_tree.make"](folder, listing),
        "file_tree": folder,
        "agent_socket": os.path.join(folder, "socket"),
        "extension_modules": _link_synced_modules(folder),
        "grains_file": _write(folder, "grains.yaml", dict(__grains__.value())),
    }
    return _write(folder, "saltern.yaml", found)


def _listing(environment):
    """What an environment has, without modules: those come as Salt has synchronised them."""
    functions = ("cp.list_master", "cp.list_master_dirs", "cp.list_master_symlinks")
    files, directories, links = (__salt__[name](saltenv=environment) or () for name in functions)
    own = tuple(f"_{kind}/" for kind in (*MODULES, "grains", "pillar", "tops"))
    files = [path for path in files if not path.startswith(own)]
    return files, [path for path in directories if not f"{path}/".startswith(own)], dict(links)


def _link_synced_modules(folder):
    """The directory of synchronised modules, without grains: those of the minion are given as they are."""
    found = os.path.join(folder, "modules")
    os.mkdir(found, 0o700)
    for kind in MODULES:
        source = os.path.join(__opts__["extension_modules"], kind)
        if os.path.isdir(source):
            os.symlink(source, os.path.join(found, kind))
    return found


# -- what saltern asks while it runs -----------------------------------------------------------------------


def _answer(folder, question):
    try:
        return {"file": _give_file, "pillar": _give_pillar}[question["ask"]](folder, question)
    except Exception as problem:  # whatever the file client raises is the answer
        return {"problem": str(problem) or type(problem).__name__, "fix": "look at the log of the minion"}


def _give_file(folder, question):
    environment, path = __utils__["saltern_tree.environment_of"](folder, question["path"])
    cached = __salt__["cp.cache_file"](f"salt://{path}", saltenv=environment)
    if not cached:
        listed = __utils__["saltern_tree.is_listed"](folder, question["path"])
        return {"problem": "the master does not have it any more", "fix": "run it again"} if listed else {}
    __utils__["saltern_tree.place"](folder, question["path"], cached)
    return {}


def _give_pillar(_folder, question):
    overrides = salt.payload.loads(base64.b64decode(question["overrides"]))
    found = _plain(
        salt.pillar.get_pillar(
            __opts__,
            dict(__grains__.value()),
            __opts__["id"],
            pillar_override=overrides or None,
            pillarenv=question.get("environment") or __opts__.get("pillarenv"),
        ).compile_pillar()
    )
    problems = found.get("_errors")
    if problems:
        return {"problem": "; ".join(map(str, problems)), "fix": "correct it on the master; no state was run"}
    return {"pillar": base64.b64encode(salt.payload.dumps(found)).decode()}


def _plain(pillar):
    """The pillar without the masks that Salt 3008 puts around its values."""
    expose = getattr(secret, "expose", None)
    return expose(pillar) if expose else pillar


# -- one run at a time -------------------------------------------------------------------------------------


def _wait_for_others(queue, concurrent):
    """What Salt answers while states are applied on this minion; with ``queue`` wait until none are."""
    if concurrent:
        return []
    if queue is None:
        queue = __salt__["config.option"]("state_queue", False)
    while True:
        others = __salt__["state.running"]()
        if not others or not queue:
            return others
        time.sleep(0.2)


@contextlib.contextmanager
def _counted_as_state_run(verb):
    """While it lasts, Salt's own state functions see a state run of this process, and wait or refuse."""
    jid = str(__opts__.get("jid") or salt.utils.jid.gen_jid(__opts__))
    path = os.path.join(__opts__["cachedir"], "proc", f"saltern-{os.getpid()}")
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    data = {
        "pid": os.getpid(),
        "jid": jid,
        "fun": f"state.saltern_{verb}",
        "arg": [],
        "tgt": "",
        "tgt_type": "glob",
    }
    with open(path, "wb") as file:
        file.write(salt.payload.dumps(data))
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)
