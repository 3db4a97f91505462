"""saltern on the minions of this master: its runs in the job cache, and action chains over all of them.

``saltern chain run --via salt`` uses the functions ``chain_*``: one job starts the chain on all
minions, and progress is read from the event bus of the master. Each minion keeps a journal of its part, so
the master may be restarted at any moment; ``chain_status`` reads the job cache.
"""

import fnmatch
import json
import time

import salt.client
import salt.exceptions
import salt.utils.event
import salt.utils.minions

STATE_RUNS = ("saltern.apply", "saltern.resume")
CHAIN_JOBS = "saltern.chain_*"
START = "saltern.chain_start"
OVER = ("succeeded", "succeeded with skips", "failed", "cancelled", "expired", "indeterminate", "damaged")
WAITS = ("paused", "waiting")
STEP = 5  # seconds without an event after which deadlines are checked
SILENCE = 20  # seconds after which a minion that has sent nothing about the chain is asked
LOOK = 60  # the same for a minion that has begun; `saltern: {look: SECONDS}` in the master's configuration
LONGEST = 900  # seconds between two questions to the same minion


# -- the job cache -----------------------------------------------------------------------------------------


def runs(limit=20):
    """
    The newest jobs of saltern in the job cache: the request, and how many states changed or failed.

    CLI Example:

    .. code-block:: bash

        salt-run saltern.runs
    """
    found = []
    for jid, job in sorted(_jobs("saltern.*").items(), reverse=True)[: int(limit)]:
        minions = {id_: _counts(one) for id_, one in _returns(jid).items()}
        asked = {"function": job["Function"], "arguments": _shown(job), "target": job["Target"]}
        found.append({"jid": jid, **asked, "started": job["StartTime"], "minions": minions})
    return found


def show(jid):
    """
    What a job of saltern did on each minion: counts, and each state that failed with its comment.

    CLI Example:

    .. code-block:: bash

        salt-run saltern.show 20261116174100123456
    """
    return {
        id_: {**_counts(one), "failures": _failures(one)} for id_, one in sorted(_returns(str(jid)).items())
    }


def _jobs(pattern):
    """The jobs in the job cache whose function matches."""
    found = __salt__["jobs.list_jobs"](search_function=pattern) or {}
    return {jid: job for jid, job in found.items() if fnmatch.fnmatch(job.get("Function", ""), pattern)}


def _returns(jid):
    """What each minion returned for a job."""
    return {
        id_: one.get("return") for id_, one in (__salt__["jobs.list_job"](jid).get("Result") or {}).items()
    }


def _shown(job):
    """The arguments of a job; the text of a chain is left out."""
    words = [one for one in job.get("Arguments") or () if not isinstance(one, dict)]
    return [*words, *(f"{key}={value}" for key, value in _keywords(job).items() if key != "text")]


def _keywords(job):
    """The arguments of a job that have a name."""
    given = [one for one in job.get("Arguments") or () if isinstance(one, dict)]
    return {key: value for one in given for key, value in one.items() if key != "__kwarg__"}


def _is_state_run(returned):
    return isinstance(returned, dict) and all(
        isinstance(one, dict) and "result" in one and "changes" in one for one in returned.values()
    )


def _counts(returned):
    """How many states there were, changed something and failed; for other returns, the return itself."""
    if not _is_state_run(returned):
        status = returned.get("status") if isinstance(returned, dict) else None
        return {"status": status} if status else {"returned": returned}
    states = list(returned.values())
    return {
        "states": len(states),
        "changed": sum(bool(one["changes"]) for one in states),
        "failed": sum(one["result"] is False for one in states),
    }


def _failures(returned):
    found = returned.items() if _is_state_run(returned) else ()
    return {tag: one.get("comment", "") for tag, one in found if one["result"] is False}


# -- chains ------------------------------------------------------------------------------------------------


def minions(target, tgt_type="compound"):
    """
    The minions with accepted keys that a target matches.

    CLI Example:

    .. code-block:: bash

        salt-run saltern.minions 'web* and G@os:Debian'
    """
    return sorted(salt.utils.minions.CkMinions(__opts__).check_minions(target, tgt_type)["minions"])


def chain_run(order):
    """
    Start an action chain on minions with one job, and print its progress as lines of JSON until it ends.

    order: a file with ``run``, ``text``, ``inputs``, ``systems`` and ``wait`` (seconds; 0 for no limit).

    CLI Example:

    .. code-block:: bash

        salt-run saltern.chain_run /tmp/order.json
    """
    with open(order, encoding="utf-8") as file:
        asked = json.load(file)
    given = {name: asked[name] for name in ("run", "text", "inputs")}
    return _followed(given, asked["systems"], asked["wait"])


