"""``salt``: other systems, runners and events, from an orchestration file. See ``saltern orchestrate``.

``LAZY`` says which submodule has which function; none is imported before it is called.

.. code-block:: yaml

    databases:
      salt.state:
        - tgt: 'role:database'
        - tgt_type: grain
        - highstate: True

    web servers:
      salt.state:
        - tgt: 'web*'
        - sls: [nginx, shop]
        - batch: 25%
        - require:
          - salt: databases
"""

from __future__ import annotations

from saltern.language.nature import Nature

# A call keeps its name: a call that was made before the run was interrupted is found again.
NATURE = Nature(repeat="safe", runs_commands=True)

LAZY: dict[str, str] = {
    "function": "function",
    "parallel_runners": "parallel_runners",
    "runner": "runner",
    "state": "state",
    "wait_for_event": "wait_for_event",
    "wheel": "runner",
}
