{%- from './map.jinja' import chrony with context %}
include:
  - .config

{%- set on_metal = grains.virtual == 'physical' or salt['match.compound']('G@roles:gateway') %}
chrony-service:
  service.{{ 'running' if on_metal or grains.virtual != 'container' else 'dead' }}:
    - name: {{ chrony.service }}
    - enable: true
    - watch:
      - file: chrony-config
    {%- if chrony.log is defined %}
    - require:
      - file: chrony-log
    {%- endif %}
{%- if chrony.log is defined %}
chrony-log:
  file.directory:
    - names:
      {%- for kind in chrony.log %}
      - /var/log/chrony/{{ kind }}
      {%- endfor %}
    - makedirs: true
{%- endif %}