def chain_resume(run, systems=None, wait=0):
    """
    Start a chain again on minions that have not ended it or that wait; finished actions are not repeated.

    CLI Example:

    .. code-block:: bash

        salt-run saltern.chain_resume salt-20261116174100123456
    """
    given = {**_keywords(_first_job(run)), "paused": True}
    return _followed(given, systems or list(chain_status(run)), wait)


def chain_status(run, ask=False):
    """
    The result of a chain on each minion, from the job cache; ``ask``: ask those that have not ended it.

    CLI Example:

    .. code-block:: bash

        salt-run saltern.chain_status salt-20261116174100123456 ask=True
    """
    return chain_show(run, ask)["legs"]


def chain_show(run, ask=False):
    """
    A chain that was started on this master: its text, its inputs, and its result on each minion.

    CLI Example:

    .. code-block:: bash

        salt-run saltern.chain_show salt-20261116174100123456
    """
    first = _first_job(run)
    legs = dict.fromkeys(_listed(first.get("Target")))
    for jid, job in sorted(_jobs(CHAIN_JOBS).items()):
        for id_, returned in _returns(jid).items() if _is_about(job, run) else ():
            legs[id_] = _leg(returned, run) or legs.get(id_)
    left = [id_ for id_, leg in legs.items() if not leg or leg["status"] not in OVER]
    if ask and left:
        client = salt.client.LocalClient(mopts=dict(__opts__))
        answers = client.cmd(left, "saltern.chain_status", [run], tgt_type="list", timeout=15)
        legs.update({id_: leg for id_, leg in answers.items() if _leg(leg, run)})
    asked = _keywords(first)
    return {"text": asked["text"], "inputs": asked.get("inputs") or {}, "legs": legs}


def chain_order(run, function, systems=None, **kwargs):
    """
    Give an order about a chain to its minions: ``function`` is a function of the module ``saltern``.

    CLI Example:

    .. code-block:: bash

        salt-run saltern.chain_order salt-20261116174100123456 chain_cancel reason='wrong window'
    """
    wanted = systems or list(chain_status(run))
    given = {key: value for key, value in kwargs.items() if not key.startswith("__")}
    client = salt.client.LocalClient(mopts=dict(__opts__))
    return client.cmd(wanted, f"saltern.{function}", kwarg={"run": run, **given}, tgt_type="list", timeout=60)


def chains(limit=20):
    """
    The newest chains that were started on this master, with their minions.

    CLI Example:

    .. code-block:: bash

        salt-run saltern.chains
    """
    found = []
    for _, job in sorted(_jobs(START).items(), reverse=True):
        name = _keywords(job).get("run")
        if name and name not in [one["run"] for one in found]:
            found.append({"run": name, "started": job["StartTime"], "systems": _listed(job["Target"])})
    return found[: int(limit)]


def _listed(target):
    return list(target) if isinstance(target, (list, tuple)) else str(target or "").split(",")


def _is_about(job, run):
    return _keywords(job).get("run") == run or job["Function"] == "saltern.chain_continue"


def _leg(returned, run):
    """The leg of a run in the return of a minion; None if there is none."""
    if isinstance(returned, dict) and isinstance(returned.get(run), dict):
        returned = returned[run]
    is_leg = isinstance(returned, dict) and "steps" in returned and returned.get("token") == run
    return returned if is_leg else None


def _first_job(run):
    for jid, job in sorted(_jobs(START).items()):
        if _keywords(job).get("run") == run:
            return __salt__["jobs.list_job"](jid)
    raise salt.exceptions.SaltInvocationError(f"the job cache of this master has no chain {run}")


# -- the event bus -----------------------------------------------------------------------------------------


def _followed(given, systems, wait):
    """Start the chain and print its progress; True if it is over on all minions."""
    run = given["run"]
    with salt.utils.event.get_event("master", opts=__opts__, listen=True) as bus:
        for tag in (f"saltern/chain/{run}/", "salt/job/", "salt/minion/"):
            bus.subscribe(tag)
        job = _start(given, systems)
        _say("started", jid=job.get("jid"), systems=list(systems), there=job.get("minions") or [])
        patience = float((__opts__.get("saltern") or {}).get("look") or LOOK)
        watch = _Watch(run, systems, [job.get("jid")], lambda ids: _start(given, ids).get("jid"), patience)
        end = time.monotonic() + float(wait) if float(wait or 0) else None
        while watch.open and not (end and time.monotonic() > end):
            event = bus.get_event(wait=min(STEP, patience), full=True, auto_reconnect=True)
            for line in watch.lines(event) if event else ():
                _say(**line)
            if (asked := watch.overdue(time.monotonic())) and not _look(watch, asked):
                break
    return not watch.open


