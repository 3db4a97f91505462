{%- from 'web/map.jinja' import root with context %}
include:
  - web.config

# Stands in for service.running: reloads only when one of its files changed.
web-reload:
  cmd.wait:
    - name: echo reloaded >> reloads.log
    - cwd: {{ root }}
    - watch:
      - file: web-config
      - file: web-site-*
