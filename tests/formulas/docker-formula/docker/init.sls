{%- set tplroot = tpldir.split('/')[0] %}
{%- from tplroot ~ '/map.jinja' import docker with context %}
{%- if not docker.wanted %}
docker-nothing-to-do:
  test.show_notification:
    - text: |
        No part of docker is wanted on {{ grains.get('osfinger', grains.os) }}.
{%- else %}
include: {{ docker.wanted | map('regex_replace', '^', tplroot ~ '.') | map('regex_replace', 'compose$', 'compose.up') | list }}
{%- endif %}
