"""Reaction files in the shapes that people keep in their repositories, each with an event that it is for."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Case(Struct, frozen=True):
    """A file, and the event that it reacts to."""

    tag: str
    data: dict[str, Any]
    text: str


CASES: dict[str, Case] = {
    "accept-keys-of-a-kind": Case(
        "salt/auth",
        {"id": "kiosk7", "act": "pend", "result": True, "pub": "x"},
        """
{% if data.get('act') == 'pend' and data['id'].startswith('kiosk') %}
accept_it:
  wheel.key.accept:
    - match: {{ data['id'] }}
{% endif %}
""",
    ),
    "leave-other-keys": Case(
        "salt/auth",
        {"id": "stranger", "act": "pend"},
        "{% if data['id'].startswith('kiosk') %}\na:\n  wheel.key.accept:\n    - match: x\n{% endif %}\n",
    ),
    "forget-keys-that-are-gone": Case(
        "shop/instance/terminated",
        {"data": {"host": "web9"}, "id": "cloud1"},
        "drop:\n  wheel.key.delete:\n    - args:\n      - match: {{ data['data']['host'] }}\n",
    ),
    "highstate-at-start": Case(
        "salt/minion/web1/start",
        {"id": "web1"},
        """
{% set id = data['id'] %}
first_{{ id }}:
  local.state.highstate:
    - tgt: {{ id }}
    - ret: local
""",
    ),
    "old-name-of-local": Case(
        "minion_start",
        {"id": "web1"},
        "sync:\n  cmd.saltutil.sync_all:\n    - tgt: '{{ data['id'] }}'\n    - arg:\n      - base\n",
    ),
    "states-by-arg-and-kwarg": Case(
        "shop/deploy",
        {"id": "ci", "data": {"app": "shop", "version": "7.1"}},
        """
deploy:
  local.state.sls:
    - tgt: 'G@role:web and not web0'
    - tgt_type: compound
    - arg:
      - shop.deploy
    - kwarg:
        pillar:
          app: {{ data['data']['app'] }}
          version: "{{ data['data']['version'] }}"
        queue: true
""",
    ),
    "states-by-args": Case(
        "salt/beacon/web1/inotify//etc/hosts",
        {"id": "web1", "path": "/etc/hosts", "change": "IN_MODIFY"},
        """
revert:
  local.state.apply:
    - tgt: {{ data['id'] }}
    - args:
      - mods: hosts
      - pillar:
          changed: {{ data['path'] }}
""",
    ),
    "restart-what-stopped": Case(
        "salt/beacon/web1/service/nginx",
        {"id": "web1", "service_name": "nginx", "nginx": {"running": False}},
        """
{% set service = data['service_name'] %}
{% if not data[service]['running'] %}
restart_{{ service }}:
  local.service.restart:
    - tgt: {{ data['id'] }}
    - args:
        name: {{ service }}
{% endif %}
""",
    ),
    "one-for-each-that-is-lost": Case(
        "salt/presence/change",
        {"new": ["a1"], "lost": ["b1", "b2"]},
        """
{% for id in data['lost'] %}
note_{{ id }}:
  local.cmd.run:
    - tgt: 'monitor*'
    - arg:
      - echo lost {{ id }}
{% endfor %}
""",
    ),
    "orchestrate-with-pillar": Case(
        "shop/release",
        {"data": {"branch": "main"}, "id": "ci"},
        """
release:
  runner.state.orchestrate:
    - args:
      - mods: orch.release
      - pillar:
          event_tag: {{ tag }}
          event_data: {{ data | json }}
""",
    ),
    "orchestrate-the-old-way": Case(
        "shop/release",
        {"id": "ci"},
        "release:\n  runner.state.orch:\n    - mods: orch.release\n    - pillar: {from: {{ data['id'] }}}\n",
    ),
    "update-files-after-a-push": Case(
        "git/push",
        {"id": "git1", "data": {"ref": "refs/heads/main"}},
        """
{% if data['data']['ref'].split('/')[-1] == 'main' %}
update_fileserver:
  runner.fileserver.update: []
{% endif %}
""",
    ),
    "a-list-of-systems": Case(
        "db/failover",
        {"id": "db1", "data": {"replicas": ["db2", "db3"]}},
        """
promote:
  local.cmd.run:
    - tgt: {{ data['data']['replicas'] | tojson }}
    - tgt_type: list
    - args:
      - cmd: promote
      - runas: postgres
""",
    ),
    "by-grain": Case(
        "cache/flush",
        {"id": "web1"},
        "flush:\n  local.cmd.run:\n    - tgt: 'role:cache'\n    - tgt_type: grain\n    - arg: [flush, 1]\n",
    ),
    "several-functions": Case(
        "salt/minion/db1/start",
        {"id": "db1"},
        """
grains:
  local.saltutil.sync_grains:
    - tgt: {{ data['id'] }}

mine:
  local.mine.update:
    - tgt: '*'

note:
  runner.test.arg:
    - args: {who: {{ data['id'] }}}
""",
    ),
    "a-message-here": Case(
        "disk/full",
        {"id": "db1"},
        "log:\n  caller.test.echo:\n    - args:\n      - text: {{ data['id'] }} is full\n",
    ),
}
