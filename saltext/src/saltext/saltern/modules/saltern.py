"""Run saltern on this minion: ``salt '*' saltern.apply web``.

saltern runs in its own process and environment. The state files come from the master through the minion's
file client, each when it is needed; the pillar and the grains are the minion's. ``apply`` and ``resume``
return the same structure as ``state.apply``.

Minion configuration, all of it optional::

    saltern:
      program: /opt/saltern/bin/saltern
      options: {state_dir: /var/lib/saltern}    # any option of saltern
"""

import contextlib
import fcntl
import importlib
import json
import os
import random
import time

import salt.defaults.exitcodes
import salt.payload
import salt.utils.args
import salt.utils.jid
import salt.utils.path
from salt.exceptions import CommandExecutionError, SaltInvocationError

__func_alias__ = {"apply_": "apply"}
__outputter__ = {"apply_": "highstate", "resume": "highstate"}

PROGRAMS = ("/opt/saltern/bin/saltern", "saltern")
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
    "state_events",
    "sync_mods",
    *FLAGS,
}
COMPILE_ERROR, PILLAR_ERROR, REBOOT = 3, 5, 6  # exit codes of saltern
FOLDER = "@folder"
"""Stands for the folder of a run in the arguments of its command."""
CHAIN_ENDS = (
    "succeeded",
    "succeeded with skips",
    "failed",
    "cancelled",
    "expired",
    "indeterminate",
    "damaged",
)
BARRIERS = ("reboot", "agent")
"""Kinds of actions whose result is known after the machine, or saltern, has started again."""
CHAIN_WAITS = ("paused", "waiting")
"""Statuses of a leg that waits for an operator."""
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 5.0  # seconds between two queries about a leg that is being driven


# -- state runs --------------------------------------------------------------------------------------------


def apply_(mods=None, **kwargs):
    """
    Apply state files, or the highstate if none is named; the return has the form of ``state.apply``.

    test, pillar, saltenv, pillarenv, exclude, queue, concurrent: as for ``state.apply``.
    state_events: an event for each state that has finished, as for ``state.apply``.
    sync_mods: kinds of modules to synchronise first, such as ``states,modules``; the highstate has all.
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

        This is safe at any time: with nothing to resume it does nothing.

    CLI Example:

    .. code-block:: bash

    salt '*' saltern.resume
    """
    return _run_states("resume", [run], kwargs)


def _run_states(verb, words, kwargs):
    given = _arguments(
        kwargs, RUNS if verb == "apply" else {"queue", "concurrent", "timeout", "saltenv", "pillar"}
    )
    queue = given.get("queue")
    queue = __salt__["config.option"]("state_queue", False) if queue is None else queue
    with _counted_as_state_run(verb, queue=queue, concurrent=given.get("concurrent")) as refused:
        if refused:
            __context__["retcode"] = salt.defaults.exitcodes.EX_STATE_COMPILER_ERROR
            return refused
        _synchronise(verb, words, given)
        code, output, errors = _run([verb, *_flags(verb, given), "--", *words], given)
    return _state_answer(code, output, errors)


def _synchronise(verb, names, given):
    """Synchronise modules as ``state.apply`` does: all for the highstate, those that are asked for otherwise.

    It takes longer than most runs.
    """
    if verb != "apply" or given.get("test"):
        return
    if not names:
        if __opts__.get("autoload_dynamic_modules", True):
            __salt__["saltutil.sync_all"](refresh=False)
        return
    for kind in _kinds(given.get("sync_mods")):
        function = f"saltutil.sync_{kind}"
        if function not in __salt__:
            raise SaltInvocationError(f"sync_mods: Salt has no modules of the kind {kind!r}")
        __salt__[function](saltenv=given.get("saltenv") or "base", refresh=False)


def _kinds(given):
    """The kinds of modules that ``sync_mods`` names: a list, or a text with commas; true means all."""
    kinds = ["all"] if given is True else _names(given or [])
    return ["all"] if "all" in kinds else kinds


