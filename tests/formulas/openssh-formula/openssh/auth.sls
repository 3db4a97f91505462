{%- from 'openssh/map.jinja' import openssh with context %}
{%- set defaults = {'enc': 'ed25519', 'options': [], 'state': 'present'} %}
{%- for user, keys in openssh.auth.items() %}
{%-   for key in keys %}
{%-     set key = dict(defaults, **key) %}
{{ user }}-{{ key.name }}:
  ssh_auth.{{ key.state }}:
    - name: {{ key.key }}
    - user: {{ user }}
    - enc: {{ key.enc }}
    - comment: {{ key.name | quote }}
{%-     if key.options %}
    - options: {{ key.options }}
{%-     endif %}
{%-   endfor %}
{%- endfor %}
