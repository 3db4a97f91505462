# A small service: a directory, its configuration, and something that restarts when that changes.
{%- set root = pillar['target'] ~ '/app' %}

app-directory:
  file.directory:
    - name: {{ root }}
    - makedirs: true

app-config:
  file.managed:
    - name: {{ root }}/app.conf
    - source: salt://app/files/app.conf.jinja
    - template: jinja
    - context:
        port: {{ pillar.get('port', 8080) }}
    - require:
      - file: app-directory

{%- for user in ['ada', 'grace'] %}

home-of-{{ user }}:
  file.directory:
    - name: {{ root }}/home/{{ user }}
    - makedirs: true
    - mode: '0750'
{%- endfor %}

app-restart:
  cmd.wait:
    - name: echo restarted >> restarts.log
    - cwd: {{ root }}
    - watch:
      - file: app-config
