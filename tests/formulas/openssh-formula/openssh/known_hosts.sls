{%- from 'openssh/map.jinja' import openssh with context -%}
{%- for host, settings in openssh.known_hosts.items() %}
{{ host }}:
  ssh_known_hosts:
    - present
    - user: root
  {%- for key, value in (settings or {'hash_known_hosts': False}) | dictsort %}
    - {{ key }}: {{ value }}
  {%- endfor %}
{%- endfor %}