def _look(watch, asked):
    """Ask minions that have been silent for a while; False if no minion is left that may still answer.

    A minion whose start was not seen, or that did not get the job, is started again.
    """
    client = salt.client.LocalClient(mopts=dict(__opts__))
    there = client.cmd(sorted(asked), "saltern.chain_status", [watch.run], tgt_type="list", timeout=15)
    _say("away", systems=sorted(asked - set(there)), asked=sorted(asked))
    for line in watch.learn(there):
        _say(**line)
    idle = [id_ for id_, one in sorted(there.items()) if watch.is_idle(id_, one)]
    jobs = client.cmd(idle, "saltutil.is_running", [CHAIN_JOBS], tgt_type="list", timeout=15) if idle else {}
    idle = [id_ for id_ in idle if jobs.get(id_) == []]
    for line in watch.begin_again(idle, "asked-again"):
        _say(**line)
    watch.note_question(asked, time.monotonic())
    return there or asked != watch.open or not asked <= watch.silent


def _start(given, systems):
    """Start one job for all minions. The run has a name: a minion that gets it twice runs it once."""
    client = salt.client.LocalClient(mopts=dict(__opts__))
    return client.run_job(list(systems), START, kwarg=given, tgt_type="list", listen=False, timeout=30)


class _Watch:
    """What the events of the bus report about a chain."""

    def __init__(self, run, systems, jids, again, patience):
        self.run, self._jids, self._again, self._patience = run, jids, again, patience
        self.open = set(systems)
        self.silent = set(systems)  # those that have sent nothing about the chain yet
        self._heard = dict.fromkeys(systems, time.monotonic())
        self._waits = {}  # seconds until each is asked again

    def overdue(self, now):
        """The minions to ask now. One that has begun may work for hours: it is asked at growing intervals."""
        return {id_ for id_ in self.open if now > self._heard[id_] + self._wait(id_)}

    def note_question(self, systems, now):
        for id_ in systems:
            self._waits[id_] = min(LONGEST, 2 * self._wait(id_))
            self._heard[id_] = now

    def learn(self, answers):
        """Process the answers of minions; events may have been lost, for example by a restart of the
        master.
        """
        for id_, returned in sorted(answers.items()):
            leg = _leg(returned, self.run)
            if leg is not None:
                yield from self._ended(id_, leg)

    def _wait(self, id_):
        return min(SILENCE, self._patience) if id_ in self.silent else self._waits.get(id_, self._patience)

    def is_idle(self, id_, returned):
        """True if a minion that was asked must be started again, unless a job runs there."""
        leg = _leg(returned, self.run) or {}
        return id_ in self.open and not leg.get("at_work") and leg.get("status") not in (*OVER, *WAITS)

    def begin_again(self, systems, event):
        """Start the chain again on minions that do not run it, and report why."""
        if systems:
            self._jids.append(self._again(systems))
        for id_ in systems:
            yield {"event": event, "system": id_}

    def _hear(self, system):
        self.silent.discard(system)
        self._heard[system] = time.monotonic()
        self._waits.pop(system, None)

    def lines(self, event):
        """The rows that an event adds to the output of the chain."""
        tag, data = event["tag"], event["data"]
        parts = tag.split("/")
        if tag.startswith(f"saltern/chain/{self.run}/"):
            yield from self._happened(parts[-1], data.get("data") or {})
        elif fnmatch.fnmatch(tag, "salt/job/*/ret/*") and parts[-1] in self.open:
            yield from self._returned(parts[-1], parts[2], data)
        elif fnmatch.fnmatch(tag, "salt/minion/*/start") and parts[2] in self.open:
            yield from self.begin_again([parts[2]], "minion-started")

    def _happened(self, system, data):
        """Process what a minion has sent. The answer of a minion may contain more than what is read here."""
        if system not in self.open:
            return
        self._hear(system)
        if data.get("leg"):
            yield from self._ended(system, data["leg"])
        elif data.get("action"):
            yield {**data["action"], "system": system}

    def _returned(self, system, jid, data):
        leg = _leg(data.get("return"), self.run)
        if leg is not None:
            yield from self._ended(system, leg)
        elif jid in self._jids:
            self.open.discard(system)
            yield {"event": "problem", "system": system, "problem": str(data.get("return"))}

    def _ended(self, system, leg):
        if system in self.open:
            self.silent.discard(system)
            if leg["status"] in (*OVER, *WAITS):
                self.open.discard(system)
            yield {"event": "leg", "system": system, "leg": leg}


def _say(event, **values):
    print(json.dumps({"event": event, **values}, default=str), flush=True)