def _state_answer(code, output, errors):
    """The return of ``state.apply`` for this result, and its return code."""
    if code == 0 and not output.strip():  # there was nothing to resume
        return {}
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


def chain_start(run, text, inputs=None, paused=False, **kwargs):
    """
    Run the actions of a chain for this minion to their end; ``saltern chain run --via salt`` calls this.

    run: the name of the run; a name that is given twice is run once. text: the chain file. inputs: its
    inputs. A run that broke is resumed, with ``paused=True`` also one that waits for an operator; one that is
    over is shown. Progress is sent to the event bus of the master as ``saltern/chain/RUN/ID``.

    CLI Example:

    .. code-block:: bash

        salt '*' saltern.chain_start patch-1 '{chain: patch, actions: [{id: a, command: uptime}]}'
    """
    given = _arguments(kwargs, {"saltenv", "timeout"})
    rests = CHAIN_ENDS if paused else (*CHAIN_ENDS, *CHAIN_WAITS)
    known = next((leg for leg in _legs() if leg.get("token") == run), None)
    if known and known["status"] not in rests:  # its journal names files of the job that began it
        return _to_its_end(known, given, run, rests)
    files = {"chain.yaml": text, "inputs.yaml": json.dumps(inputs or {})}
    flags = [f"--token={run}", f"--inputs={FOLDER}/inputs.yaml", "--", "run", f"{FOLDER}/chain.yaml"]
    return _drive_chain(flags, given, run, files, rests)


def chain_continue(**kwargs):
    """
    Resume the action chains that a reboot or a restart interrupted; return {run: its result}.

    It is safe at any time: with nothing to resume it does nothing, and it waits for a chain that is running.

    CLI Example:

    .. code-block:: bash

        salt '*' saltern.chain_continue
    """
    given = _arguments(kwargs, {"saltenv", "timeout"})
    found = {}
    for leg in _open_legs():
        name = leg.get("token") or leg["run"]
        try:
            found[name] = _to_its_end(leg, given, name)
        except CommandExecutionError as problem:  # the next one can still be continued
            found[name] = f"{problem}"
            __context__["retcode"] = salt.defaults.exitcodes.EX_GENERIC
    return found


