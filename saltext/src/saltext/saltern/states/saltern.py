"""Install saltern on a minion, and apply state files with it from within a state run of Salt.

.. code-block:: yaml

    saltern:
      saltern.installed:
        - name: /opt/saltern
        - version: 0.1.0
        - wheels: salt://saltern/wheels     # offline; without it, from the package index

    web:
      saltern.applied:
        - require: [{saltern: saltern}]
"""

import os

import salt.utils.path

OLDEST = (3, 11)
INTERPRETERS = ("python3.13", "python3.12", "python3.11", "python3")


def __virtual__():
    return "saltern"


def installed(name="/opt/saltern", version=None, wheels=None, python=None):
    """
    Install saltern in its own environment.

    name
        The directory of the environment. It is never Salt's own.
    version
        The version to install. Without it, any version is accepted.
    wheels
        A directory of the master with the wheels of saltern and its dependencies; no index is used.
    python
        The interpreter for the environment, 3.11 or later. Without it, the newest that is found.
    """
    ret = {"name": name, "result": True, "changes": {}, "comment": ""}
    before = _version(name)
    if before and version in (None, before):
        return {**ret, "comment": f"saltern {before} is installed"}
    if __opts__["test"]:
        comment = f"saltern {version or ''} would be installed".replace("  ", " ")
        return {
            **ret,
            "result": None,
            "comment": comment,
            "changes": {"saltern": {"old": before, "new": version}},
        }
    problem = _make_environment(name, python) or _install(name, version, wheels)
    if problem:
        return {**ret, "result": False, "comment": problem}
    after = _version(name)
    __salt__["saltutil.refresh_grains"]()
    return {
        **ret,
        "comment": f"saltern {after} was installed",
        "changes": {"saltern": {"old": before, "new": after}},
    }


def applied(name, sls=None, **kwargs):
    """
    Apply state files with saltern; each of their states has its own result.

    name
        The name of the state file; ``sls`` is a list of several. Other arguments: as for ``saltern.apply``.
    """
    ret = {"name": name, "result": True, "changes": {}, "comment": "", "sub_state_run": []}
    given = {key: value for key, value in kwargs.items() if not key.startswith("_")}
    found = __salt__["saltern.apply"](sls or name, test=__opts__["test"], concurrent=True, **given)
    if isinstance(found, list):
        return {**ret, "result": False, "comment": "\n".join(found)}
    results = {state["result"] for state in found.values()}
    ret["result"] = False if False in results else None if None in results else True
    changed = sum(bool(state["changes"]) for state in found.values())
    ret["changes"] = {"states": changed} if changed else {}
    ret["comment"] = f"{len(found)} state{'' if len(found) == 1 else 's'}, {changed} changed"
    ret["sub_state_run"] = [_sub_state(tag, state) for tag, state in found.items()]
    return ret


def _sub_state(tag, state):
    kind, id_, _, function = tag.split("_|-")
    low = {"state": kind, "fun": function, "__id__": id_, "name": state["name"]}
    return {**state, "low": low, "duration": state.get("duration", 0)}


def _version(place):
    program = os.path.join(place, "bin", "saltern")
    if not os.path.exists(program):
        return None
    done = _run([program, "--version"])
    return done["stdout"].split()[-1] if done["retcode"] == 0 and done["stdout"] else None


def _make_environment(place, python):
    """Make the environment if there is none; return what is wrong."""
    if os.path.exists(os.path.join(place, "bin", "python")):
        return ""
    for interpreter in [python] if python else INTERPRETERS:
        path = salt.utils.path.which(interpreter)
        test = f"import sys, venv, ensurepip; sys.exit(sys.version_info < {OLDEST})"
        if path and _run([path, "-c", test])["retcode"] == 0:
            done = _run([path, "-m", "venv", place])
            return "" if done["retcode"] == 0 else f"the environment cannot be made: {_last_line(done)}"
    wanted = python or "python3"
    return f"saltern needs Python 3.11 or later with venv; {wanted} is missing or too old: set python"


def _install(place, version, wheels):
    """Install saltern into the environment; return what is wrong."""
    words = [os.path.join(place, "bin", "python"), "-m", "pip", "install", "--disable-pip-version-check"]
    if wheels:
        cached = __salt__["cp.cache_dir"](wheels)
        if not cached:
            return f"the master has no directory {wheels}"
        words += ["--no-index", "--find-links", os.path.dirname(cached[0])]
    done = _run([*words, f"saltern=={version}" if version else "saltern"])
    return "" if done["retcode"] == 0 else f"saltern cannot be installed: {_last_line(done)}"


def _last_line(done):
    lines = (done["stderr"] or done["stdout"]).strip().splitlines()
    return lines[-1] if lines else f"exit code {done['retcode']}"


def _run(command):
    return __salt__["cmd.run_all"](command, python_shell=False, ignore_retcode=True, output_loglevel="debug")
