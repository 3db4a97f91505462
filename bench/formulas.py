"""A site as people have them, of any size: formulas of ten state files each, with a map, macros, templates,
a pillar and a top file. Salt can compile all of it; ``delayed`` adds what only saltern knows.
"""

from __future__ import annotations

import os

PARTS = 10  # state files of a formula
TIERS = ("web", "db", "job")

DEFAULTS = """\
package: {name}
service: {name}
root: /srv/{name}
group: adm
workers: 2
"""

MAP = """\
{{% import_yaml '{name}/defaults.yaml' as defaults %}}
{{% set by_family = salt['grains.filter_by']({{
    'Debian': {{}},
    'RedHat': {{'package': '{name}-server', 'service': '{name}d', 'root': '/opt/{name}', 'group': 'wheel'}},
}}, merge=salt['pillar.get']('{name}', {{}}), default='Debian') %}}
{{% do defaults.update(by_family or {{}}) %}}
{{% set config = defaults %}}
"""

MACROS = """\
{% macro account(prefix, name, shell='/bin/bash', groups=()) -%}
{{ prefix }}-user-{{ name }}:
  user.present:
    - name: {{ name | tojson }}
    - shell: {{ shell | tojson }}
{%- if groups %}
    - groups: {{ groups | tojson }}
{%- endif %}
{%- endmacro %}

{% macro limits(prefix, name, soft, hard) -%}
{{ prefix }}-limits-{{ name }}:
  file.managed:
    - name: /etc/security/limits.d/{{ name }}.conf
    - mode: '0644'
    - contents:
      - {{ name }} soft nofile {{ soft }}
      - {{ name }} hard nofile {{ hard }}
{%- endmacro %}
"""

TEMPLATE = """\
# {{ name }} is written by the configuration management
listen = {{ port }}
{% for worker in range(workers) %}worker{{ worker }} = on
{% endfor %}root = {{ root }}
"""

# The file of a formula → its text. {name} is the formula, {before} the one before it, {tier} its tier.
FILES = {
    "init": """\
include:
  - .package
  - .config
  - .service
  - .users
  - .directories
  - .logs
  - .cron
  - .limits
  - .tuning
""",
    "package": """\
{{%- from '{name}/map.jinja' import config with context %}}
{name}-package:
  pkg.installed:
    - name: {{{{ config.package | tojson }}}}
    - refresh: false

{name}-tools:
  pkg.installed:
    - pkgs:
      - {{{{ config.package }}}}-tools
      - curl
{{%- if grains['os_family'] == 'Debian' %}}
      - debconf-utils
{{%- endif %}}
    - require:
      - pkg: {name}-package
""",
    "config": """\
{{%- from '{name}/map.jinja' import config with context %}}
include:
  - {name}.package
  - {name}.directories

{name}-config:
  file.managed:
    - name: /etc/{name}/{name}.conf
    - source: salt://{name}/files/{name}.conf.jinja
    - template: jinja
    - user: root
    - group: {{{{ config.group | tojson }}}}
    - mode: '0640'
    - makedirs: true
    - context:
        port: {{{{ salt['pillar.get']('{name}:port', 8000) + {number} }}}}
        workers: {{{{ grains['num_cpus'] * config.workers }}}}
        root: {{{{ config.root | tojson }}}}
    - require:
      - pkg: {name}-package
      - file: {name}-root

{{%- for app, spec in pillar['apps'].items() if spec.tier == '{tier}' %}}

{name}-app-{{{{ app }}}}:
  file.managed:
    - name: /etc/{name}/apps/{{{{ app }}}}.conf
    - makedirs: true
    - contents: |
        [{{{{ app }}}}]
        aliases = {{{{ spec.aliases | join(' ') }}}}
{{%- endfor %}}
""",
    "service": """\
{{%- from '{name}/map.jinja' import config with context %}}
include:
  - {name}.config

{name}-service:
  service.running:
    - name: {{{{ config.service | tojson }}}}
    - enable: true
    - watch:
      - file: {name}-config
{{%- for app, spec in pillar['apps'].items() if spec.tier == '{tier}' %}}
      - file: {name}-app-{{{{ app }}}}
{{%- endfor %}}

{name}-reload:
  cmd.run:
    - name: systemctl reload {{{{ config.service }}}}
    - onchanges:
      - file: {name}-config
    - require:
      - service: {name}-service
""",
    "users": """\
{{%- from 'macros.jinja' import account with context %}}
{{%- set users = salt['pillar.get']('users', {{}}) %}}
{{%- for name in (users | sort)[{slice}::10] %}}
{{{{ account('{name}', name, users[name].get('shell', '/bin/bash'), users[name].groups) }}}}
{{%- endfor %}}

{name}-users-done:
  test.nop:
    - require:
{{%- for name in (users | sort)[{slice}::10] %}}
      - user: {name}-user-{{{{ name }}}}
{{%- endfor %}}
""",
    "directories": """\
{{%- from '{name}/map.jinja' import config with context %}}
{name}-root:
  file.directory:
    - name: {{{{ config.root | tojson }}}}
    - user: root
    - mode: '0755'

{name}-data:
  file.directory:
    - names:
      - {{{{ config.root }}}}/data
      - {{{{ config.root }}}}/cache
      - {{{{ config.root }}}}/run
    - makedirs: true
    - require:
      - file: {name}-root

{name}-link:
  file.symlink:
    - name: /var/lib/{name}
    - target: {{{{ config.root }}}}/data
    - require:
      - file: {name}-data
""",
    "logs": """\
{{%- set keep = salt['pillar.get']('logs:keep', 14) %}}
{name}-logrotate:
  file.managed:
    - name: /etc/logrotate.d/{name}
    - mode: '0644'
    - contents: |
        /var/log/{name}/*.log {{
          rotate {{{{ keep }}}}
          daily
          compress
        }}

{{%- if keep > 30 %}}

{name}-archive:
  file.directory:
    - name: /var/log/{name}/archive
{{%- endif %}}
""",
    "cron": """\
{name}-backup:
  cron.present:
    - name: /usr/local/bin/backup {name}
    - user: root
    - minute: '{minute}'
    - hour: '3'

{name}-cleanup:
  cron.present:
    - name: find /srv/{name}/cache -mtime +7 -delete
    - minute: random
    - require:
      - cron: {name}-backup
""",
    "limits": """\
{{%- from 'macros.jinja' import limits with context %}}
{{{{ limits('{name}', '{name}', {number} + 1024, {number} * 2 + 4096) }}}}

{{%- for key, value in pillar.get('sysctl', {{}}).items() %}}

{name}-{{{{ key }}}}:
  sysctl.present:
    - name: {{{{ key }}}}
    - value: {{{{ value | tojson }}}}
{{%- endfor %}}
""",
    "tuning": """\
include:
  - {name}.config
  - {name}.service
{before}
extend:
  {name}-config:
    file:
      - backup: minion
  {name}-service:
    service:
      - require:
        - pkg: {name}-package

{name}-tuned:
  test.nop:
    - require:
      - sls: {name}.config
""",
}