def chain_run(path, **kwargs):
    """
    Run the actions of a chain for this minion. ``path``: a file on the minion, or ``salt://…``.

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
    with _counted_as_state_run("chain"):
        return _chain("run", [path], given, token)


def chain_status(run=None):
    """
    The runs of action chains on this minion; with the name of a run, each of its actions.

    CLI Example:

    .. code-block:: bash

        salt '*' saltern.chain_status
    """
    return _chain("status", [_leg_name(run)] if run else [], {})


def chain_resume(run="last", **kwargs):
    """
    Resume a run of a chain that broke.

    CLI Example:

    .. code-block:: bash

        salt '*' saltern.chain_resume
    """
    given = _arguments(kwargs, {"pillar", "saltenv", "timeout"})
    with _counted_as_state_run("chain"):
        return _chain("resume", [_leg_name(run)], {**given, "serves": True})


def chain_retry(run="last", **kwargs):
    """
    Run again the actions of a run that failed, and those that have not run.

    CLI Example:

    .. code-block:: bash

        salt '*' saltern.chain_retry
    """
    given = {**_arguments(kwargs, {"pillar", "saltenv", "timeout"}), "serves": True}
    if run == "last":
        with _counted_as_state_run("chain"):
            return _chain("retry", [run], given)
    return _drive_chain(["--", "retry", _leg_name(run)], given, run)


def chain_cancel(run="last", now=False, reason=""):
    """
    End a run of a chain before its next action; ``now=True`` also stops the running action.

    CLI Example:

    .. code-block:: bash

        salt '*' saltern.chain_cancel reason='wrong window'
    """
    return _order_chain("cancel", [run], reason, ["--now"] if now else [])


def chain_pause(run="last", reason=""):
    """
    Pause a run of a chain before its next action.

    CLI Example:

    .. code-block:: bash

        salt '*' saltern.chain_pause
    """
    return _order_chain("pause", [run], reason)


def chain_skip(action, run="last", reason=""):
    """
    Skip an action of a run; ``chain_resume`` continues after it.

    CLI Example:

    .. code-block:: bash

        salt web1 saltern.chain_skip reboot
    """
    return _order_chain("skip", [run, action], reason)


def chain_done(action, reason, run="last"):
    """
    Mark an action of a run as done, after you have checked that it is.

    CLI Example:

    .. code-block:: bash

        salt web1 saltern.chain_done upgrade reason='done by hand'
    """
    return _order_chain("done", [run, action], reason)


def chain_release(run="last", reason=""):
    """
    Allow a run that broke repeatedly to be retried.

    CLI Example:

    .. code-block:: bash

        salt web1 saltern.chain_release
    """
    return _order_chain("release", [run], reason)


def _chain(verb, words, given, flags=()):
    return _ask(["chain", *_flags("chain", given), *flags, "--", verb, *words], given, fine=(0, 2, 4, REBOOT))


def _order_chain(verb, words, reason, flags=()):
    """Give an order to a leg; return the leg afterwards, which another process may be driving."""
    words = [_leg_name(words[0]), *words[1:]]
    said = [f"--reason={reason}"] if reason else []
    code, output, errors = _run(["chain", "--out=json", *flags, *said, "--", verb, *words], {})
    if code not in (0, 2, 4, REBOOT):
        raise CommandExecutionError(errors.strip() or output.strip() or _end(code))
    return _decoded(output) or _chain("status", words[:1], {})


def _legs():
    found = _chain("status", [], {})
    return found if isinstance(found, list) else []


def _open_legs():
    """The legs to continue, the oldest first."""
    return [leg for leg in reversed(_legs()) if leg["status"] not in (*CHAIN_ENDS, *CHAIN_WAITS)]


def _leg_name(run):
    """The name of the leg of a run on this minion; runs of a master are found by their token."""
    if run == "last":
        return run
    return next((leg["run"] for leg in _legs() if leg.get("token") == run), run)


def _drive_chain(words, given, run, files=None, rests=(*CHAIN_ENDS, *CHAIN_WAITS)):
    """Run a command that drives a leg, and stay with the leg to its end."""
    with _counted_as_state_run("chain"):
        leg = _report_chain(words, given, run, files)
    return leg if leg["status"] in rests else _to_its_end(leg, given, run, rests)


def _to_its_end(leg, given, run, rests=(*CHAIN_ENDS, *CHAIN_WAITS)):
    """Wait for a leg that another process is driving; resume it unless its status is one of ``rests``.

    Several jobs may call this at once: one of them does it, and answers the questions of the process.
    """
    serving = {**given, "serves": True}
    with _counted_as_state_run("chain"), _one_at_a_time():
        leg = _chain("status", [leg["run"]], {})
        leg = _at_rest(leg, _minion().serve, lambda run: _chain("status", [run], serving))
        if leg["status"] not in rests:
            leg = _report_chain(["--", "resume", leg["run"]], serving, run)
    _send(run, {"leg": leg})
    return leg


def _at_rest(leg, wait, ask):
    """The leg when no process drives it any more. Each query starts a process, so they become less
    frequent.
    """
    pause = FIRST_PAUSE
    while leg["at_work"]:
        wait(pause)
        pause = min(pause * 1.5, LONGEST_PAUSE)
        leg = ask(leg["run"])
    return leg


@contextlib.contextmanager
def _one_at_a_time():
    """Hold a lock so that no other process of the minion resumes chains."""
    folder = os.path.join(__opts__["cachedir"], "saltern")
    os.makedirs(folder, 0o700, exist_ok=True)
    with open(os.path.join(folder, "chains.lock"), "a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _report_chain(words, given, run, files=None):
    """Run a command that drives a leg; send an event to the bus when an action begins and when it ends."""

    def report(line):
        row = _decoded(line) or {}
        waits = row.get("kind") in BARRIERS and row.get("event") == "action-finished"
        if str(row.get("event")).startswith("action-") and not waits:
            _send(run, {"action": _without(row, "output")})

    command = ["chain", "--out=jsonl", *_flags("chain", given)[1:], *words]
    code, output, errors = _run(command, given, files, report)
    rows = [_decoded(line) or {} for line in output.splitlines()]
    leg = next((row for row in reversed(rows) if row.get("event") == "chain"), None)
    if leg is None:
        raise CommandExecutionError(errors.strip() or output.strip() or _end(code))
    steps = [_without(row, "event") for row in rows if row.get("event") == "action"]
    leg = {**_without(leg, "event"), "steps": steps}
    if code == 2:
        __context__["retcode"] = salt.defaults.exitcodes.EX_STATE_FAILURE
    if leg["status"] in CHAIN_ENDS:
        _send(run, {"leg": leg})
    return leg


def _without(row, name):
    return {key: value for key, value in row.items() if key != name}


def _send(run, data):
    """Send the progress of a run to the event bus of the master; a master that is away gets it later."""
    with contextlib.suppress(Exception):
        __salt__["event.send"](f"saltern/chain/{run}/{__opts__['id']}", {"run": run, **data})


# -- the command -------------------------------------------------------------------------------------------


def _ask(words, given, fine=(0, 4)):
    """The decoded answer of a command; without an answer, raise its errors."""
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
    """How the command ended, for a command without output."""
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
    """The arguments without Salt's own, and the number of the job; unknown arguments are refused."""
    given = {name: value for name, value in kwargs.items() if not name.startswith("__")}
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise SaltInvocationError(
            f"unknown argument {', '.join(unknown)}; known are {', '.join(sorted(known))}"
        )
    return {**given, "jid": kwargs.get("__pub_jid") or __opts__.get("jid")}


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


