{%- from 'openssh/map.jinja' import openssh with context %}
openssh:
{%- if openssh.server %}
  pkg.installed:
    - name: {{ openssh.server }}
{%- endif %}
  service.running:
    - name: {{ openssh.service }}
    - enable: true
{%- if openssh.server %}
    - require:
      - pkg: {{ openssh.server }}
{%- endif %}
