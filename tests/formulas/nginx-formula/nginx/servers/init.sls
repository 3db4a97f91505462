{%- set tplroot = tpldir.split('/')[0] %}
{%- from tplroot ~ '/map.jinja' import nginx with context %}
{%- from tplroot ~ '/servers/macros.jinja' import place, marker with context %}
{%- set apart = nginx.servers.available != nginx.servers.enabled %}

include:
  - nginx.config.file

nginx-servers-directories:
  file.directory:
    - names:
      - {{ nginx.servers.available }}
      {%- if apart %}
      - {{ nginx.servers.enabled }}:
        - clean: true
        - exclude_pat: '*.local'
      {%- endif %}
    - makedirs: true
    - require:
      - file: nginx-config-file-managed

{%- for name, server in nginx.servers.managed.items() %}
{%-   set enabled = server.get('enabled', true) | to_bool %}
{{ place(nginx, name, enabled=enabled) }}
{%-   if apart and enabled %}
{{ marker('symlink', name) }}:
  file.symlink:
    - name: {{ nginx.servers.enabled }}/{{ name }}
    - target: {{ nginx.servers.available }}/{{ name }}
    - require:
      - file: {{ marker('file', name) }}
    - require_in:
      - file: nginx-servers-directories
    - watch_in:
      - service: nginx-service-running
{%-   elif apart %}
{{ marker('symlink', name) }}:
  file.absent:
    - name: {{ nginx.servers.enabled }}/{{ name }}
    - watch_in:
      - service: nginx-service-running
{%-   endif %}
{%- endfor %}