def _run(words, given, files=None, on_line=None):
    """Run a command with a view of the master's files; its exit code, output and errors."""
    return _minion().run([_program(), *words], given, files or {}, on_line)


def _minion():
    return _utility("saltern_command.minion")(__opts__, __grains__, _utility, __salt__)


def _utility(name):
    """A utility of the extension, synchronised by Salt or installed by pip.

    Salt itself does not load utilities from packages.
    """
    try:
        return __utils__[name]
    except KeyError:
        module, _, function = name.partition(".")
        return getattr(importlib.import_module(f"saltext.saltern.utils.{module}"), function)


# -- one run at a time -------------------------------------------------------------------------------------


@contextlib.contextmanager
def _counted_as_state_run(verb, queue=True, concurrent=False):
    """Make Salt's own state functions see a state run of this process, so that they wait or refuse.

    Both sides write their own mark first and then look for others, so that the two never run at once. Yields
    Salt's answer while other states are being applied here; with ``queue`` it waits until none are.
    """
    if concurrent:
        yield []
        return
    while True:
        mark = _make_mark(verb)
        others = __salt__["state.running"]()
        if verb == "chain":  # saltern itself runs one chain at a time
            others = [one for one in others if "state.saltern_chain" not in one]
        if not others or not queue:
            break
        _remove_mark(mark)  # otherwise the other one would wait for us
        time.sleep(random.uniform(0.1, 0.4))
    try:
        yield others
    finally:
        _remove_mark(mark)


def _make_mark(verb):
    path = os.path.join(__opts__["cachedir"], "proc", f"saltern-{os.getpid()}")
    data = {
        "pid": os.getpid(),
        "jid": str(__opts__.get("jid") or salt.utils.jid.gen_jid(__opts__)),
        "fun": f"state.saltern_{verb}",
        "arg": [],
        "tgt": "",
        "tgt_type": "glob",
    }
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    with open(f"{path}.part", "wb") as file:
        file.write(salt.payload.dumps(data))
    os.replace(f"{path}.part", path)
    return path


def _remove_mark(path):
    with contextlib.suppress(OSError):
        os.unlink(path)
