"""The files of ``saltern fleet demo``: a tree of states and a pillar, as text."""

from __future__ import annotations

TOP = """\
base:
  '*':
    - base
  'web*':
    - web
  'db*':
    - db
"""
BASE = """\
{% set place = pillar['place'] ~ '/' ~ grains['id'] %}

motd:
  file.managed:
    - name: {{ place }}/motd
    - contents: This is {{ grains['id'] }}, of the fleet {{ pillar['fleet'] }}.
    - makedirs: True

timezone:
  file.managed:
    - name: {{ place }}/timezone
    - contents: {{ pillar['timezone'] }}
    - require: [file: motd]

index the packages:
  cmd.run:
    - name: sleep 0.7; touch {{ place }}/indexed
    - creates: {{ place }}/indexed
"""
WEB = """\
{% set place = pillar['place'] ~ '/' ~ grains['id'] %}

site:
  file.managed:
    - name: {{ place }}/site.conf
    - source: salt://site.conf
    - template: jinja
    - makedirs: True

warm up the cache:
  cmd.run:
    - name: sleep 0.8
    - onchanges: [file: site]
"""
DB = """\
{% set place = pillar['place'] ~ '/' ~ grains['id'] %}

settings:
  file.managed:
    - name: {{ place }}/db.conf
    - contents: max_connections = 100
    - makedirs: True

certificate:
  file.exists:
    - name: {{ place }}/certificate.pem

reload:
  cmd.run:
    - name: 'true'
    - require: [file: certificate]
"""
SITE = """\
server {
    server_name {{ grains['id'] }};
}
"""
PILLAR = """\
fleet: demo
timezone: Europe/Berlin
place: {place}
"""
PILLAR_TOP = "base:\n  '*':\n    - fleet\n"


def files(place: str) -> dict[str, str]:
    """File texts by their path below the demo's directory; ``place`` is where the systems write."""
    return {
        "salt/top.sls": TOP,
        "salt/base.sls": BASE,
        "salt/web.sls": WEB,
        "salt/db.sls": DB,
        "salt/site.conf": SITE,
        "pillar/top.sls": PILLAR_TOP,
        "pillar/fleet.sls": PILLAR.format(place=place),
    }