DELAYED = """
#!delayed_block {name}-after
{name}-address:
  file.append:
    - name: /etc/{name}/address
    - text: {{{{ prev_ret.data.get('stdout', '') | tojson }}}}
#!end_delayed_block {name}-after

{name}-ask:
  cmd.run:
    - name: hostname -I
    - onchanges:
      - test: {name}-tuned
    - delayed_render:
      - block: {name}-after
"""


def write(states: str, pillar: str, files: int, *, delayed: bool = False) -> None:
    """``files`` state files below ``states``, their data below ``pillar``; every machine gets all of them."""
    count = files // PARTS
    names = [f"app{number:03d}" for number in range(count)]
    for number, name in enumerate(names):
        _formula(states, number, names, delayed=delayed)
        _file(f"{states}/{name}/map.jinja", MAP.format(name=name))
        _file(f"{states}/{name}/defaults.yaml", DEFAULTS.format(name=name))
        _file(f"{states}/{name}/files/{name}.conf.jinja", TEMPLATE)
    _file(f"{states}/macros.jinja", MACROS)
    _file(f"{states}/top.sls", "base:\n  '*':\n" + "".join(f"    - {name}\n" for name in names))
    _pillar(pillar, names)


def _formula(states: str, number: int, names: list[str], *, delayed: bool) -> None:
    name = names[number]
    values = {
        "name": name,
        "number": number,
        "before": f"  - {names[number - 1]}.package" if number else "",
        "tier": TIERS[number % 3],
        "slice": number % 10,
        "minute": number % 60,
    }
    for part, text in FILES.items():
        more = DELAYED if delayed and part == "tuning" else ""
        _file(f"{states}/{name}/{part}.sls", (text + more).format_map(values))


def _pillar(pillar: str, names: list[str]) -> None:
    users = "".join(f"  user{at:02d}:\n    groups: [adm, g{at % 7}]\n" for at in range(40))
    apps = "".join(f"  shop{at}:\n    tier: {TIERS[at % 3]}\n    aliases: [www, a{at}]\n" for at in range(9))
    own = "".join(f"{name}:\n  port: {9000 + at}\n" for at, name in enumerate(names) if at % 2)
    _file(f"{pillar}/users.sls", f"users:\n{users}")
    _file(f"{pillar}/site.sls", f"apps:\n{apps}logs:\n  keep: 21\nsysctl:\n  vm.swappiness: 10\n{own}")
    _file(f"{pillar}/top.sls", "base:\n  '*':\n    - users\n    - site\n")


def _file(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
