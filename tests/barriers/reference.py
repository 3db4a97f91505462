"""A run with three reboots: a state of its own, inside a frame, and by the return of a module."""

from __future__ import annotations

STEP = """
import os

def done(name, **kwargs):
    return _told(name, {})

def then_reboot(name, **kwargs):
    return _told(name, {"reboot": True})

def reboot_between(name, **kwargs):
    boot, mark = open("@/boot").read(), "@/" + name
    if os.path.exists(mark) and open(mark).read() != boot:
        return _told(name + " second", {})
    with open(mark, "w") as file:
        file.write(boot)
    return _told(name + " first", {"reboot": "again"})

def _told(text, more):
    boot = open("@/boot").read()
    with open("@/log", "a") as file:
        file.write(f"{text} in boot {boot}\\n")
    return {"name": text, "result": True, "comment": text, "changes": {text: boot}, **more}
"""

TOP = """
first:
  step.done: []

restart:
  system.reboot:
    - only_on_pending_reboot: false
    - checks:
      - test -f @/boot
    - onlyif: grep -q '^0$' @/boot
    - require:
      - step: first

second:
  step.done:
    - require:
      - system: restart
    - delayed_render:
      - block: later

#!delayed_block later
inside:
  step.then_reboot: []
after inside:
  step.done:
    - require:
      - step: inside
#!end_delayed_block later

third:
  step.done:
    - require:
      - step: second

installer:
  step.reboot_between: []

last:
  step.done:
    - require:
      - step: installer
"""

FILES = {"top.sls": TOP, "_states/step.py": STEP}
WHOLE = [
    "first in boot 0",
    "second in boot 1",
    "inside in boot 1",
    "after inside in boot 2",
    "third in boot 2",
    "installer first in boot 2",
    "installer second in boot 3",
    "last in boot 3",
]
