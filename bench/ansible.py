"""What saltern adds to Ansible: a playbook of many tasks, run by itself and through a state.

``python bench/ansible.py [--tasks 1000] [--rounds 3]``. Two figures, both held against the goal:

- *Side by side*: both run in turns; the median of the paired ratios of CPU time. It has all there is, and
  is noisy: on a busy machine one run of a playbook differs from the next by more than what is looked for.
- *By parts*: in one run, the CPU time of saltern's own process and of its callback inside of Ansible, as a
  share of the rest. It is steady, and leaves out what the two do to each other: wake-ups, caches, pipes.

The delay is from the moment that Ansible's own line is in the log to the moment that saltern's line for the
same result can be read.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from statistics import median

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PREPARED = os.path.join(ROOT, "build", "engines", "bin")
MOST = 0.05  # of Ansible's own time
LATEST = 1.0  # seconds

PLAY = "- hosts: localhost\n  connection: local\n  gather_facts: false\n  tasks:\n"


def playbook(place: str, tasks: int) -> str:
    path = os.path.join(place, "play.yml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(PLAY)
        file.writelines(f"    - {{name: task {n}, debug: {{msg: x}}}}\n" for n in range(tasks))
    return path


def used(argv: list[str], env: dict[str, str]) -> tuple[float, float]:
    """CPU and wall time, of the program and all its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    subprocess.run(argv, env=env, stdout=subprocess.DEVNULL, check=True)
    wall = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def state(place: str, play: str) -> list[str]:
    sls = os.path.join(place, "states")
    os.makedirs(sls, exist_ok=True)
    with open(os.path.join(sls, "it.sls"), "w", encoding="utf-8") as file:
        json.dump({"it": {"ansible.playbooks": [{"name": play}, {"diff": False}]}}, file)
    return [sys.executable, "-m", "saltern", "apply", "it", "--file-root", sls]


TIMER = """
import functools, time
SPENT = [0.0]

class CallbackModule(Inner):
    pass

def timed(name):
    inner = getattr(Inner, name)

    @functools.wraps(inner)
    def method(self, *args, **kwargs):
        begin = time.thread_time()
        inner(self, *args, **kwargs)
        SPENT[0] += time.thread_time() - begin
        if name == "v2_playbook_on_stats":
            with open({result!r}, "w") as file:
                file.write(str(SPENT[0]))

    return method

for name in [name for name in vars(Inner) if name.startswith("v2_")]:
    setattr(CallbackModule, name, timed(name))
"""
OWN = """
import resource, sys
from saltern.cli.main import run
import saltern.modules.lib.engines.ansible.run as driver
driver.__file__ = {fake!r}
code = run(sys.argv[1:])
own, rest = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
with open({result!r}, "w") as file:
    file.write(f"{{own.ru_utime + own.ru_stime}} {{rest.ru_utime + rest.ru_stime}}")
sys.exit(code)
"""
PLUGIN = os.path.join(ROOT, "src", "saltern", "modules", "engines", "ansible", "plugin", "saltern_steps.py")


def parts(place: str, play: str, env: dict[str, str]) -> tuple[float, float, float]:
    """CPU time of one run: of our process, of our callback, and of the rest of Ansible."""
    fake = os.path.join(place, "driver", "run.py")
    spent, own = os.path.join(place, "spent"), os.path.join(place, "own")
    os.makedirs(os.path.join(place, "driver", "plugin"), exist_ok=True)
    with open(PLUGIN, encoding="utf-8") as file:
        text = file.read().replace("class CallbackModule(", "class Inner(")
    with open(os.path.join(place, "driver", "plugin", "saltern_steps.py"), "w", encoding="utf-8") as file:
        file.write(text + TIMER.replace("{result!r}", repr(spent)))
    code = OWN.format(fake=fake, result=own)
    argv = [sys.executable, "-c", code, *state(place, play)[3:]]
    subprocess.run(argv, env=env, stdout=subprocess.DEVNULL, check=True)
    with open(spent, encoding="utf-8") as file:
        callback = float(file.read())
    with open(own, encoding="utf-8") as file:
        ours, ansible = map(float, file.read().split())
    return ours, callback, ansible - callback


