{%- from 'firewall/map.jinja' import firewall with context %}
{%- for key, value in firewall.sysctl.items() %}
sysctl {{ key }}:
  sysctl.present:
    - name: {{ key }}
    - value: {{ value }}
    - order: 1
{%- endfor %}