def delay(place: str, env: dict[str, str]) -> float:
    """From Ansible's line in its log to our line, of the first of two tasks; the second one sleeps."""
    play = os.path.join(place, "slow.yml")
    with open(play, "w", encoding="utf-8") as file:
        file.write(PLAY + "    - {name: first, debug: {msg: x}}\n    - {name: slow, pause: {seconds: 3}}\n")
    logs = os.path.join(env["SALTERN_CACHEDIR"], "engines", "ansible")
    shutil.rmtree(logs, ignore_errors=True)
    child = subprocess.Popen([*state(place, play), "--out", "jsonl"], env=env, stdout=subprocess.PIPE)
    assert child.stdout is not None
    os.set_blocking(child.stdout.fileno(), False)
    printed = shown = 0.0
    heard = b""
    while child.poll() is None and not (printed and shown):
        heard += child.stdout.read() or b""
        if not shown and b"localhost: first" in heard:
            shown = time.monotonic()
        if not printed and _printed(logs):
            printed = time.monotonic()
        time.sleep(0.001)
    os.set_blocking(child.stdout.fileno(), True)
    child.communicate()
    return shown - printed


def _printed(logs: str) -> bool:
    names = os.listdir(logs) if os.path.isdir(logs) else []
    for name in names:
        with open(os.path.join(logs, name), "rb") as file:
            if b"ok: [localhost]" in file.read():
                return True
    return False


def main() -> int:
    options = argparse.ArgumentParser(description="What saltern adds to Ansible.")
    options.add_argument("--tasks", type=int, default=1000)
    options.add_argument("--rounds", type=int, default=3)
    args = options.parse_args()
    path = f"{PREPARED}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    program = shutil.which("ansible-playbook", path=path)
    if program is None:
        print("ansible-playbook is not here: make engines")
        return 0
    place = tempfile.mkdtemp(prefix="saltern-bench-")
    env = {
        **os.environ,
        "PATH": path,
        "SALTERN_CACHEDIR": os.path.join(place, "cache"),
        "SALTERN_STATE_DIR": os.path.join(place, "state"),
        "ANSIBLE_NOCOLOR": "1",
    }
    try:
        play = playbook(place, args.tasks)
        alone: list[tuple[float, float]] = []
        ours: list[tuple[float, float]] = []
        for _ in range(args.rounds):
            alone.append(used([program, play], env))
            ours.append(used(state(place, play), env))
        shares = [parts(place, play, env) for _ in range(args.rounds)]
        late = delay(place, env)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    beside = told("CPU", [one[0] for one in alone], [one[0] for one in ours])
    told("wall", [one[1] for one in alone], [one[1] for one in ours])
    for own, callback, rest in shares:
        print(f"parts: saltern {own:.2f} s, callback {callback:.2f} s, rest of ansible {rest:.2f} s")
    share = median((own + callback) / rest for own, callback, rest in shares)
    print(f"side by side {beside:+.1%}, at most {MOST:+.0%}: {'ok' if beside <= MOST else 'MISSED'}")
    print(f"by parts {share:+.1%}, at most {MOST:+.0%}: {'ok' if share <= MOST else 'MISSED'}")
    print(
        f"delay {late * 1000:.0f} ms, at most {LATEST * 1000:.0f} ms: {'ok' if late <= LATEST else 'MISSED'}"
    )
    return 1 if max(share, beside) > MOST or late > LATEST else 0


def told(what: str, alone: list[float], ours: list[float]) -> float:
    pairs = list(zip(alone, ours, strict=True))
    rounds = ", ".join(f"{one:.2f}→{other:.2f}" for one, other in pairs)
    paired = median(other / one - 1 for one, other in pairs)
    print(
        f"{what:<5} {rounds} s: median of pairs {paired:+.1%}, of the least {min(ours) / min(alone) - 1:+.1%}"
    )
    return paired


if __name__ == "__main__":
    raise SystemExit(main())
